"""The tables of fields in docs/scenario.md, from the JSON Schema that the core declares.

    python tests/scenario_page.py docs/scenario.md      writes them anew

A table stands between `<!-- fields: PLACE -->` and `<!-- end of fields -->`; the rest of the page
is written by hand. PLACE is a path of the schema with dots, such as `flows.tcp`, or for one kind of
table `flows.traffic=messages`. After it stands how tables that have kinds are shown: `by kind`, a
row for each kind, or `of kinds`, a row for each field with the kinds that have it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

TABLE = re.compile(
    r"(<!-- fields: ([\w.=-]+)( by kind| of kinds)? -->\n).*?(<!-- end of fields -->)", re.DOTALL
)


def page(text: str, schema: Schema) -> str:
    """The page with its tables as the schema has them."""

    def table(found: re.Match[str]) -> str:
        place = resolve(schema, found[2])
        rows = {"": fields, " by kind": by_kind, " of kinds": of_kinds}[found[3] or ""]
        return f"{found[1]}\n{rows(schema, place)}\n{found[4]}"

    return TABLE.sub(table, text)


def resolve(schema: Schema, path: str) -> list[Schema]:
    """The tables that may stand at the path: one, or one for each kind."""
    found = [schema]
    for step in path.split(".") if path != "scenario" else ():
        name, _, of = step.partition("=")
        found = [each["properties"][name] for each in found if name in each.get("properties", {})]
        found = [table for each in found for table in tables(schema, each)]
        found = [table for table in found if not of or kind(table)[1] == of]
    return found


def tables(schema: Schema, value: Schema) -> Iterator[Schema]:
    """The tables among what a value may be."""
    if "$ref" in value:
        yield from tables(schema, schema["$defs"][value["$ref"].rsplit("/", 1)[1]])
    elif "anyOf" in value:
        for each in value["anyOf"]:
            yield from tables(schema, each)
    elif "items" in value:
        yield from tables(schema, value["items"])
    elif "properties" in value and value["additionalProperties"] is False:
        yield value


def shown(value: Any) -> str:
    """A value as TOML has it, in backticks but for plain words and numbers."""
    plain = toml(value)
    return plain if isinstance(value, (bool, int, float)) else f"`{plain}`"


def toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}".replace("e-0", "e-")
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + " }"
    return str(value)


def default(table: Schema, name: str) -> str:
    """What an absent field means."""
    if name in table["required"]:
        return "required"
    field = table["properties"][name]
    return field["x-default"] if "x-default" in field else shown(field["default"])


def says(field: Schema) -> str:
    """The sentence of a field, with its links."""
    return str(field.get("markdownDescription", field.get("description", "")))


def cells(*columns: str) -> str:
    return "| " + " | ".join(columns) + " |"


def header(*columns: str) -> list[str]:
    return [cells(*columns), "|" + "---|" * len(columns)]


def fields(_schema: Schema, place: list[Schema]) -> str:
    """A row for each field; those that follow each other with one sentence share theirs."""
    lines = header("field", "default", "meaning")
    groups: list[tuple[str, list[str], list[str]]] = []
    for table in place:
        for name, field in table["properties"].items():
            if groups and groups[-1][0] == says(field):
                groups[-1][1].append(f"`{name}`")
                groups[-1][2].append(default(table, name))
            else:
                groups.append((says(field), [f"`{name}`"], [default(table, name)]))
    for sentence, names, values in groups:
        alike = values[:1] if len(set(values)) == 1 else values
        lines.append(cells(", ".join(names), ", ".join(alike), sentence))
    return "\n".join(lines) + "\n"


def kind(table: Schema) -> tuple[str, str, str]:
    """The field that names the kind of a table, the kind, and its sentence."""
    for name, field in table["properties"].items():
        if "const" in field:
            return name, field["const"], says(field)
    raise ValueError(f"no kind among {list(table['properties'])}")


def by_kind(_schema: Schema, place: list[Schema]) -> str:
    """A row for each kind with all its fields."""
    key, _, _ = kind(place[0])
    lines = header(f"`{key}`", "fields", "meaning")
    common = set.intersection(*(set(table["properties"]) for table in place))
    for table in place:
        _, name, sentence = kind(table)
        own = []
        for field, value in table["properties"].items():
            if field not in common or (field != key and len(place) == 1):
                given = default(table, field)
                told = "" if given == "required" else f" ({given})"
                own.append(f"`{field}`{told}: {says(value)}")
        lines.append(cells(f"`{name}`", "; ".join(own), sentence))
    for field in place[0]["properties"]:
        if field in common and field != key:
            value = place[0]["properties"][field]
            lines.append(cells("all", f"`{field}` ({default(place[0], field)}): {says(value)}", ""))
    return "\n".join(lines) + "\n"


def of_kinds(_schema: Schema, place: list[Schema]) -> str:
    """A row for each field with the kinds that have it, so and not otherwise."""
    key, _, _ = kind(place[0])
    lines = header("field", "default", f"of `{key}`", "meaning")
    rows: dict[tuple[str, str, str], list[str]] = {}
    for table in place:
        for name, field in table["properties"].items():
            if name != key:
                row = (name, default(table, name), says(field))
                rows.setdefault(row, []).append(f"`{kind(table)[1]}`")
    names = [f"`{kind(table)[1]}`" for table in place]
    for (name, value, sentence), of in rows.items():
        lacking = [each for each in names if each not in of]
        told = ", ".join(of)
        if not lacking:
            told = "all"
        elif len(lacking) < len(of):
            told = "all but " + ", ".join(lacking)
        lines.append(cells(f"`{name}`", value, told, sentence))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from anabranch import experiment

    path = Path(sys.argv[1])
    path.write_text(page(path.read_text(encoding="utf-8"), experiment.schema()), encoding="utf-8")
