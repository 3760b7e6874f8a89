"""The JSON Schema takes what the reader takes, and refuses wrong types, ranges, words and names."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scenario_page
from anabranch import InputError, Scenario, experiment, library
from anabranch.inline import toml
from conftest import Command

ROOT = Path(__file__).parents[1]
SCHEMA = experiment.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").rglob("*.toml")
    if "flows" in (read := tomllib.loads(path.read_text(encoding="utf-8"))) or "topology" in read
)
LIBRARY = sorted(library.ALL.keys() - {"topology-zoo"})  # which needs a file

OF_SHAPE = re.compile(
    r"allowed: (false, or )?(a text in quotes|true or false|a whole number|a number|"
    r"a probability|a time such|a rate such|a list of|a table|no field of this name|"
    r"true, false or a table|lists of code points|code points from)"
)
"""What the reader says of a value that is wrong by itself, whatever stands beside it."""


def faults(document: dict[str, Any]) -> list[str]:
    """Where the schema refuses, and why."""
    return [
        f"{error.json_path}: {error.message[:200]}" for error in VALIDATOR.iter_errors(document)
    ]


def refusal(document: dict[str, Any]) -> str:
    """What the reader says against it; empty where it takes it."""
    text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in document.items())
    try:
        Scenario(text).resolved()
    except InputError as error:
        return str(error)
    return ""


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    # Names stand in references, which are URIs: taplo refuses a schema with others.
    assert all(re.fullmatch(r"[\w-]+", name) for name in SCHEMA["$defs"])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_is_valid_as_written_and_resolved(path: Path) -> None:
    assert faults(tomllib.loads(path.read_text(encoding="utf-8"))) == []
    assert faults(tomllib.loads(Scenario.load(path).resolved())) == []


@pytest.mark.parametrize("name", LIBRARY)
def test_every_scenario_of_the_library_is_valid(name: str) -> None:
    scenario = library.load(f"library:{name}")
    assert faults(tomllib.loads(scenario.toml())) == []
    assert faults(tomllib.loads(scenario.resolved())) == []


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values within a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*path, key)
        if isinstance(each, (dict, list)):
            yield from places(each, (*path, key))


RICH = [
    ROOT / "examples" / name
    for name in (
        "abr.toml",
        "dual-stack.toml",
        "fast-open.toml",
        "growing-buffer.toml",
        "mptcp-middlebox.toml",
        "queues.toml",
        "sctp-handover.toml",
        "sctp-priorities.toml",
        "satellite.toml",
        "web.toml",
        "attacks/syn-flood.toml",
    )
]
DOCUMENTS = [
    document
    for path in RICH
    for document in (
        tomllib.loads(path.read_text(encoding="utf-8")),
        tomllib.loads(Scenario.load(path).resolved()),
    )
]
VALUES: list[Any] = [
    True, False, -1, 0, 7, 255, 256, 65536, 10**12, 1.5, -0.5, "zqx", "", "1 ms", "3 packets",
    "2 kB", "1 Mbit/s", "5 parsecs", [], ["a"], [[1]], {}, {"zqx": 1},
]  # fmt: skip


@given(st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_reader_refuses_by_its_shape_the_schema_refuses(data: st.DataObject) -> None:
    document = copy.deepcopy(data.draw(st.sampled_from(DOCUMENTS)))
    *path, last = data.draw(st.sampled_from(list(places(document))))
    table = document
    for key in path:
        table = table[key]
    if isinstance(table, dict) and data.draw(st.booleans()):
        table["zqx"] = 1
    else:
        table[last] = data.draw(st.sampled_from(VALUES))
    said, found = refusal(document), faults(document)
    if not said:
        assert found == [], f"the schema refuses what the reader takes, at {path} {last}"
    elif OF_SHAPE.search(said) and "is required" not in said:  # another field may say it
        assert found != [], f"the schema takes what the reader refuses: {said}"


RELATIVE: dict[tuple[str, str, float], str] = {
    ("tcp", "max_dupack_threshold", 1): "3 to 1000 (dupack_threshold at least)",
    ("sctp", "potentially_failed", 1_000_000): "0 to 5 (path_max_retrans)",
}
"""Ends of ranges that another field leaves out."""


def bounds(protocol: str) -> Iterator[tuple[str, float]]:
    """The fields of a protocol's table that are numbers, with both ends of their ranges."""
    for table in scenario_page.resolve(SCHEMA, f"flows.{protocol}"):
        for name, value in table["properties"].items():
            for kind in [value, *value.get("anyOf", ())]:
                if kind.get("type") in ("integer", "number"):
                    number = float if kind["type"] == "number" else int
                    ends = (kind[end] for end in ("minimum", "maximum") if end in kind)
                    yield from ((name, number(end)) for end in ends)


