"""The teacher's page: answers with numbers that were measured now."""

from __future__ import annotations

import json
from collections.abc import Iterator

from anabranch.experiment import RunResult
from anabranch.play.lab.course import Exercise, exercises
from anabranch.play.lab.measures import COUNTED, MEASURES, run

HEAD = """\
# The lab: answers

For teachers. The numbers on this page come from the runs that the exercises describe, with the seed
of their scenarios; `anabranch lab --answers FILE` measures them and writes the page anew, and a
test compares the two. Rates of flows that go on, round-trip times and queues are means over the
second half of the run, as on the page, all other numbers those of the whole run. The lab itself:
[lab.md](lab.md).
"""


def measured(exercise: Exercise) -> dict[str, str]:
    """The numbers of an exercise by their names, as the page has them; a setting runs once."""
    runs: dict[str, RunResult] = {}
    found = {}
    for each in exercise.measures:
        key = json.dumps(each.set, sort_keys=True)
        if key not in runs:
            runs[key] = run(exercise.scenario, each.set)
        found[each.name] = shown(MEASURES[each.measure](runs[key], each.of), each.measure)
    return found


def shown(value: float, measure: str) -> str:
    """A number with the digits that it has on the page, or as counted.

    >>> shown(9.6532, "goodput"), shown(96.04, "used"), shown(143.6, "peak")
    ('9.65', '96.0', '144')
    """
    if measure in COUNTED:
        return f"{value:.0f}"
    return f"{value:.1f}" if measure == "used" else f"{float(f'{value:.3g}'):.12g}"


def page() -> str:
    """Returns the page of answers in Markdown."""
    lines = [HEAD]
    for number, exercise in enumerate(exercises(), 1):
        lines += _section(number, exercise)
    return "\n".join(lines)


def _section(number: int, exercise: Exercise) -> Iterator[str]:
    numbers = measured(exercise)
    yield f"## {number}. {exercise.title}\n"
    yield f"*{exercise.question}*\n"
    yield " ".join(exercise.answer.format(**numbers).split()) + "\n"
    yield "| measured | setting | |"
    yield "|---|---|---|"
    for each in exercise.measures:
        changes = ", ".join(f"`{name}` = {value}" for name, value in each.set.items())
        value = f"{numbers[each.name]} {each.unit}".strip()
        yield f"| {each.says} | {changes or 'as it is'} | {value} |"
    yield ""
