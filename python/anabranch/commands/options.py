"""Options and habits that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from anabranch.errors import InputError
from anabranch.nearest import nearest, one_of
from anabranch.options import ENDS

VERDICT_STYLE = {
    "holds": "green",
    "holds in part": "yellow",
    "does not hold": "red",
    "undecided": "cyan",
}
"""The colour of each verdict, by its value: the verdicts themselves bring SciPy."""

PATH = click.Path(path_type=Path)
"""A path; the command checks it, so that the message names what is allowed."""

SEED_MAX = 2**64 - 1


WIDTH = 160
"""Columns of tables where there is no terminal."""


class Named(click.Choice[str]):
    """One of some names; of another word the nearest is told, or the name that it stands for."""

    def __init__(self, names: Sequence[str], others: Mapping[str, str] | None = None) -> None:
        super().__init__(names)
        self.others = others or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, or an `InputError` with all of them."""
        names = [str(each) for each in self.choices]
        if value in names:
            return str(super().convert(value, param, ctx))
        field = param.human_readable_name if param else "name"
        meant = nearest(str(value), self.others)
        wanted = str(value) if meant is None else self.others[meant]
        raise InputError.about("command line", field, str(value), one_of(wanted, names))


def console() -> Console:
    """Standard output; plain text in whole lines when it is not a terminal."""
    terminal = Console(highlight=False, soft_wrap=True)
    if not terminal.is_terminal:
        terminal.width = max(terminal.width, WIDTH)
    return terminal


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """On a terminal a line with the time that one long run takes, gone when it is done."""
    terminal = console()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    shown = Progress(*columns, console=terminal, disable=not terminal.is_terminal, transient=True)
    with shown:
        shown.add_task(what, total=None)
        yield


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_option(function: Callable[..., object]) -> Callable[..., object]:
    """Adds the option `--jobs N`."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, 1024),
        default=processors,
        show_default="processors",
        help="Runs at a time.",
    )(function)


def seed_option(function: Callable[..., object]) -> Callable[..., object]:
    """Adds the option `--seed N`."""
    return click.option(
        "--seed", type=click.IntRange(0, SEED_MAX), help="Replaces the scenario's seed."
    )(function)


def set_option(function: Callable[..., object]) -> Callable[..., object]:
    """`--set KEY=VALUE`, as `assignments`."""
    return click.option(
        "--set",
        "assignments",
        multiple=True,
        metavar="KEY=VALUE",
        callback=lambda _context, _option, texts: tuple(
            checked(text, "--set", "KEY=VALUE") for text in texts
        ),
        help="Overrides one field, e.g. links.0.delay='5 ms'; may be repeated.",
    )(function)


def capture_options(function: Callable[..., object]) -> Callable[..., object]:
    """`--pcap`, `--capture PLACE`, `--pcap-side` and `--snaplen`, as `pcap`, `places`, `pcap_side`
    and `snaplen`."""
    places = click.option(
        "--capture",
        "places",
        multiple=True,
        metavar="PLACE",
        help="Write capture.pcapng of this host, interface or link; may be repeated.",
    )
    side = click.option(
        "--pcap-side",
        type=click.Choice(ENDS),
        default="sender",
        show_default=True,
        help="End at which --pcap captures each flow; with both, a packet is there twice.",
    )
    snaplen = click.option(
        "--snaplen",
        type=click.IntRange(0, 262144),
        show_default="all but synthetic payload",
        metavar="OCTETS",
        help="Octets of each packet to keep; 0 keeps all, synthetic payload too.",
    )
    every = click.option("--pcap", is_flag=True, help="Also write capture.pcapng, of all flows.")
    return every(places(side(snaplen(function))))


def explore_option(function: Callable[..., object]) -> Callable[..., object]:
    """Adds the option `--explore`."""
    return click.option(
        "--explore",
        is_flag=True,
        help="Also record every packet, window, round-trip time and queue, for the report's"
        " time-sequence explorer.",
    )(function)


def port_option(function: Callable[..., object]) -> Callable[..., object]:
    """`--port N` of a server on this machine."""
    return click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        show_default="a free one",
        help="Port of 127.0.0.1.",
    )(function)


def browse_option(function: Callable[..., object]) -> Callable[..., object]:
    """Adds the option `--browse/--no-browse`."""
    return click.option(
        "--browse/--no-browse", default=True, help="Open the page in a browser; the default."
    )(function)


def checked(text: str, option: str, allowed: str) -> str:
    """`text` if it is NAME=VALUE; else an `InputError` that says what is allowed."""
    name, equals, _value = text.partition("=")
    if not equals or not name.strip():
        raise InputError.about("command line", option, text, allowed)
    return text
