"""What is drawn of a frame: axes, series and panels; what is not said follows from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from anabranch import si, stats
from anabranch.errors import ABSENT, InputError
from anabranch.nearest import one_of
from anabranch.plotting import bands, pairs
from anabranch.plotting.frame import HELD, REPLICATION, Frame
from anabranch.plotting.where import Where, keep, numeric, unit_of_labels

KINDS = ("line", "runs", "bars", "cdf", "box", "heatmap", "paired")
"""Kinds of charts."""
OF_SERIES = ("line", "runs", "cdf", "box")
"""Those that many runs of a series over time have."""
NAMED = 4
"""Points up to which a caption names each."""
SEVERAL = 7
"""Values of a column up to which a distribution tells them apart unasked."""


@dataclass(frozen=True)
class Request:
    """What somebody asks to see; what is `None` is found from the rows."""

    x: str | None = None
    by: str | None = None
    """The column whose values are series: colours, dashes and marks."""
    panels: str | None = None
    """The column whose values have a panel each."""
    where: Where = field(default_factory=tuple)
    kind: str | None = None
    against: str | None = None
    """Of paired differences what is subtracted: `NAME=VALUE`, or a value of `by`."""
    log: str = ""
    """Axes with a logarithmic scale: any of `x` and `y`."""


@dataclass(frozen=True)
class Axis:
    """A column of the frame as an axis."""

    column: str
    label: str
    numeric: bool
    values: Sequence[object] = ()
    """The order of the values of an axis of names."""


@dataclass(frozen=True)
class Roles:
    """The columns of axis, series and panels; empty where there is none."""

    x: str
    by: str
    panels: str

    def columns(self) -> list[str]:
        """Returns the columns that the frame has, each once."""
        return list(dict.fromkeys(each for each in (self.x, self.by, self.panels) if each))


@dataclass(frozen=True)
class Chart:
    """Everything that is drawn, scaled and in order."""

    kind: str
    data: pd.DataFrame
    """Columns `x`, `y`, and where there are any `low`, `high`, `series`, `panel`, `n`."""
    x: Axis
    y: str
    """The label of the vertical axis, or of a heat map's colours."""
    series: str
    """What the series are values of; empty where there is one."""
    known: Sequence[str]
    """Every value that a series can have, drawn or not: each keeps its colour."""
    panels: str
    steps: bool
    log: str
    intervals: str
    """What the intervals are, for a caption; empty where there are none."""
    runs: tuple[int, int] = (0, 0)
    """The least and the largest number of runs behind a mean; 0 where that is not known."""
    middle: str = "means"
    """What is drawn of several runs."""
    left_out: int = 0
    """Series that are not drawn, see `Frame.most`."""
    pooled: Mapping[str, int] = field(default_factory=dict)
    """Columns that vary and that a distribution does not tell apart, and how many values of each
    are drawn."""
    beyond: int = 0
    """Values of zero or below, which a logarithmic axis does not have."""
    numbers: Sequence[str] = ()
    """What is drawn of paired differences, in words."""
    constant: Sequence[str] = ()
    """The points, by name, that had the same value in all their runs: there is no interval."""


def caption(made: Chart) -> str:
    """What a caption has to say of means or medians of several runs; empty where there are none.

    >>> axis = Axis("x", "x", True)
    >>> drawn = ("line", pd.DataFrame(), axis, "y", "", (), "", False, "")
    >>> caption(Chart(*drawn, "95 % intervals", (3, 5)))
    'means of 3 to 5 runs, 95 % intervals'
    """
    least, most = made.runs
    if most < 2:
        return ""
    number = f"{most}" if least == most else f"{least} to {most}"
    says = ", ".join(filter(None, (f"{made.middle} of {number} runs", made.intervals)))
    if not made.constant:
        return says
    count, every = len(made.constant), len(made.data)
    if count == every:
        return f"{says}; each the same in all its runs"
    points = "; ".join(made.constant) if count <= NAMED else f"{count} of {every} points"
    return f"{says}; the same in all runs: {points}"


def chart(frame: Frame, request: Request) -> Chart:
    """The chart of a frame that a request asks for."""
    made = _positive(_chart(frame, request), frame.origin)
    if not made.series:
        return made
    made = replace(made, known=[_text(value) for value in frame.values(made.series)])
    count = made.data["series"].nunique()
    return _largest(made, frame.most) if frame.most < count and not request.where else made


