"""What a folder of results holds, as a frame that can be drawn."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from anabranch import curves, observed, si, tables, timeline
from anabranch.errors import ABSENT, InputError
from anabranch.files import absent
from anabranch.nearest import one_of
from anabranch.plotting.frame import Frame
from anabranch.sweep import reading
from anabranch.timeline import Event

TABLES = (
    "flows", "links", "paths", "messages", "datagrams", "pings", "calls", "videos", "loads",
    "regulators", "lines", "listeners", "attacks",
)  # fmt: skip
"""Tables of a run, each a CSV file."""
SUBJECTS = ("flow", "name", "from", "to", "subflow", "host")
"""Columns that say what a row is about."""
TIMELINE = "timeline"
"""What happened when, which is drawn in lanes."""
FIRST = ("arrivals", "delivery", "cwnd", "path_cwnd", "queue")
"""What a run's figure shows unless asked otherwise: the first of these that was observed."""


def frame(places: Sequence[Path], y: str | None = None) -> Frame:
    """The number `y` of a result, or of several runs laid over each other.

    `y` is a metric of a sweep, a column of a table (`flows` unless `TABLE.COLUMN`), or a kind of
    series of a run; without it the first that there is.
    """
    if len(places) > 1:
        return _together(places, y)
    (place,) = places
    if (place / reading.FILE).is_file():
        return reading.read(place).frame(y, str(place))
    if (place / "compare.csv").is_file():
        return _comparison(place, y)
    if (place / "flows.csv").is_file():
        return _run(place, y)
    if place.suffix in (".csv", ".parquet"):
        return _file(place, y)
    if not place.exists():
        raise absent(place, "result")
    allowed = "a folder that `run`, `live`, `replay`, `sweep`, `compare`, `reproduce` or `evaluate`"
    raise InputError.about("plot", "RESULT", str(place), f"{allowed} wrote, or a table")


def studies(place: Path) -> list[Path]:
    """The tables behind the figures of a study, or of all studies, in a folder."""
    return sorted(file.with_name(file.name.removesuffix(".plot.json") + ".csv")
                  for file in place.glob("**/*.plot.json"))  # fmt: skip


def _together(places: Sequence[Path], y: str | None) -> Frame:
    """Several runs, told apart by their folders."""
    check_runs(places)
    found = [_run(place, y) for place in places]
    first = found[0]
    if len({each.y for each in found}) > 1:
        there = ", ".join(sorted({each.y for each in found}))
        raise InputError.about("plot", "--y", ABSENT, f"what all runs have; there are {there}")
    parts = [
        each.data.assign(result=name)
        for each, name in zip(found, names(places), strict=True)
    ]  # fmt: skip
    return Frame(
        pd.concat(parts, ignore_index=True), first.y, first.unit, first.name,
        ("result", *first.varied), x=first.x, most=first.most, kind=first.kind, steps=first.steps,
        moments=first.moments, origin="results",
    )  # fmt: skip


def check_runs(places: Sequence[Path]) -> None:
    """Refuses a folder that is not that of one run: only runs are laid over each other."""
    for place in places:
        if not (place / "flows.csv").is_file():
            if not place.exists():
                raise absent(place, "result")
            allowed = "of several results each a folder of one run"
            raise InputError.about("command line", "RESULT", str(place), allowed)


def names(places: Sequence[Path]) -> list[str]:
    """The shortest names that tell folders apart: of each the last part, or all of it."""
    short = [place.resolve().name for place in places]
    return short if len(set(short)) == len(short) else [str(place) for place in places]


