"""Mahimahi: a command line of `mm-delay`, `mm-loss` and `mm-link`, or a trace alone.

Grammar, defaults and units are those of its sources (`src/frontend/linkshell.cc`,
`src/packet/*_packet_queue.cc`). Its shell is the client: the downlink is the way from the first end
to the second, the uplink the way back.
"""

from __future__ import annotations

import re
import shlex
from decimal import Decimal, InvalidOperation
from pathlib import Path

from anabranch.convert.link import Converted, Link, Way, no_counterpart, plain, seconds
from anabranch.errors import InputError
from anabranch.files import read_text

PREFIX = "mm-"
"""What the names of Mahimahi's commands begin with."""
INFINITE = "1 GB"
"""Of a queue without a limit, mm-link's default."""
_WAYS = ("uplink", "downlink")
_METERS = ("meter-all", *(f"meter-{way}{what}" for way in _WAYS for what in ("", "-delay")))
_LOGS = ("-u", "-d", *(f"--{way}-log" for way in _WAYS))
_LIMITS = {"packets": "packets", "bytes": "B"}
"""The arguments that say what may wait, with their units."""
_TIMES: dict[str, dict[str, str]] = {
    "droptail": {},
    "codel": {"target": "target", "interval": "interval"},
    "pie": {"qdelay_ref": "target", "max_burst": "burst"},
}
"""The arguments that each queue must have, in milliseconds, and our fields for them."""
_CONSTANTS: dict[str, dict[str, object]] = {
    "pie": {"update": "30 ms", "delay": "rate", "alpha": 7.8125, "beta": 78.125},
}
"""What is fixed in its sources and differs from our defaults. Its PIE multiplies delays in ms by
0.125 and 1.25 and divides by 128, 32 and 16 where RFC 8033 §4.2 divides by 8, 2 and 1: from a
probability of 0.001 on its gains are 62.5 times those of the RFC."""
_LATEST = 2**32 - 1
"""The last millisecond that a trace may have."""


def is_trace(text: str) -> bool:
    """Whether the text is meant to be a trace: it begins with a number."""
    return text.lstrip()[:1].isdecimal()


def trace(text: str, file: str, ends: tuple[str, str]) -> Converted:
    """The link that a trace describes, the same both ways."""
    _check(text, file)
    note = "A trace says nothing of the delay, nor of the queue."
    return Converted([Link(ends, Way(trace=file), Way(trace=file))], "", ends, notes=(note, BESIDE))


BESIDE = "The file of a trace is found from the folder of this scenario."


def _check(text: str, file: str) -> None:
    """Refuses a trace that no run could read."""
    last = 0
    for number, line in enumerate(text.splitlines(), 1):
        place, date = f"{file}: line {number}", line.strip()
        if not re.fullmatch("[0-9]{1,10}", date) or int(date) > _LATEST:
            raise InputError.about(place, "trace", date, "a whole number of milliseconds")
        if int(date) < last:
            raise InputError.about(place, "trace", date, f"{last} or more: dates do not descend")
        last = int(date)
    allowed = "a whole number of milliseconds on each line, the last above 0"
    if not text:
        raise InputError(f"{file}: the file is empty; allowed: {allowed}")
    if not last:
        raise InputError.about(file, "trace", "0", allowed)


def mahimahi(text: str, file: str, ends: tuple[str, str], line: str) -> Converted:
    """The link of commands around each other; the program in the innermost shell is left out."""
    words = shlex.split(text.replace("\\\n", " "), comments=True)
    down, up = Way(queue={"limit": INFINITE}), Way(queue={"limit": INFINITE})
    ways = {"downlink": down, "uplink": up}
    delay = Decimal(0)
    notes: list[str] = []
    while words and words[0].startswith(PREFIX):
        command = words.pop(0)
        if command == "mm-delay":
            delay += _number(_next(words, file, command), file, command) / 1000
        elif command == "mm-loss":
            way = _next(words, file, command)
            if way not in _WAYS:
                raise InputError.about(file, command, way, " or ".join(_WAYS))
            rate = _number(_next(words, file, command), file, command)
            if rate > 1:
                raise InputError.about(file, command, plain(rate), "a probability from 0 to 1")
            ways[way].impairments.append({"kind": "bernoulli", "rate": rate})
        elif command == "mm-link":
            if down.trace is not None:
                instead = "a second link in a row: write both into one scenario"
                raise no_counterpart(file, "command", command, instead)
            _link(words, ways, file)
            notes += [BESIDE, *_checked(ways)]
        else:
            instead = "known are mm-link, mm-delay, mm-loss; see docs/coming-from/mahimahi.md"
            raise no_counterpart(file, "command", command, instead)
    down.delay = up.delay = seconds(delay)
    if down.trace is None:
        notes.append(f"The line is taken to have {line}: --line says another rate.")
    return Converted([Link(ends, down, up)], line, ends, notes=tuple(notes))


