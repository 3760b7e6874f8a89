"""Conditions on rows: `window=cubic,reno`, `loss_percent<=1`, `flow!=web-*`."""

from __future__ import annotations

import fnmatch
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from anabranch import si
from anabranch.errors import InputError
from anabranch.nearest import one_of
from anabranch.plotting.frame import Frame

Where = Mapping[str, Any] | Sequence[str]
"""Conditions as text, or the allowed value or values of each column."""

_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = re.compile(r"\s*([^<>=!]+?)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*")


def keep(frame: Frame, where: Where, option: str = "--where") -> Frame:
    """The rows for which all conditions hold; an `InputError` about that option if there are
    none."""
    for condition in texts(where):
        found = _FORM.fullmatch(condition)
        if found is None:
            allowed = "NAME=VALUE[,VALUE], or !=, <, <=, >, >= in place of ="
            raise InputError.about("plot", option, condition, allowed)
        column, sign, value = frame.checked(found[1], option), found[2], found[3]
        rows = frame.only(frame.data[_mask(frame, (column, sign, value), condition, option)])
        if rows.data.empty:
            raise _refused(frame, column, condition, value, option)
        frame = rows
    return frame


def texts(where: Where) -> list[str]:
    """Conditions as text, of a mapping or as they are."""
    if not isinstance(where, Mapping):
        return [where] if isinstance(where, str) else list(where)
    conditions = []
    for name, value in where.items():
        allowed = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        conditions.append(f"{name}={','.join(_shown(each) for each in allowed)}")
    return conditions


def _mask(frame: Frame, parts: tuple[str, str, str], condition: str, option: str) -> pd.Series[Any]:
    """Which rows meet a condition of column, sign and value."""
    name, sign, value = parts
    column = frame.data[name]
    if sign in _ORDERS:
        numbers, bound = numeric(column), _number(value)
        if numbers is None or bound is None:
            raise InputError.about("plot", option, condition, "a comparison of numbers")
        return pd.Series(_ORDERS[sign](numbers, bound), index=column.index)
    # A value may have a comma of its own, as `2 Mbit/s, no loss` has.
    wanted = [value] if value in {_shown(each) for each in column.unique()} else value.split(",")
    matches = pd.Series(False, index=column.index)
    for each in map(str.strip, wanted):
        found = column.map(_test(each)).astype(bool)
        if not found.any():
            raise _refused(frame, name, condition, each, option)
        matches |= found
    return matches if sign == "=" else ~matches


def _refused(frame: Frame, column: str, condition: str, value: str, option: str) -> InputError:
    """That no row of the column has the value, with those that there are."""
    values = [_shown(each) for each in frame.values(column)]
    return InputError.about(frame.origin, option, condition, one_of(value, values))


def _test(wanted: str) -> Callable[[Any], bool]:
    """Whether a cell is the wanted one: as text, with wildcards, or as the same number."""
    number = _number(wanted)

    def test(cell: Any) -> bool:
        shown = _shown(cell)
        if shown == wanted or fnmatch.fnmatchcase(shown, wanted):
            return True
        return number is not None and _number(shown) == number

    return test


def numeric(column: pd.Series[Any]) -> pd.Series[Any] | None:
    """The numbers of a column whose cells are numbers, or numbers with a unit; else nothing."""
    if pd.api.types.is_bool_dtype(column):
        return None
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    read = {value: si.quantity(str(value)) for value in column.dropna().unique()}
    units = {each[1] if each else None for each in read.values()}
    if not read or None in units or len(units) != 1:
        return None
    return column.map({value: each[0] for value, each in read.items() if each}).astype(float)


def unit_of_labels(column: pd.Series[Any]) -> str:
    """The unit that the labels of a column carry, or none."""
    found = {each[1] for value in column.dropna().unique() if (each := si.quantity(str(value)))}
    return found.pop() if len(found) == 1 else si.UNKNOWN


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        read = si.quantity(text)
        return None if read is None else read[0]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
