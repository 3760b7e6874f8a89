"""Mahimahi: a command line of `mm-delay`, `mm-loss` and `mm-link`, or a trace alone.

Grammar and defaults are those of its own help. Its shell is the client: the downlink is the way
from the first end to the second, the uplink the way back.
"""

from __future__ import annotations

import shlex
from decimal import Decimal, InvalidOperation

from anabranch.convert.link import Converted, Link, Way, no_counterpart, plain, seconds
from anabranch.errors import InputError

PREFIX = "mm-"
"""What the names of Mahimahi's commands begin with."""
INFINITE = "1 GB"
"""Of a queue without a limit, mm-link's default."""
_WAYS = ("uplink", "downlink")
_IGNORED = ("log", "meter-all", *(f"meter-{way}{what}" for way in _WAYS for what in ("", "-delay")))
_QUEUES = {
    "droptail": {"packets": "packets", "bytes": "B"},
    "codel": {"packets": "packets", "target": "ms", "interval": "ms"},
    "pie": {"packets": "packets", "qdelay_ref": "ms", "max_burst": "ms"},
}
"""The arguments of each queue, with their units."""
_FIELDS = {"packets": "limit", "bytes": "limit", "qdelay_ref": "target", "max_burst": "burst"}
"""Fields of ours for arguments that have another name."""


def is_trace(text: str) -> bool:
    """Whether the text is a trace: a millisecond on each line."""
    return all(line.strip().isdecimal() for line in text.splitlines())


def trace(file: str, ends: tuple[str, str]) -> Converted:
    """The link that a trace describes, the same both ways."""
    note = "A trace says nothing of the delay, nor of the queue."
    return Converted([Link(ends, Way(trace=file), Way(trace=file))], "", ends, notes=(note, BESIDE))


BESIDE = "The file of a trace is found from the folder of this scenario."


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
            notes.append(BESIDE)
        else:
            instead = "known are mm-link, mm-delay, mm-loss; see docs/coming-from/mahimahi.md"
            raise no_counterpart(file, "command", command, instead)
    down.delay = up.delay = seconds(delay)
    if down.trace is None:
        notes.append(f"The line is taken to have {line}: --line says another rate.")
    return Converted([Link(ends, down, up)], line, ends, notes=tuple(notes))


def _link(words: list[str], ways: dict[str, Way], file: str) -> None:
    """The traces of mm-link and its options, which may stand before and behind them."""
    traces: list[str] = []
    kinds: dict[str, str] = {}
    arguments: dict[str, str] = {}
    while words and not words[0].startswith(PREFIX):
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("--"):
            if len(traces) == 2:
                break  # the program
            traces.append(word)
            continue
        option, equals, value = word[2:].partition("=")
        way, _, what = option.partition("-")
        if option in _IGNORED or (way in _WAYS and what == "log"):
            if what == "log" and not equals:
                _next(words, file, word)
        elif way in _WAYS and what in ("queue", "queue-args"):
            found = kinds if what == "queue" else arguments
            found[way] = value if equals else _next(words, file, word)
        else:
            raise no_counterpart(file, "option of mm-link", word, "a trace repeats from its end")
    if len(traces) < 2:
        raise InputError.about(file, "mm-link", " ".join(traces), "two traces: UPLINK DOWNLINK")
    for name, path in zip(_WAYS, traces, strict=True):
        ways[name].trace = path
        ways[name].queue = _queue(kinds.get(name, "infinite"), arguments.get(name, ""), file)


def _queue(kind: str, arguments: str, file: str) -> dict[str, object]:
    if kind == "infinite":
        return {"limit": INFINITE}
    if kind not in _QUEUES:
        instead = f"known are infinite, {', '.join(_QUEUES)}; docs/queues.md has more queues"
        raise no_counterpart(file, "queue", kind, instead)
    queue: dict[str, object] = {"kind": kind}
    for each in filter(None, (part.strip() for part in arguments.split(","))):
        name, _, value = each.partition("=")
        if name not in _QUEUES[kind]:
            instead = f"known of {kind} are {', '.join(_QUEUES[kind])}"
            raise no_counterpart(file, "queue-args", each, instead)
        number = plain(_number(value, file, name))
        queue[_FIELDS.get(name, name)] = f"{number} {_QUEUES[kind][name]}"
    if "limit" not in queue:
        allowed = f"packets=N{' or bytes=N' if kind == 'droptail' else ''}: {kind} needs it"
        raise InputError.about(file, "queue-args", arguments, allowed)
    return queue


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
