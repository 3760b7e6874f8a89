"""python/anabranch/settings.py, the typed tables of a scenario, from the JSON Schema of the core.

    python tests/settings_page.py python/anabranch/settings.py      writes it anew

An editor completes what is in a file, so the types cannot be made when they are imported. Which
tables have a type, its name and its sentence stand here; the fields, their words and their kinds of
values are the schema's, and so is every kind of queue.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import scenario_page

Schema = dict[str, Any]


class Table(NamedTuple):
    """A table with a type: its class, where it stands in the schema, its sentence."""

    name: str
    place: str
    says: str


TCP = (
    Table("DelayedAck", "flows.tcp.delayed_ack", "`tcp.delayed_ack`: which ACKs wait, how long."),
    Table("TcpRto", "flows.tcp.rto", "`tcp.rto`: bounds of the timeout (RFC 6298)."),
    Table("KeepAlive", "flows.tcp.keep_alive", "`tcp.keep_alive`: probes of idle connections."),
    Table("FastOpen", "flows.tcp.fast_open", "`tcp.fast_open`: TCP Fast Open (RFC 7413)."),
    Table("Undo", "flows.tcp.undo", "`tcp.undo`: what undoes spurious reductions of the window."),
    Table("Tcp", "flows.tcp", "`tcp`: the options of TCP, also of subflows of Multipath TCP."),
)
MPTCP = (Table("Mptcp", "flows.mptcp", "`mptcp`: the options beside those of its subflows."),)
SCTP = (
    Table("Rto", "flows.sctp.rto", "`sctp.rto`: bounds of the timeout (RFC 9260 §6.3.1)."),
    Table("ImmediateSacks", "flows.sctp.immediate_sacks", "`sctp.immediate_sacks` (RFC 7053)."),
    Table("Probing", "flows.sctp.probing", "`sctp.probing`: heartbeats to the alternates."),
    Table("SctpUndo", "flows.sctp.undo", "`sctp.undo`: what undoes spurious reductions."),
    Table("Concurrent", "flows.sctp.concurrent", "`sctp.concurrent`: data on all paths at once."),
    Table("Sctp", "flows.sctp", "`sctp`: the options of SCTP."),
)
HTB_CLASS = Table("HtbClass", "links.queue=htb.classes", "A class of a queue of kind `htb`.")
LINKS = (
    Table("Reverse", "links.reverse", "`links.reverse`: what differs on the way back."),
    Table("Link", "links", "A link: an entry of `links`."),
)
SPELT = {"droptail": "DropTail", "codel": "CoDel", "fq-codel": "FqCoDel", "dualpi2": "DualPi2"}
"""The classes of queues that are not spelt as their kind is."""

ALIASES = {"dscp": "Dscp", "queue": "Queue", "leaf_queue": "Toml", "window": "Algorithm"}
"""What stands for the definitions of the schema."""

BEGIN = '''"""The tables of a scenario as typed dictionaries: an editor completes `tcp={...}`.

What each field means and its default: docs/scenario.md. Quantities are texts with units. The core
reads and checks the tables; these types tell an editor which names there are and what kind of value
each takes. Tables that are not here (window algorithms, recovery schemes, impairments, traffic) are
taken as any mapping.