def _positive(made: Chart, origin: str) -> Chart:
    """The chart without what has no place on a logarithmic axis; a distribution keeps it, because
    the shares count it."""
    data = made.data
    names = [
        axis for axis in made.log if axis in data and pd.api.types.is_numeric_dtype(data[axis])
    ]
    if not names or made.kind == "heatmap":
        return made
    beyond = (data[names] <= 0).any(axis=1)
    if beyond.all():
        allowed = "a linear axis: no value is above 0"
        raise InputError.about(origin, "--log", made.log, allowed)
    made = replace(made, beyond=int(beyond.sum()))
    if made.kind == "cdf":
        return made
    data = data[~beyond].copy()
    if "y" in names and "low" in data:
        # An interval that reaches zero goes to the end of the axis.
        ends = data[["low", "y"]].to_numpy()
        data["low"] = data["low"].where(data["low"] > 0, ends[ends > 0].min())
    return replace(made, data=data)


def _largest(made: Chart, most: int) -> Chart:
    """The series with the largest means, in their order; all where there is no limit."""
    if not most:
        return made
    means = made.data.groupby("series", observed=True)["y"].mean()
    kept = set(means.sort_values(ascending=False, kind="stable").index[:most])
    data = made.data[made.data["series"].isin(kept)].copy()
    data["series"] = data["series"].cat.remove_unused_categories()
    names = [name for name in made.known if name in kept]
    return replace(made, data=data, known=names, left_out=len(made.known) - len(names))


def _chart(frame: Frame, request: Request) -> Chart:
    frame = keep(frame, request.where)
    frame = frame.only(frame.data[frame.data[frame.y].notna()])
    if frame.data.empty:
        raise InputError.about(frame.origin, "--y", frame.y, "a column that has values")
    kind = request.kind or frame.kind
    if kind is not None and kind not in KINDS:
        raise InputError.about("plot", "--kind", kind, one_of(kind, KINDS))
    _check_kind_of_series(frame, kind)
    if kind not in ("line", "runs") and HELD in frame.data:
        frame = frame.only(frame.data[~frame.data[HELD]])
    if set(request.log) - set("xy"):
        raise InputError.about("plot", "--log", request.log, "x, y or xy")
    if kind in ("cdf", "box"):
        return _distribution(frame, request, kind)
    roles = _roles(frame, request, kind)
    kind = kind or ("line" if numeric(frame.data[roles.x]) is not None else "bars")
    if kind == "paired":
        return _paired(frame, request, roles)
    if kind == "heatmap" and not roles.by:
        allowed = "the column of the vertical axis: " + (", ".join(frame.varied) or "there is none")
        raise InputError.about(frame.origin, "--by", ABSENT, allowed)
    return _means(frame, request, kind, roles)


def _check_kind_of_series(frame: Frame, kind: str | None) -> None:
    """Refuses what a series over time cannot be drawn as, and to draw as one what is none."""
    if frame.steps and frame.replicated and kind not in OF_SERIES:
        number = "a metric or a column of a table has one number for each run"
        allowed = f"{', '.join(OF_SERIES)} of a series over time; {number}"
        raise InputError.about("plot", "--kind", str(kind), allowed)
    if kind == "runs" and not frame.steps:
        allowed = f"a series over time, such as cwnd, and not `{frame.y}`"
        raise InputError.about("plot", "--kind", kind, allowed)


def _given(frame: Frame, request: Request) -> dict[str, str]:
    """The columns that were named, by what they are for."""
    return {
        name: frame.checked(value, f"--{name}")
        for name in ("x", "by", "panels")
        if (value := getattr(request, name))
    }


def _roles(frame: Frame, request: Request, kind: str | None) -> Roles:
    """The columns of axis, series and panels: asked for, or those that vary, numbers first on x."""
    given = _given(frame, request)
    left = [column for column in frame.varying() if column not in given.values()]
    x = given.get("x", "") or (frame.x if kind in (None, "line", "runs") else "")
    if not x:
        numbers = [column for column in left if numeric(frame.data[column]) is not None]
        x = next(iter(numbers if kind != "bars" else []), "") or next(iter(left), "")
        x = x or next((each for each in frame.varied if each not in given.values()), "")
        if not x:
            raise InputError.about(frame.origin, "--x", ABSENT, one_of("", frame.data.columns))
        left = [column for column in left if column != x]
    by = given.get("by") or (left.pop(0) if left else "")
    panels = given.get("panels") or (left.pop(0) if left else "")
    if left:
        column = left[0]
        values = frame.values(column)
        shown = ", ".join(map(_text, values[:3])) + (", ..." if len(values) > 3 else "")
        one = f"--where '{column}={_text(values[0])}'"
        allowed = f"`{column}` varies, too ({shown}): choose, as with {one}"
        raise InputError.about(frame.origin, "--where", ABSENT, allowed)
    return Roles(x, by, panels)


