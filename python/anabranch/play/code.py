"""The scenario as it stands, to take away: as TOML, and as a program in Python."""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator
from typing import Any

import tomli_w

from anabranch.play.document import Table

OBSERVED = ("cwnd", "queue")
"""What a program observes where the scenario says nothing."""
WIDTH = 88
"""Columns after which a call is broken into lines."""


def as_toml(document: Table) -> str:
    """The scenario as a file: only what is not left to its default."""
    return tomli_w.dumps(document)


def as_python(document: Table) -> str:
    """A program that builds the same scenario with `Network`, and runs it."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Table) -> Iterator[str]:
    yield "from anabranch import Network"
    yield ""
    top = {
        key: value
        for key, value in document.items()
        if key not in ("name", "hosts", "routers", "links", "flows", "observe")
    }
    yield call("net = Network", [document.get("name", "")], top)
    for host in document.get("hosts", ()):
        yield _node("host", host)
    for router in document.get("routers", ()):
        yield _node("router", router)
    for link in document.get("links", ()):
        yield call("net.link", link["ends"], _without(link, "ends"))
    for flow in document.get("flows", ()):
        if "pattern" in flow:
            yield call("net.lines", [], flow)
        else:
            ends = [flow["from"], flow["to"]]
            yield call("net.flow", ends, _without(flow, "from", "to"))
    observed = document.get("observe") or [{"what": what} for what in OBSERVED]
    for entry in observed:
        yield call("net.observe", [entry["what"]], _without(entry, "what"))
    yield ""
    yield "result = net.scenario().run()"
    yield "for flow in result.flows:"
    yield '    print(flow.flow, f"{flow.goodput_bps / 1e6:.2f} Mbit/s")'


def _without(table: Table, *names: str) -> Table:
    return {key: value for key, value in table.items() if key not in names}


def _node(kind: str, node: Any) -> str:
    if isinstance(node, str):
        return call(f"net.{kind}", [node], {})
    return call(f"net.{kind}", [node["name"]], _without(node, "name"))


def call(function: str, positional: list[Any], named: Table) -> str:
    """The text of a call: in one line, or with a line for each argument."""
    plain = {key: value for key, value in named.items() if _is_name(key)}
    other = _without(named, *plain)
    arguments = [("", each) for each in positional]
    arguments += [(f"{key}=", value) for key, value in plain.items()]
    arguments += [("**", other)] * bool(other)
    line = f"{function}({', '.join(name + _shown(value) for name, value in arguments)})"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {name}{_broken(value, 4 + len(name))},\n" for name, value in arguments)
    return f"{function}(\n{inner})"


def _broken(value: Any, column: int) -> str:
    """As a program has it from a column on: a table that does not fit has a line for each key."""
    line = _shown(value)
    if column + len(line) < WIDTH or not isinstance(value, dict):
        return line
    inner = "".join(f"        {_shown(key)}: {_shown(each)},\n" for key, each in value.items())
    return f"{{\n{inner}    }}"


def _is_name(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key)


def _shown(value: Any) -> str:
    """As a program has it, texts in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_shown(key)}: {_shown(each)}" for key, each in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(value)
