"""`anabranch check`: a congestion controller through random sequences of events."""

from __future__ import annotations

import importlib
import sys

import click

from anabranch.commands.options import checked, console
from anabranch.errors import InputError
from anabranch.native import interruptible

ALLOWED = "NAME=VALUE, an option of the controller"


@click.command()
@click.argument("controller", metavar="FILE.py:CLASS|FILE.so|NAME")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the algorithm; may be repeated.",
)
@click.option(
    "--cases",
    type=click.IntRange(1, 1_000_000),
    default=200,
    show_default=True,
    help="Random sequences of events.",
)
@click.option(
    "--steps",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Events of each sequence.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=1,
    show_default=True,
    help="Of the first sequence.",
)
def check(controller: str, options: tuple[str, ...], cases: int, steps: int, seed: int) -> None:
    """Tries whether a controller keeps what every controller must.

    Prints each invariant that it broke, with the shortest sequence of events found
    that breaks it; the exit status is then 1.
    """
    if controller.endswith(".py"):
        raise InputError.about("check", "algorithm", controller, f"{controller}:CLASS")
    algorithms = importlib.import_module("anabranch.algorithms")
    checking = importlib.import_module("anabranch.algorithms.checking")
    values = {}
    for text in options:
        name, _, value = checked(text, "--option", ALLOWED).partition("=")
        values[name.strip()] = _value(value.strip())
    broken = interruptible(
        lambda: algorithms.check(controller, values, cases=cases, steps=steps, seed=seed)
    )
    terminal = console()
    for violation in broken:
        terminal.print(str(violation), markup=False)
    names = {violation.invariant for violation in broken}
    kept = [name for name, _meaning in checking.invariants() if name not in names]
    terminal.print(f"{controller}: kept {len(kept)}, broke {len(names)} in {cases} sequences")
    if broken:
        sys.exit(1)


def _value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