@pytest.mark.parametrize("protocol", ["tcp", "sctp", "mptcp"])
def test_the_engine_takes_both_ends_of_every_range(protocol: str) -> None:
    """The ranges are the engine's; what fields must be together leaves out few of their ends.

    That engines refuse what is outside by themselves is held in crates/scenario/src/schema.
    """
    document = tomllib.loads((ROOT / "examples" / "two-hosts.toml").read_text(encoding="utf-8"))
    found = list(bounds(protocol))
    assert found
    for name, end in found:
        document["flows"][0] |= {"protocol": protocol, protocol: {name: end}}
        said, expected = refusal(document), RELATIVE.get((protocol, name, end), "")
        assert (expected in said) if expected else not said, f"{name} = {end}: {said}"


LINK: dict[str, Any] = {"ends": ["a", "b"], "rate": "1 Mbit/s", "delay": "1 ms"}
FLOW: dict[str, Any] = {"name": "f", "from": "a", "to": "b", "size": "1 MB"}
JITTER = {"kind": "jitter", "mean": "1 ms", "correlation": 1.0}
BESIDE_RANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ip-header": ({}, {"protocol": "sctp", "sctp": {"ip_header": 30}}),
    "receive-window": ({}, {"tcp": {"initial_receive_window": 0.0}}),
    "pie": ({"queue": {"kind": "pie", "alpha": -1.0}}, {}),
    "pi2": ({"queue": {"kind": "pi2", "beta": 1001.0}}, {}),
    "dualpi2": ({"queue": {"kind": "dualpi2", "coupling": 0.5}}, {}),
    "jitter": ({"impairments": [JITTER]}, {}),
    "pareto": ({}, {"size": None, "sizes": {"law": "pareto", "mean": "1 kB", "shape": 0.0}}),
    "arrivals": ({}, {"count": 2, "arrivals": {"per_second": 0.0}}),
}
"""Numbers that the reader refuses by themselves, of a link and of a flow."""


@pytest.mark.parametrize("case", BESIDE_RANGES)
def test_numbers_that_are_refused_by_themselves_are_marked(case: str) -> None:
    link, flow = BESIDE_RANGES[case]
    document = {"duration": "1 s", "hosts": ["a", "b"], "links": [LINK], "flows": [FLOW]}
    assert refusal(document) == "" and faults(document) == []
    changed = {name: value for name, value in {**FLOW, **flow}.items() if value is not None}
    document |= {"links": [{**LINK, **link}], "flows": [changed]}
    assert refusal(document) and faults(document)


def test_an_unknown_field_is_refused_where_it_stands() -> None:
    document = tomllib.loads((ROOT / "examples" / "two-hosts.toml").read_text(encoding="utf-8"))
    document["flows"][0]["tcp"] = {"syn_retrys": 3}
    assert any("syn_retrys" in fault and "flows[0].tcp" in fault for fault in faults(document))


def test_the_command_writes_it(anabranch: Command, tmp_path: Path) -> None:
    assert json.loads(anabranch("schema").stdout) == SCHEMA
    anabranch("schema", "--out", str(tmp_path / "scenario.json"))
    assert json.loads((tmp_path / "scenario.json").read_text(encoding="utf-8")) == SCHEMA


def test_the_page_of_scenarios_has_the_fields_of_the_schema() -> None:
    text = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    assert scenario_page.page(text, SCHEMA) == text, "run `make scenario-docs`"
