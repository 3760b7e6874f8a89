"""Tables as pages show them: texts with units, and the numbers by which they sort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import si, tables


@dataclass(frozen=True)
class Cell:
    """A field of a table: what is read, and what sorts."""

    text: str
    value: str = ""
    """The number behind the text; empty of a text."""


@dataclass(frozen=True)
class Shown:
    """A table with its title and the names of its columns in words."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]


def shown(title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Shown:
    """Rows of results with a unit beside each number."""
    heads = [si.name_of(column) for column in columns]
    return Shown(title, heads, [[cell(column, row[column]) for column in columns] for row in rows])


def cell(column: str, value: Any) -> Cell:
    """A number with its column's unit; a truth in words; a text as it is."""
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if value is None or isinstance(value, str):
        return Cell(value or "")
    return Cell(si.text(float(value), si.unit_of(column), DIGITS), tables.cell(value))


DIGITS = 4
"""Of a number in a table."""
