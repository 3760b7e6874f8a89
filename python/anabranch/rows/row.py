"""What all rows are: attributes, and a mapping from the names of the columns."""

from __future__ import annotations

import functools
import keyword
from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

Cell = str | int | float | bool | None
"""What a field of a CSV file can hold; `None` is an empty one."""

CsvRow = dict[str, Cell]
"""A row of a CSV file that is made here: its columns and their values."""


@functools.cache
def _attributes(kind: type[Row]) -> dict[str, str]:
    """The attribute of each column, in order."""
    # `from` is a word of the language: its attribute is `from_`.
    given = {each.name.removesuffix("_"): each.name for each in fields(kind)}  # type: ignore[arg-type]
    return given | {name: name for name in kind.COMPUTED}


@functools.cache
def _types(kind: type[Row]) -> dict[str, type]:
    found = {}
    computed = {name: get_type_hints(getattr(kind, name).fget)["return"] for name in kind.COMPUTED}
    for column, attribute in _attributes(kind).items():
        hint = computed.get(column) or get_type_hints(kind)[attribute]
        kinds = {each for each in (get_args(hint) or (hint,)) if each is not NoneType}
        if get_origin(hint) is Literal:
            kinds = {type(each) for each in kinds}
        if len(kinds) == 1:
            found[column] = kinds.pop()
    return found


class Row(Mapping[str, Any]):
    """A row of a table, or a group of facts: attributes, and a mapping from their names."""

    __slots__ = ()

    COMPUTED: ClassVar[tuple[str, ...]] = ()
    """Columns that follow from others: properties, the last of the columns."""

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(_attributes(cls))

    @classmethod
    def types(cls) -> dict[str, type]:
        """The type of each column's values, where they are of one; any of them may be `None`."""
        return _types(cls)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The row with these values by column; a `TypeError` for one that the table lacks."""
        given = (key for key in values if key not in cls.COMPUTED)
        return cls(**{f"{key}_" if keyword.iskeyword(key) else key: values[key] for key in given})

    def __getitem__(self, column: str) -> Any:
        return getattr(self, _attributes(type(self))[column])

    def __iter__(self) -> Iterator[str]:
        return iter(_attributes(type(self)))

    def __len__(self) -> int:
        return len(_attributes(type(self)))


def plain(value: Any) -> Any:
    """What `json.dumps` asks for as its `default`: rows as dictionaries, arrays and numbers of
    NumPy as lists and numbers."""
    return dict(value) if isinstance(value, Row) else value.tolist()
