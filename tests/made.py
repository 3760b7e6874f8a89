"""Rows and results for tests, of which only what a test is about is given."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

from anabranch import rows
from anabranch.experiment import RunResult
from anabranch.recorded import Series

R = TypeVar("R", bound=rows.Row)


def row(kind: type[R], **given: Any) -> R:
    """A row with these fields; the others are 0, empty or `None`."""
    hints = typing.get_type_hints(kind)
    neutral = {each.name: _neutral(hints[each.name]) for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**(neutral | given))


def flow(**given: Any) -> rows.Flow:
    """A row of `flows`."""
    return row(rows.Flow, **given)


def result(
    flows: Sequence[rows.Flow] = (),
    series: dict[str, Series] | None = None,
    links: Sequence[rows.Link] = (),
    end_s: float = 0.0,
    **tables: Any,
) -> RunResult:
    """A result with these rows and series, of a run that ended then."""
    return RunResult(flows, series or {}, links, row(rows.Run, end_s=end_s), **tables)


def _neutral(hint: Any) -> Any:
    return None if type(None) in typing.get_args(hint) else (typing.get_origin(hint) or hint)()
