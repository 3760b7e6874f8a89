"""Rows of results: what an editor completes is what the core gives, under the same names."""

from __future__ import annotations

import dataclasses
import json
import pickle
import types
import typing
from pathlib import Path
from typing import Any

import pytest

import made
from anabranch import Scenario, cache, replay, rows, si, tables
from anabranch.experiment import RunResult
from anabranch.recorded import TABLES
from anabranch.sweep import metrics

EVERYTHING = """
duration = "2 s"
hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }, "c"]
links = [
  { name = "one", ends = ["a.x", "b.x"], rate = "10 Mbit/s", delay = "5 ms" },
  { name = "two", ends = ["a.y", "b.y"], rate = "10 Mbit/s", delay = "5 ms" },
  { name = "three", ends = ["c", "b.x"], rate = "10 Mbit/s", delay = "5 ms" },
]
observe = [{ what = "cwnd" }]

[[flows]]
name = "messages"
from = "a.x"
to = "b.x"
protocol = "sctp"
traffic = { kind = "messages", size = "10 kB", interval = "100 ms", count = 5 }

[[flows]]
name = "plain"
from = "c"
to = "b.x"
size = "100 kB"
"""


@pytest.fixture(scope="module")
def result() -> RunResult:
    """A run with rows of flows, links, paths and messages."""
    return Scenario(EVERYTHING).run(trace_hash=True)


def is_of(value: Any, hint: Any) -> bool:
    """Whether a value is what its field says."""
    if isinstance(hint, types.UnionType):
        return any(is_of(value, each) for each in typing.get_args(hint))
    if typing.get_origin(hint) is list:
        return isinstance(value, list) and all(
            is_of(each, typing.get_args(hint)[0]) for each in value
        )
    return type(value) is hint or (hint is type(None) and value is None)


def test_every_value_is_of_the_type_of_its_field(result: RunResult) -> None:
    seen = {name for name in TABLES if result.rows_of(name)}
    assert {"flows", "links", "paths", "messages"} <= seen
    for row in [*(row for name in seen for row in result.rows_of(name)), result.run]:
        hints = typing.get_type_hints(type(row))
        for field in dataclasses.fields(typing.cast(Any, row)):
            value = getattr(row, field.name)
            assert is_of(value, hints[field.name]), (type(row), field.name, value)


def test_a_row_is_attributes_and_a_mapping_by_the_same_names(result: RunResult) -> None:
    flow = next(flow for flow in result.flows if flow.flow == "plain")
    assert (flow.bytes, flow["bytes"], dict(flow)["bytes"]) == (100_000,) * 3
    assert set(tables.FLOW_COLUMNS) < set(flow)
    with pytest.raises(KeyError, match="goodput"):
        flow["goodput"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        flow.bytes = 0  # type: ignore[misc]


def test_the_completion_time_is_a_column_that_follows_from_two_dates(result: RunResult) -> None:
    flow = next(flow for flow in result.flows if flow.flow == "plain")
    took = flow["finish_s"] - flow["start_s"]
    assert flow.completion_s == flow["completion_s"] == flow.took_s() == took
    assert result.table("flows")["completion_s"].to_pylist()[1] == took
    later = dataclasses.replace(flow, finish_s=flow.start_s + 3.0)
    assert later["completion_s"] == 3.0
    assert "completion_s" in metrics.numeric_columns(rows.Flow)


def test_a_column_whose_name_is_a_word_of_python_has_an_attribute_with_a_line() -> None:
    path = made.row(rows.Path, from_="a.x", to="b.x")
    assert (path.from_, path["from"]) == ("a.x", "a.x")
    assert "from" in rows.Path.columns() and "from_" not in rows.Path.columns()
    assert rows.Path.of(dict(path)) == path


def test_what_is_no_column_is_refused() -> None:
    with pytest.raises(TypeError, match="bandwidth"):
        rows.Memory.of({**made.row(rows.Memory), "bandwidth": 1})


def test_what_packets_a_link_lost_are_those_that_it_did_not_deliver(result: RunResult) -> None:
    for link in result.links:
        assert link.received + link.duplicated == link.delivered + link.dropped + link.queued


def test_rows_survive_other_processes_and_files(result: RunResult, tmp_path: Path) -> None:
    for row in (result.run, *result.flows, *result.paths):
        assert pickle.loads(pickle.dumps(row)) == row
        again = type(row).of(json.loads(json.dumps(row, default=rows.plain)))
        assert again == row
    cache.store_rows(tmp_path / "rows.json", [result])
    stored = cache.load_rows(tmp_path / "rows.json")
    assert stored is not None and stored[0].paths == result.paths


def test_a_transfer_that_did_not_end_took_no_time_that_is_known() -> None:
    flow = made.flow(flow="f", start_s=1.0)
    assert flow.completion_s is None
    with pytest.raises(ValueError, match="a transfer did not end"):
        flow.took_s()


def test_a_capture_has_its_own_facts_and_flows(tmp_path: Path) -> None:
    file = tmp_path / "c.pcapng"
    Scenario(EVERYTHING).run(pcap=file)
    captured = replay(file)
    assert all(isinstance(flow, rows.CapturedFlow) for flow in captured.flows)
    assert list(captured.flows[0])[-3:] == ["packets", "established", "completion_s"]
    assert captured.run.interfaces[0].packets > 0 and not captured.run.cut
    assert captured.table("links").num_rows == 0
    assert si.text(captured.run.end_s, "s", digits=4) in captured._repr_html_()
