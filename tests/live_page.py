"""Writes docs/live-verdicts.md: every claim that was judged on real packets, and in virtual time.

    python tests/live_page.py RESULTS PAGE [RUN [STUDY]...]

RESULTS is the folder of `anabranch reproduce --live`, at full size; RUN says where and when. With
the names of studies their sections alone are written anew. `make live-studies` runs both.
"""

from __future__ import annotations

import sys
from pathlib import Path

from anabranch import studies
from anabranch.studies.live import Further, LiveOutcome
from anabranch.verdicts import Claim

HEAD = """\
# Live verdicts

The claims of the studies on real packets (`anabranch reproduce --live`), each beside the verdict
of the same trials in virtual time, by the same rules. Shown are the first number behind each claim
and each whose verdict differs between the worlds; `results/STUDY/live/measures.csv` has them all.
What it means is in [live studies](live-studies.md). A section that names a run is of that run.

Written by `make live-studies`; do not edit.
"""


def main(results: Path, page: Path, run: str, *names: str) -> None:
    """Writes the page, or sections of it; ends with a message if a study has no full result."""
    if names:
        text = page.read_text(encoding="utf-8")
        for name in names:
            text = with_section(text, name, section(_outcome(results, name), run))
        page.write_text(text, encoding="utf-8")
        return
    parts = [HEAD, *([f"{run}\n"] if run else [])]
    parts += [section(_outcome(results, name)) for name, it in studies.ALL.items() if it.live]
    page.write_text("\n".join(parts), encoding="utf-8")


def _outcome(results: Path, name: str) -> LiveOutcome:
    outcome = LiveOutcome.load(results / name)
    if outcome is None or outcome.quick:
        sys.exit(f"{results / name}: no live result; run `anabranch reproduce {name} --live`")
    return outcome


def with_section(text: str, name: str, section: str) -> str:
    """The page with another section of a study."""
    head, title, rest = text.partition(f"## `{name}`\n")
    if not title:
        sys.exit(f"the page has no section of {name}")
    _, following, after = rest.partition("\n## `")
    return head + section + following + after


def section(outcome: LiveOutcome, run: str = "") -> str:
    """A study: who is real, a row for each claim, what is otherwise, how precise it was; then the
    worlds beyond, and its tables."""
    rows = "\n".join(row(*pair) for pair in outcome.pairs)
    notes = [f"Not as in the simulated study: {change}" for change in outcome.changed]
    notes += [f"Not carried live: {name}: {why}." for name, why in outcome.left_out.items()]
    trials = sum(timing.trials for timing in outcome.timings)
    notes += [f"{trials} trials; {outcome.lateness}; timing: {outcome.timing}."]
    notes += [f"{doubtful.batch}: {'; '.join(doubtful.doubts)}." for doubtful in outcome.doubtful]
    listed = "\n".join(f"- {note}" for note in notes)
    when = f"{run}\n\n" if run else ""
    more = "".join(further(outcome, each) for each in outcome.further) + tables(outcome)
    return (
        f"## `{outcome.name}`\n\n{when}{outcome.setting}\n\n"
        f"| | claim | simulated | live | measured: simulated / live |\n|---|---|---|---|---|\n"
        f"{rows}\n\n{listed}\n{more}"
    )


def further(outcome: LiveOutcome, world: Further) -> str:
    """The claims in another world, each beside the verdicts above."""
    rows = []
    for (before, live), here in zip(outcome.pairs, world.claims, strict=True):
        numbers = [
            f"{there.quantity}: {there.measured.interval_text()}"
            for number, (other, there) in enumerate(
                zip(live.everything(), here.everything(), strict=True)
            )
            if not number or other.verdict is not there.verdict
        ]
        verdicts = (before.verdict.value, live.verdict.value, here.verdict.value)
        cells = (here.claim, *verdicts, "; ".join(numbers))
        rows.append("| " + " | ".join(cells) + " |")
    doubts = [f"- {each.batch}: {'; '.join(each.doubts)}." for each in world.timings if each.doubts]
    late = max(each.p99_s for each in world.timings) * 1e6
    trials = sum(each.trials for each in world.timings)
    lateness = f"- {trials} trials; packets left late by at most {late:.0f} us (p99)."
    listed = "\n".join([lateness, *doubts])
    return (
        f"\n### World `{world.name}`\n\n{world.setting} The first number behind each claim, and"
        " those whose verdict is not that of the column *live*.\n\n"
        f"| | simulated | live | {world.name} | measured: {world.name} |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + f"\n\n{listed}\n"
    )


TITLES = {
    "table1": "Table 1: Jain's index of the connection and the two single-path flows",
    "table2": "Table 2: goodput of the connection over the single-path flow's, equal delays",
    "table3": "Table 3: the same, 100 ms beside a longer delay",
}
UNITS = {"table1": "Mbit/s of the second path", "table2": "ms", "table3": "ms of the second path"}


def tables(outcome: LiveOutcome) -> str:
    """The study's tables, a column for each world: means with their 95 % intervals."""
    worlds = list(dict.fromkeys(str(row["world"]) for row in outcome.tables))
    text = ""
    for table in dict.fromkeys(str(row["table"]) for row in outcome.tables):
        found: dict[tuple[str, str], dict[str, str]] = {}
        for row in outcome.tables:
            if row["table"] == table:
                key = (f"`{row['series']}`", f"{row['x']:g}")
                found.setdefault(key, {})[str(row["world"])] = (
                    f"{row['mean']:.2f} ({row['ci_low']:.2f} to {row['ci_high']:.2f})"
                )
        head = ["window", UNITS.get(table, "x"), *worlds]
        lines = ["| " + " | ".join(head) + " |", "|---|---:|" + "---|" * len(worlds)]
        for key, cells in found.items():
            values = (cells.get(world, "") for world in worlds)
            lines.append("| " + " | ".join([*key, *values]) + " |")
        text += f"\n### {TITLES.get(table, table)}\n\n" + "\n".join(lines) + "\n"
    return text


def row(simulated: Claim, live: Claim) -> str:
    """Number, statement, both verdicts and the numbers that head them or differ."""
    numbers: list[str] = []
    for before, after in zip(simulated.everything(), live.everything(), strict=True):
        if not numbers or before.verdict is not after.verdict:
            both = " / ".join(each.measured.interval_text() for each in (before, after))
            expected = f" (expected {after.expected_text})" if after.expected_text else ""
            numbers.append(f"{after.quantity}: {both}{expected}")
    verdicts = (simulated.verdict.value, live.verdict.value)
    cells = (live.claim, live.sentence, *verdicts, "; ".join(numbers))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), *(sys.argv[3:] or [""]))
