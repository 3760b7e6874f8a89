"""The exercises as notebooks, for a classroom that has Jupyter and no playground."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from anabranch.files import write_text
from anabranch.play.code import call
from anabranch.play.document import Table
from anabranch.play.lab.course import Exercise, Step, exercises

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(exercise: Exercise, number: int) -> str:
    """The notebook of an exercise, without outputs."""
    cells = [
        _cell(number, kind, text) for number, (kind, text) in enumerate(_parts(exercise, number))
    ]
    document = {
        "cells": cells,
        "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def write(folder: Path) -> list[Path]:
    """Writes all notebooks into a folder; their paths."""
    written = []
    for number, exercise in enumerate(exercises(), 1):
        path = folder / f"lab-{number}-{exercise.id}.ipynb"
        write_text(path, notebook(exercise, number))
        written.append(path)
    return written


def _cell(number: int, kind: str, text: str) -> Table:
    lines = text.splitlines(keepends=True)
    cell: Table = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _parts(exercise: Exercise, number: int) -> Iterator[tuple[str, str]]:
    yield (
        "markdown",
        f"# Lab {number}: {exercise.title}\n\n**{exercise.question}**\n\n{exercise.background}\n\n"
        f"{exercise.minutes} minutes. The same exercise with sliders: `anabranch lab`.",
    )
    yield "code", "from anabranch.play.lab.showing import show"
    for step in exercise.steps:
        yield "markdown", step.text
        yield "code", _code(exercise, step)
    yield "markdown", "Your answer:\n\n"
    seen = "\n".join(f"- {text}" for text in exercise.see)
    yield "markdown", f"<details><summary>What to see</summary>\n\n{seen}\n\n</details>"


def _code(exercise: Exercise, step: Step) -> str:
    settings = [step.a] if step.b is None else [step.a, step.b]
    # The last line of a cell would be shown again, as its value.
    return call("show", [exercise.scenario, *settings], {}) + ";"
