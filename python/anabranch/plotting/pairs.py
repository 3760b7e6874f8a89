"""Paired differences: what runs of the same replication have of two values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from anabranch import stats
from anabranch.errors import InputError
from anabranch.plotting.frame import REPLICATION, Frame
from anabranch.plotting.where import keep, numeric


def differences(frame: Frame, column: str, base: object, rest: Sequence[str]) -> pd.DataFrame:
    """A row for each other value of the column and combination of the rest: mean and interval of
    its difference from `base`, replication by replication."""
    if not frame.replicated:
        raise InputError.about(frame.origin, "--kind", "paired", "a result with replications")
    runs = frame.runs([column, *rest])
    table = runs.pivot(index=[*rest, REPLICATION], columns=column, values=frame.y)
    rows: list[dict[str, Any]] = []
    for value in frame.values(column):
        if value == base:
            continue
        change = (table[value] - table[base]).dropna().reset_index(name="change")
        groups = change.groupby(list(rest), sort=False, observed=True) if rest else [((), change)]
        for key, group in groups:
            each = stats.mean(group["change"], frame.confidence)
            values = {"y": each.mean, "low": each.ci_low, "high": each.ci_high, "n": each.n}
            rows.append(dict(zip(rest, key, strict=True)) | {column: value} | values)
    found = pd.DataFrame(rows, columns=[*rest, column, "y", "low", "high", "n"])
    found = found[found["n"] > 0]
    if found.empty:
        allowed = "a value that shares replications with another"
        raise InputError.about(frame.origin, "--against", f"{column}={base}", allowed)
    return found


def baseline(frame: Frame, against: str | None, x: str, by: str) -> tuple[str, object]:
    """The column whose values are compared, and the value that is subtracted from the others."""
    names = [each for each in (by, x) if each and numeric(frame.data[each]) is None]
    column = names[0] if names else (by or x)
    if against is None:
        return column, frame.values(column)[0]
    name, equals, wanted = against.partition("=")
    if equals:
        column = frame.checked(name.strip(), "--against")
    else:
        wanted = against
    chosen = keep(frame, [f"{column}={wanted.strip()}"], "--against").values(column)
    if len(chosen) != 1:
        raise InputError.about("plot", "--against", against, "one value")
    return column, chosen[0]