def _apart(frame: Frame, request: Request, kind: str) -> Roles:
    """The columns that a distribution tells apart: those that were named, or where none was the
    first that vary over few values. What names every row has one sample each, and tells nothing."""
    given = _given(frame, request)
    few = [
        column
        for column in frame.varying()
        if frame.data[column].nunique() <= min(SEVERAL, len(frame.data) - 1)
    ]
    places = ("x", "by", "panels") if kind == "box" else ("by", "panels")
    chosen = given or dict(zip(places, few, strict=False))
    if kind == "box" and "x" not in chosen and "by" in chosen:
        chosen["x"] = chosen.pop("by")
    return Roles(*(chosen.get(name, "") for name in ("x", "by", "panels")))


def _means(frame: Frame, request: Request, kind: str, roles: Roles) -> Chart:
    keys = roles.columns()
    raw = frame.steps and (kind == "runs" or not frame.replicated) and kind in ("line", "runs")
    band = frame.steps and frame.replicated and kind == "line"
    if (raw or band) and frame.replicated and roles.x != frame.x:
        raise InputError.about("plot", "--x", roles.x, f"{frame.x}: a series is drawn over time")
    of_runs = bands.over_runs if band else estimates
    table = frame.data if raw else of_runs(frame, keys)
    scaled = si.scale(table[["y", "low", "high"]].to_numpy().ravel() if not raw else
                      table[frame.y], frame.unit)  # fmt: skip
    columns = {"y": frame.y} if raw else {"y": "y", "low": "low", "high": "high"}
    data = pd.DataFrame({name: table[column] / scaled.factor for name, column in columns.items()})
    axis = _axis(frame, table, roles.x, data, kind)
    _names(frame, table, data, roles.by, roles.panels)
    if kind == "runs":
        data["run"] = _lines(table, roles)
    has_interval = not raw and kind != "heatmap" and bool((data["high"] > data["low"]).any())
    intervals = bands.SAYS if band else f"{frame.confidence * 100:g} % intervals"
    return Chart(
        kind, data, axis, scaled.axis(frame.label), roles.by, (), roles.panels, raw,
        request.log, intervals if has_interval else "",
        runs=_runs(table), middle="medians" if band else "means",
        constant=() if band or raw else _constant(table, keys),
    )  # fmt: skip


