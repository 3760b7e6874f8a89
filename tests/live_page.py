"""Writes docs/live-verdicts.md: every claim that was judged on real packets, and in virtual time.

    python tests/live_page.py RESULTS PAGE [RUN]

RESULTS is the folder of `anabranch reproduce --live`, at full size; RUN says where and when.
`make live-studies` runs both.
"""

from __future__ import annotations

import sys
from pathlib import Path

from anabranch import studies
from anabranch.studies.live import LiveOutcome
from anabranch.verdicts import Claim

HEAD = """\
# Live verdicts

The claims of the studies on real packets (`anabranch reproduce --live`), each beside the verdict
of the same trials in virtual time, by the same rules. Shown are the first number behind each claim
and each whose verdict differs between the worlds; `results/STUDY/live/measures.csv` has them all.
What it means is in [live studies](live-studies.md).

Written by `make live-studies`; do not edit.
"""


def main(results: Path, page: Path, run: str) -> None:
    """Writes the page; ends with a message if a study has not run at full size."""
    parts = [HEAD, *([f"{run}\n"] if run else [])]
    for name in studies.ALL:
        if studies.ALL[name].live is None:
            continue
        outcome = LiveOutcome.load(results / name)
        if outcome is None or outcome.quick:
            sys.exit(f"{results / name}: no live result; run `anabranch reproduce {name} --live`")
        parts.append(section(outcome))
    page.write_text("\n".join(parts), encoding="utf-8")


def section(outcome: LiveOutcome) -> str:
    """A study: who is real, a row for each claim, what is otherwise, how precise it was."""
    rows = "\n".join(row(*pair) for pair in outcome.pairs)
    notes = [f"Not as in the simulated study: {change}" for change in outcome.changed]
    notes += [f"Not carried live: {name}: {why}." for name, why in outcome.left_out.items()]
    trials = sum(timing.trials for timing in outcome.timings)
    notes += [f"{trials} trials; {outcome.lateness}; timing: {outcome.timing}."]
    notes += [f"{doubtful.batch}: {'; '.join(doubtful.doubts)}." for doubtful in outcome.doubtful]
    listed = "\n".join(f"- {note}" for note in notes)
    return (
        f"## `{outcome.name}`\n\n{outcome.setting}\n\n"
        f"| | claim | simulated | live | measured: simulated / live |\n|---|---|---|---|---|\n"
        f"{rows}\n\n{listed}\n"
    )


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
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), "".join(sys.argv[3:]))
