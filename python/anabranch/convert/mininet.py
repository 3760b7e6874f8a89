"""Mininet's links: `addLink(h1, s1, bw=10, delay='5ms', loss=1, max_queue_size=100, jitter='1ms')`
in a Python file, or the parameters alone.

As in Mininet's `TCLink` both directions have what is said, unless `params1` and `params2` say it of
each end: `bw` in Mbit/s, `delay` and `jitter` as tc has them, `loss` in per cent,
`max_queue_size` in packets. The file is read, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from anabranch.convert.link import Converted, Link, Way, bits, no_counterpart, seconds, share
from anabranch.convert.traffic_control import time
from anabranch.errors import InputError

PARAMETERS = ("bw", "delay", "jitter", "loss", "max_queue_size")
_SHAPERS = ("use_htb", "use_hfsc", "use_tbf")
"""All give `bw`; which of them does is of no account here."""
_IGNORED = ("cls", "port1", "port2", "intfName1", "intfName2", "addr1", "addr2", "link", "intf")
_QUEUE = 1000
"""Packets that wait where `max_queue_size` is not said."""


def mininet(text: str, file: str, ends: tuple[str, str], line: str) -> Converted:
    """The links of a file, with hosts and switches where it names them."""
    calls = list(_calls(text, file))
    names = {id(call): _called(call) for call in calls}
    constants = _constants(ast.parse(_source(text)))
    links = [
        _link(call, f"{file}: line {call.lineno}", ends, constants)
        for call in calls
        if names[id(call)] in ("addLink", "link")
    ]
    if not links:
        allowed = f"addLink(...), or link parameters: {', '.join(PARAMETERS)}"
        raise InputError.about(file, "link", text.strip()[:60], allowed)

    def named(kind: str) -> list[str]:
        made = (call for call in calls if names[id(call)] == kind and call.args)
        return [_node(call.args[0], f"{file}: line {call.lineno}") for call in made]

    notes = []
    if any(link.there.rate is None for link in links):
        notes.append(f"Links without bw are taken to have {line}: --line says another rate.")
    hosts = named("addHost")
    if not hosts and all(link.ends == ends for link in links):
        hosts = list(ends)
    return Converted(links, line, hosts, named("addSwitch"), tuple(notes))


def _source(text: str) -> str:
    """Python: parameters alone are those of one link."""
    bare = text.strip().removeprefix("link ").strip()
    is_call = "addLink" in text or "\n" in bare
    return text if is_call else f"link({bare})"


def _calls(text: str, file: str) -> Iterator[ast.Call]:
    try:
        tree = ast.parse(_source(text))
    except SyntaxError as error:
        allowed = "Mininet's Python, or link parameters as bw=10, delay='5ms'"
        where = f"{file}: line {error.lineno}"
        raise InputError.about(where, "link", (error.text or "").strip(), allowed) from error
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    yield from sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _constants(tree: ast.Module) -> dict[str, Any]:
    """Names that are given a literal, or `dict(...)` of literals, once."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = _value(node.value, found)
            except ValueError:
                continue
    return found


def _value(node: ast.expr, constants: dict[str, Any]) -> Any:
    """The value of a literal, a known name, or a dictionary of those; else a `ValueError`."""
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    if isinstance(node, ast.Call) and _called(node) == "dict" and not node.args:
        return {each.arg: _value(each.value, constants) for each in node.keywords}
    if isinstance(node, ast.Dict):
        keys = [_value(key, constants) for key in node.keys if key is not None]
        return dict(zip(keys, (_value(each, constants) for each in node.values), strict=True))
    return ast.literal_eval(node)


def _node(node: ast.expr, place: str) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    allowed = "a name: loops and expressions are not run; write the links out"
    raise InputError.about(place, "node", ast.unparse(node), allowed)


def _link(call: ast.Call, place: str, ends: tuple[str, str], constants: dict[str, Any]) -> Link:
    if len(call.args) >= 2:
        ends = (_node(call.args[0], place), _node(call.args[1], place))
    elif call.args:
        allowed = "addLink(NODE, NODE, ...), or parameters alone, as bw=10, delay='5ms'"
        raise InputError.about(place, "link", ast.unparse(call.args[0]), allowed)
    said: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg in _IGNORED:
            continue
        try:
            value = _value(keyword.value, constants)
        except ValueError as error:
            allowed = "a literal, or a name that is given one: nothing is run"
            field = keyword.arg or "**"
            raise InputError.about(place, field, ast.unparse(keyword.value), allowed) from error
        said |= value if keyword.arg is None else {keyword.arg: value}
    each = [said | said.get(name, {}) for name in ("params1", "params2")]
    there, back = (_way(one, place) for one in each)
    return Link(ends, there, back)


def _way(said: dict[str, Any], place: str) -> Way:
    for name, value in said.items():
        if name in ("enable_ecn", "enable_red") and value:
            instead = 'a queue of kind "red", see docs/queues.md'
            raise no_counterpart(place, name, str(value), instead)
        if name not in (*PARAMETERS, *_SHAPERS, *_IGNORED, "params1", "params2", "enable_ecn",
                        "enable_red", "speedup", "gro", "txo", "rxo"):  # fmt: skip
            instead = f"known are {', '.join(PARAMETERS)}"
            raise no_counterpart(place, name, str(value), instead)
    way = Way()
    if said.get("bw") is not None:
        way.rate = bits(_number(said, "bw", place) * 10**6)
    delay = _time(said, "delay", place)
    if jitter := _time(said, "jitter", place):
        spread = {"kind": "jitter", "mean": seconds(delay), "deviation": seconds(jitter)}
        way.impairments.append(spread)
        delay = Decimal(0)
    way.delay = seconds(delay)
    if loss := (_number(said, "loss", place) if said.get("loss") else None):
        if loss > 100:
            raise InputError.about(place, "loss", str(loss), "a percentage from 0 to 100")
        way.impairments.append({"kind": "bernoulli", "rate": share(loss)})
    limit = _number(said, "max_queue_size", place) if said.get("max_queue_size") else _QUEUE
    way.queue = {"kind": "droptail", "limit": f"{int(limit)} packets"}
    return way


def _number(said: dict[str, Any], name: str, place: str) -> Decimal:
    value = said[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        unit = {"bw": "Mbit/s", "loss": "per cent"}.get(name, "packets")
        raise InputError.about(place, name, repr(value), f"a number ({unit}), at least 0")
    return Decimal(str(value))


def _time(said: dict[str, Any], name: str, place: str) -> Decimal:
    value = said.get(name)
    if not value:
        return Decimal(0)
    found = time(str(value))
    if found is None:
        raise InputError.about(place, name, repr(value), "a time, as '5ms'")
    return found