def _run(place: Path, y: str | None) -> Frame:
    kinds = _kinds(place)
    rates = [name for name in curves.RATES if _source(name, kinds)]
    if y is None:
        y = next((name for name in FIRST if name in (*rates, *kinds)), "goodput_bps")
    if y in rates:
        return _rate(place, kinds, y)
    if y in kinds:
        return _series(place, y, kinds[y])
    name, _, column = y.rpartition(".")
    file = place / f"{name or 'flows'}.csv"
    if (name or "flows") not in TABLES or not file.is_file():
        there = [each for each in TABLES if (place / f"{each}.csv").is_file()]
        raise InputError.about(str(place), "--y", y, one_of(name, there))
    table = pd.read_csv(file)
    if column not in table or not pd.api.types.is_numeric_dtype(table[column]):
        if y in (*curves.RATES, *observed.AXES):
            raise _unobserved(place, y, [*rates, *kinds])
        columns = [each for each in table if pd.api.types.is_numeric_dtype(table[each])]
        raise InputError.about(
            str(place), "--y", y, one_of(column, [*columns, *rates, *kinds, TIMELINE])
        )
    varied = tuple(each for each in SUBJECTS if each in table)
    return Frame(table, column, si.unit_of(column), varied=varied, kind="bars", origin=str(place))


def _unobserved(place: Path, y: str, there: list[str]) -> InputError:
    """The error of a series that a run has not, and how to get one that has it."""
    if any((place / "series").glob(f"*.{y}.csv")):
        allowed = "a series with samples: it was observed, and nothing in this run has any"
        return InputError.about(str(place), "--y", y, allowed)
    allowed = f"what the run observed: {', '.join(there) or 'nothing'}"
    return InputError.about(str(place), "--y", y, allowed + _again(place, observed.observer(y)))


def _again(place: Path, what: str) -> str:
    """The command that runs the scenario of a folder again and observes this, as the end of a
    message; empty of a folder that has no scenario."""
    scenario, file = place / "scenario.toml", place / "run.json"
    if not (scenario.is_file() and file.is_file()):
        return ""
    facts = json.loads(file.read_text(encoding="utf-8"))
    kind, seed = "live" if "live" in facts else "run", f"--seed={facts['seed']}"
    command = shlex.join(["anabranch", kind, str(scenario), seed])
    out = shlex.join(["--out", str(place)])
    entry = f'`[[observe]]` with `what = "{what}"` in the scenario'
    if what not in (*observed.EXPLORED, *observed.EXPLORED_PATHS):
        return f"; {entry} and `{command} {out}` observe it"
    return f"; `{command} --explore {out}` observes it, or {entry}"


def observed_kinds(place: Path) -> list[str]:
    """What can be drawn of a run over time: kinds of series, and rates that follow from them."""
    kinds = _kinds(place)
    return [*(name for name in curves.RATES if _source(name, kinds)), *kinds]


def happened(place: Path) -> tuple[list[Event], float]:
    """The timeline of a run in a folder, and the date at which the run ended."""
    file = place / "timeline.csv"
    if not place.exists():
        raise absent(place, "result")
    if not file.is_file():
        again = _again(place, "events")
        raise InputError(f"{place}: has no timeline; allowed: {timeline.NEEDED}{again}")
    found = [
        Event.of(
            row
            | {
                "time_s": float(row["time_s"]),
                "until_s": float(row["until_s"]) if row["until_s"] else None,
            }
        )
        for row in tables.read_csv(file)
    ]
    ends = [event.time_s if event.until_s is None else event.until_s for event in found]
    return found, max([*ends, _ends(place)[1]])


def _kinds(place: Path) -> dict[str, dict[str, Path]]:
    """The files of series that have samples, by kind and by what each is of."""
    found: dict[str, dict[str, Path]] = {}
    for file in sorted((place / "series").glob("*.csv"), key=observed.natural):
        of, _, kind = file.stem.rpartition(".")
        if _has_rows(file):
            found.setdefault(kind, {})[of] = file
    return found


def _has_rows(file: Path) -> bool:
    """Whether a table has more than its header: datagrams have no window to observe."""
    with file.open(encoding="utf-8") as lines:
        return len(list(itertools.islice(lines, 2))) == 2


def _series(place: Path, kind: str, files: dict[str, Path]) -> Frame:
    subject = observed.subject(kind)
    finishes, end_s = _ends(place)
    parts = []
    for of, file in files.items():
        table = pd.read_csv(file)
        until = observed.lasts_until(kind, of, finishes, end_s)
        drawn = curves.curve(table["time_s"].to_numpy(), table["value"].to_numpy(), until)
        parts.append(drawn.assign(**{subject: of}))
    return curves.frame(parts, kind, (subject,), str(place))