def _constant(table: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """The names of the points with several runs, all of one value."""
    if "n" not in table:
        return []
    same = table[(table["n"] > 1) & ~(table["high"] > table["low"])]
    apart = [key for key in keys if table[key].nunique() > 1]
    return [", ".join(_text(row[key]) for key in apart) for _, row in same.iterrows()]


def _lines(table: pd.DataFrame, roles: Roles) -> pd.Series[int]:
    """A number for each line: a run of a series."""
    columns = [each for each in (REPLICATION, roles.by, roles.panels) if each in table]
    if not columns:
        return pd.Series(0, index=table.index)
    return table.groupby(columns, sort=False, observed=True).ngroup()


def _runs(table: pd.DataFrame) -> tuple[int, int]:
    """The least and the largest `n`, where there is such a column."""
    return (int(table["n"].min()), int(table["n"].max())) if "n" in table else (0, 0)


def estimates(frame: Frame, keys: Sequence[str]) -> pd.DataFrame:
    """A row for each combination of the keys: mean and interval over runs (Student's t).

    Rows of one run are no independent samples: they count as their mean. Of a single run there
    is no interval.
    """
    if frame.low is not None and frame.high is not None:
        renamed = {frame.y: "y", frame.low: "low", frame.high: "high"}
        return frame.data.rename(columns=renamed)
    runs = frame.runs(keys)
    rows = []
    for key, group in runs.groupby(list(keys), sort=False, observed=True):
        of = group[frame.y] if frame.replicated else [group[frame.y].mean()]
        each = stats.mean(of, frame.confidence).within(*frame.bounds)
        values = {"y": each.mean, "low": each.ci_low, "high": each.ci_high, "n": each.n}
        rows.append(dict(zip(keys, key, strict=True)) | values)
    return pd.DataFrame(rows)


def _distribution(frame: Frame, request: Request, kind: str) -> Chart:
    """Of all rows: those that no named column tells apart are pooled."""
    roles = _apart(frame, request, kind)
    scaled = si.scale(frame.data[frame.y], frame.unit)
    label = scaled.axis(frame.label)
    data = pd.DataFrame({("y" if kind == "box" else "x"): frame.data[frame.y] / scaled.factor})
    _names(frame, frame.data, data, roles.by, roles.panels)
    if kind == "cdf":
        axis = Axis(frame.y, label, True)
        once = _one_each(frame, roles.by, roles.panels)
        label = "share of the runs" if once else "share of the samples"
    elif roles.x:
        axis = _axis(frame, frame.data, roles.x, data, kind)
    else:
        axis = Axis("", "", False, ["all"])
        data["x"] = "all"
    rows = len(frame.data)
    counts = {each: frame.data[each].nunique() for each in frame.varying()}
    pooled = {
        each: count for each, count in counts.items()
        if each not in roles.columns() and count < rows
    }  # fmt: skip
    drawn = (kind, data, axis, label, roles.by, (), roles.panels)
    return Chart(*drawn, steps=kind == "cdf", log=request.log, intervals="", pooled=pooled)


def _one_each(frame: Frame, by: str, panels: str) -> bool:
    """Every run has one value in each series."""
    if not frame.replicated:
        return False
    keys = [REPLICATION, *(each for each in (by, panels) if each)]
    return not frame.data.duplicated(keys).any()


def _paired(frame: Frame, request: Request, roles: Roles) -> Chart:
    column, base = pairs.baseline(frame, request.against, roles.x, roles.by)
    rest = [each for each in roles.columns() if each != column]
    found = pairs.differences(frame, column, base, rest)
    several = found[column].nunique() > 1
    across = roles.x if roles.x in rest else column if several or not rest else rest[0]
    varying = [each for each in (column, *rest) if each != across and found[each].nunique() > 1]
    series, panels = (*varying, "", "")[:2]
    unit = si.unit_of_difference(frame.unit)
    scaled = si.scale(found[["y", "low", "high"]].to_numpy().ravel(), unit)
    data = found[["y", "low", "high"]] / scaled.factor
    axis = _axis(frame, found, across, data, "paired")
    _names(frame, found, data, series, panels)
    of = "" if several else f", {_text(found[column].iloc[0])}"
    label = f"{frame.label}{of}: difference from {_text(base)}"
    intervals = f"paired differences with {frame.confidence * 100:g} % intervals"
    drawn = ("paired", data, axis, scaled.axis(label), series, (), panels)
    constant = _constant(found, [column, *rest])
    columns = ["y", "low", "high", "n"]
    every = [stats.Estimate(*row) for row in found[columns].itertuples(index=False, name=None)]
    apart = [each for each in rest if found[each].nunique() > 1]
    numbers = [
        ", ".join([f"{_text(row[column])} - {_text(base)}", *(_text(row[each]) for each in apart)])
        + f": {difference}"
        for (_, row), difference in zip(
            found.iterrows(), si.estimates(every, unit, scaled), strict=True
        )
    ]
    return Chart(
        *drawn, steps=False, log=request.log, intervals=intervals, runs=_runs(found),
        constant=constant, numbers=numbers,
    )  # fmt: skip


def _axis(frame: Frame, table: pd.DataFrame, column: str, data: pd.DataFrame, kind: str) -> Axis:
    """Puts the column into `data` as `x`, in its unit, and says what it is."""
    name = si.name_of(column)
    numbers = numeric(table[column])
    if numbers is None or kind in ("bars", "box", "heatmap"):
        values = [_text(value) for value in frame.values(column)]
        data["x"] = pd.Categorical(table[column].map(_text), values, ordered=True)
        return Axis(column, name, False, values)
    unit = unit_of_labels(table[column]) or si.unit_of(column)
    scaled = si.scale(numbers, unit)
    data["x"] = numbers / scaled.factor
    return Axis(column, scaled.axis(name), True)


def _names(frame: Frame, table: pd.DataFrame, data: pd.DataFrame, series: str, panels: str) -> None:
    """Puts series and panels into `data`, as texts in their order."""
    for name, column in (("series", series), ("panel", panels)):
        if column:
            values = [_text(value) for value in frame.values(column)]
            shown = table[column].map(_text)
            kept = [value for value in values if value in set(shown)]
            data[name] = pd.Categorical(shown, kept, ordered=True)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