`make settings` writes this file from what the core declares (tests/settings_page.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

Toml = Mapping[str, Any]
"""A table of which no type is here, as `tomllib` reads it."""

Algorithm = str | Toml | type
"""An algorithm by its name, with its options, or a class of the user's own."""

Dscp = int | str
"""A code point of differentiated services, by its number or its name."""
'''

WIDTH = 100


def queues(schema: Schema) -> list[Table]:
    """The kinds of queues."""
    found = []
    for table in scenario_page.resolve(schema, "links.queue"):
        _, kind, says = scenario_page.kind(table)
        name = SPELT.get(kind, "".join(part.capitalize() for part in kind.split("-")))
        found.append(Table(name, f"links.queue={kind}", f"`{kind}`: {says}."))
    return found


def tables(schema: Schema) -> list[Table]:
    """All tables that have a type."""
    return [*TCP, *MPTCP, *SCTP, HTB_CLASS, *queues(schema), *LINKS]


def page(schema: Schema) -> str:
    """The file."""
    parts = [BEGIN]
    known = {table.place: table.name for table in tables(schema)}
    for table in tables(schema):
        parts.append("\n\n" + written(schema, table, known))
        if table == queues(schema)[-1]:
            kinds = " | ".join([*(queue.name for queue in queues(schema)), "Toml"])
            parts.append(f"\n\nQueue = {kinds}\n")
            parts.append('"""The field `queue` of a link, also as a table that was computed."""\n')
    return formatted("".join(parts))


def formatted(code: str) -> str:
    """The code in the shape that `make lint` asks for."""
    ruff = [sys.executable, "-m", "ruff", "format", "--line-length", str(WIDTH), "-"]
    return subprocess.run(ruff, input=code, capture_output=True, text=True, check=True).stdout


def written(schema: Schema, table: Table, known: dict[str, str]) -> str:
    """The class of a table: the fields that must be there first, then by name."""
    (found,) = scenario_page.resolve(schema, table.place)
    required = found["required"]
    lines = [f"class {table.name}(TypedDict, total=False):"]
    lines += [*sentence(table.says), ""]
    for name in sorted(found["properties"], key=lambda name: (name not in required, name)):
        hint = hint_of(schema, found["properties"][name], f"{table.place}.{name}", known)
        lines.append(f"    {name}: " + (f"Required[{hint}]" if name in required else hint))
    return "\n".join(lines) + "\n"


def sentence(says: str) -> list[str]:
    """A docstring, on as many lines as it takes."""
    if len(says) <= WIDTH - len('    """"""'):
        return [f'    """{says}"""']
    head, _, rest = says.partition(": ")
    lines = textwrap.wrap(rest[0].upper() + rest[1:], WIDTH - len("    "))
    return [f'    """{head}.', "", *(f"    {line}" for line in lines), '    """']


def hint_of(schema: Schema, value: Schema, place: str, known: dict[str, str]) -> str:
    """The type of the values of a field."""
    words: list[str] = []
    types: list[str] = []
    own = False
    for each in alternatives(schema, value):
        if isinstance(each, str):
            types.append(each)
        elif "enum" in each or "const" in each:
            words += [literal(word) for word in each.get("enum", [each.get("const")])]
            types.append(WORDS)
        elif each["type"] == "array":
            items = each.get("prefixItems", [each.get("items")])
            kinds = dict.fromkeys(hint_of(schema, item, place, known) for item in items)
            types.append(f"Sequence[{' | '.join(kinds)}]")
        elif each["type"] == "object":
            own |= each.get("additionalProperties") is True
            types.append(known.get(place, "Toml"))
        else:
            types.append(PLAIN[each["type"]])
    if "Algorithm" in types or (own and "str" in types):
        return "Algorithm"
    if "str" in types:
        words = [word for word in words if not word.startswith('"')]
    told = f"Literal[{', '.join(dict.fromkeys(words))}]"
    told_types = [told if each == WORDS else each for each in types if words or each != WORDS]
    return " | ".join(dict.fromkeys(told_types))


WORDS = "words"
"""The place of the words among the types of a field."""

PLAIN = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}


def literal(word: Any) -> str:
    return f'"{word}"' if isinstance(word, str) else repr(word)


def alternatives(schema: Schema, value: Schema) -> Iterator[Schema | str]:
    """What a value may be, one by one; a definition that has a name here as its name."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        if name in ALIASES:
            yield ALIASES[name]
        else:
            yield from alternatives(schema, schema["$defs"][name])
    elif "anyOf" in value and value.get("type") != "object":
        for each in value["anyOf"]:
            yield from alternatives(schema, each)
    else:
        yield value


if __name__ == "__main__":
    from anabranch import experiment

    Path(sys.argv[1]).write_text(page(experiment.schema()), encoding="utf-8")