def _ends(place: Path) -> tuple[dict[str, float | None], float]:
    """When each flow of a run finished, if it did, and when the run ended: 0 where the folder does
    not say."""
    flows = tables.read_csv(place / "flows.csv")
    finishes = {row["flow"]: float(row["finish_s"]) if row["finish_s"] else None for row in flows}
    facts = place / "run.json"
    end_s = json.loads(facts.read_text(encoding="utf-8"))["end_s"] if facts.is_file() else 0.0
    return finishes, float(end_s)


def _source(rate: str, kinds: dict[str, dict[str, Path]]) -> str:
    """The kind of series that a rate is computed from; empty where it was not observed."""
    wanted = ("received",) if rate == "delivery" else ("receives", "sends")
    return wanted[0] if all(kinds.get(each) for each in wanted) else ""


def _rate(place: Path, kinds: dict[str, dict[str, Path]], rate: str) -> Frame:
    tables = {of: pd.read_csv(file) for of, file in kinds[_source(rate, kinds)].items()}
    last = max((float(table["time_s"].max()) for table in tables.values() if len(table)), default=0)
    end = max(last, _ends(place)[1])  # of a folder without `run.json` the last arrival
    if not end > 0:
        raise InputError.about(str(place), "--y", rate, "a run in which data arrived")
    subject = observed.subject(_source(rate, kinds))
    parts = []
    for of, table in tables.items():
        columns = {name: table[name].to_numpy() for name in table}
        if rate == "delivery":
            middles, rates = observed.rate(columns, end / curves.INTERVALS, end)
        else:
            sends = pd.read_csv(kinds["sends"][of])
            lengths = {name: sends[name].to_numpy() for name in sends}
            middles, rates = observed.arrivals(columns, lengths, end / curves.INTERVALS, end)
        parts.append(curves.curve(middles, rates, end).assign(**{subject: of}))
    return curves.frame(parts, rate, (subject,), str(place))


def _comparison(place: Path, y: str | None) -> Frame:
    """Both worlds of `compare`, with their intervals."""
    table = pd.read_csv(place / "compare.csv", keep_default_na=False, na_values=[""])
    measures = list(pd.unique(table["measure"]))
    names = {observed.MEASURES[each].name: each for each in measures if each in observed.MEASURES}
    wanted = names.get(y, y) if y else measures[0]
    if wanted not in measures:
        raise InputError.about(str(place), "--y", wanted, one_of(wanted, [*names, *measures]))
    labels = list(table.columns[: table.columns.get_loc("flow")])
    table = table[table["measure"] == wanted]
    parts = [
        table[[*labels, "flow"]].assign(
            world=world,
            value=table[world],
            low=table[f"{world}_low"],
            high=table[f"{world}_high"],
        )
        for world in ("simulated", "live")
    ]
    data = pd.concat(parts, ignore_index=True)
    measure = observed.MEASURES.get(wanted, observed.Measure(wanted))
    data[["value", "low", "high"]] *= measure.factor
    varied = (*labels, "flow", "world")
    # Of a single flow and point the two worlds are the axis, else they are series.
    single = all(data[each].nunique() < 2 for each in varied[:-1])
    columns = varied[::-1] if single else varied
    return Frame(
        data, "value", measure.unit, measure.name, columns,
        kind="bars", low="low", high="high", origin=str(place),
    )  # fmt: skip


def _file(place: Path, y: str | None) -> Frame:
    """A table of anybody's: what varies are the columns of names."""
    try:
        table = pd.read_parquet(place) if place.suffix == ".parquet" else pd.read_csv(place)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.about(str(place), "RESULT", reason, "a readable table") from None
    numbers = [each for each in table if pd.api.types.is_numeric_dtype(table[each])]
    wanted = y or next(iter(numbers), "")
    if wanted not in numbers:
        raise InputError.about(str(place), "--y", wanted, one_of(wanted, numbers))
    varied = tuple(str(each) for each in table if each not in numbers)
    return Frame(table, wanted, si.unit_of(wanted), varied=varied, origin=str(place))