def _checked(ways: dict[str, Way]) -> list[str]:
    """Refuses traces that no run could read; names those that are not where mm-link finds them."""
    notes = []
    for name in dict.fromkeys(way.trace for way in ways.values() if way.trace is not None):
        if Path(name).exists():
            _check(read_text(Path(name)), name)
        else:
            notes.append(f"{name} is not here, and was not checked.")
    return notes


def _link(words: list[str], ways: dict[str, Way], file: str) -> None:
    """The traces of mm-link and its options, which may stand before and behind them."""
    traces: list[str] = []
    kinds: dict[str, str] = {}
    arguments: dict[str, str] = {}
    while words and not words[0].startswith(PREFIX):
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("-"):
            if len(traces) == 2:
                break  # the program
            traces.append(word)
            continue
        option, equals, value = word.partition("=")
        way, _, what = option[2:].partition("-")
        if option in _LOGS:
            if not equals:
                _next(words, file, word)
        elif way in _WAYS and what in ("queue", "queue-args"):
            found = kinds if what == "queue" else arguments
            found[way] = value if equals else _next(words, file, word)
        elif option[2:] not in _METERS:
            raise no_counterpart(file, "option of mm-link", word, "a trace repeats from its end")
    if len(traces) < 2:
        raise InputError.about(file, "mm-link", " ".join(traces), "two traces: UPLINK DOWNLINK")
    for name, path in zip(_WAYS, traces, strict=True):
        ways[name].trace = path
        ways[name].queue = _queue(kinds.get(name, "infinite"), arguments.get(name, ""), file)


def _queue(kind: str, arguments: str, file: str) -> dict[str, object]:
    given = [part.strip() for part in arguments.split(",") if part.strip()]
    if kind == "infinite":
        if given:
            raise InputError.about(file, "queue-args", arguments, "none: the queue is infinite")
        return {"limit": INFINITE}
    if kind not in _TIMES:
        instead = f"known are infinite, {', '.join(_TIMES)}; docs/queues.md has more queues"
        raise no_counterpart(file, "queue", kind, instead)
    queue: dict[str, object] = {"kind": kind}
    for each in given:
        name, _, value = each.partition("=")
        if name in _LIMITS and "limit" in queue:
            instead = f"a queue has one limit, as {queue['limit']}"
            raise no_counterpart(file, "queue-args", each, instead)
        if name in _LIMITS:
            queue["limit"] = f"{_positive(value, file, name)} {_LIMITS[name]}"
        elif name in _TIMES[kind]:
            queue[_TIMES[kind][name]] = f"{_positive(value, file, name)} ms"
        else:
            instead = f"known of {kind} are {', '.join((*_LIMITS, *_TIMES[kind]))}"
            raise no_counterpart(file, "queue-args", each, instead)
    needed = [name for name, field in _TIMES[kind].items() if field not in queue]
    needed += [] if "limit" in queue else [" or ".join(_LIMITS)]
    if needed:
        allowed = f"NAME=NUMBER[, ...]: {kind} needs {', '.join(needed)}, too"
        raise InputError.about(file, "queue-args", arguments, allowed)
    return queue | _CONSTANTS.get(kind, {})


def _next(words: list[str], file: str, command: str) -> str:
    if not words:
        raise InputError.about(file, command, "", "a value")
    return words.pop(0)


def _number(word: str, file: str, what: str) -> Decimal:
    try:
        value = Decimal(word)
    except InvalidOperation:
        value = Decimal(-1)
    if not value.is_finite() or value < 0:
        raise InputError.about(file, what, word, "a number of 0 or more")
    return value


def _positive(word: str, file: str, what: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", word) or not int(word):
        raise InputError.about(file, what, word, "a whole number above 0")
    return int(word)
