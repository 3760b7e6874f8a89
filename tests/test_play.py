"""The playground without a browser: who may ask, what can be turned, what bounds a run."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import math
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch import InputError
from anabranch.play import code
from anabranch.play.controls import turn
from anabranch.play.controls.control import Choices, Control, Range
from anabranch.play.document import names, opened, opened_file
from anabranch.play.journeys import ARRIVED, LOST, UNKNOWN, fate
from anabranch.play.limits import LONGEST_S, MOST_PACKETS
from anabranch.play.picture import Network, picture
from anabranch.play.pool import Pool, Replaced
from anabranch.play.running import answer
from anabranch.play.series import _largest
from anabranch.settings import Cake
from conftest import Command
from playground import Server, server

ROOT = Path(__file__).parents[1]
DUMBBELL = ROOT / "examples" / "dumbbell.toml"
LAB = [name for name in names() if name.startswith("lab:")]
SHORT = [name for name in names() if name.startswith("lab:")] + [
    "library:dumbbell",
    "library:fat-tree",
    "library:incast",
    "library:parking-lot",
    "library:web",
]


@pytest.fixture(scope="module")
def played() -> Iterator[Server]:
    yield from server(str(DUMBBELL))


# Who may ask.


def test_the_address_is_of_loopback_and_has_a_random_token(played: Server) -> None:
    assert played.address.startswith("http://127.0.0.1:")
    assert len(played.path.strip("/")) >= 24


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "example.com"}, 403),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Host": "example.com:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "http://example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_only_its_own_pages_are_answered(
    played: Server, headers: dict[str, str], status: int
) -> None:
    given = {key: value.format(port=played.port) for key, value in headers.items()}
    assert played.ask("GET", played.path, headers=given)[0] == status


@pytest.mark.parametrize("path", ["/", "/x/", "/api/about", "//", "/../", "/%2e%2e/x"])
def test_without_the_token_there_is_nothing(played: Server, path: str) -> None:
    assert played.ask("GET", path)[0] == 404


def test_a_lost_slash_is_found(played: Server) -> None:
    status, headers, _body = played.ask("GET", played.path.rstrip("/"))
    assert status == 307 and headers["location"] == played.path


def test_nothing_but_its_own_files_is_served(played: Server) -> None:
    for name in ("main.js", "play.css", "uPlot.iife.min.js", "standalone.module.js"):
        status, headers, body = played.ask("GET", played.path + name)
        assert status == 200 and body
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
    for name in ("../server.py", "%2e%2e/server.py", "preact", "LICENSE", "main.js/..", "a/b"):
        assert played.ask("GET", played.path + name)[0] == 404


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (b"{}", "text/plain", "content-type"),
        (b"{", "application/json", "JSON"),
        (b"[]", "application/json", "object"),
        (b'{"a":' + b"[" * 20_000, "application/json", "JSON"),
        (b"\xff\xfe", "application/json", "JSON"),
        (b" " * 70_000, "application/json", "octets"),
    ],
)
def test_what_is_no_request_is_refused(played: Server, body: bytes, kind: str, told: str) -> None:
    path = f"{played.path}api/run"
    status, _headers, found = played.ask("POST", path, body, {"content-type": kind})
    assert status == 400
    assert told in json.loads(found)["errors"][0]["message"]
    assert played.ask("POST", f"{played.path}api/other", b"{}")[0] == 404


@pytest.mark.parametrize("name", ["library:parking-lot", "lab:rtt"])
def test_a_scenario_that_is_named_is_what_opens(name: str) -> None:
    for named in server(name):
        _status, _headers, body = named.ask("GET", f"{named.path}api/about")
        assert json.loads(body)["first"] == name
        status, found = named.run(name, duration=1)
        assert status == 200, found["errors"]
        assert found["flows"] and found["controls"]
        assert named.run("library:dumbbell", duration=1)[0] == 200  # and others beside it


def test_wrong_arguments_are_told_in_a_line(anabranch: Command, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('hosts = ["a"]\nflows = 3\n', encoding="utf-8")
    for arguments in ([str(wrong)], ["library:nothing"], ["no-such-file.toml"], ["lab:x"]):
        done = anabranch("play", "--no-browse", *arguments)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("anabranch: ")


def test_an_old_address_opens_on_a_new_server() -> None:
    old = "http://127.0.0.1:1/token/#scenario=lab%3Artt&a.seed=3"
    for again in server(old):
        assert again.address.endswith("/#scenario=lab%3Artt&a.seed=3")
        page = again.address.partition("#")[0]
        assert Server(page).ask("GET", Server(page).path)[0] == 200


def test_a_server_that_is_killed_leaves_no_worker() -> None:
    command = [sys.executable, "-m", "anabranch", "play", "--no-browse"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    played = Server(process.stdout.readline().strip())
    assert played.run("lab:losses")[0] == 200
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    process.kill()
    process.communicate()
    until = time.monotonic() + 20
    while any(_runs(worker) for worker in workers):
        assert time.monotonic() < until
        time.sleep(0.05)


def _runs(process: str) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# What a turn does.


def test_the_named_file_comes_first(played: Server) -> None:
    status, _headers, body = played.ask("GET", f"{played.path}api/about")
    about = json.loads(body)
    assert status == 200
    assert about["first"] == "dumbbell.toml" == about["scenarios"][0]
    assert set(names()) <= set(about["scenarios"])
    status, found = played.run("dumbbell.toml")
    assert status == 200
    assert {flow["flow"] for flow in found["flows"]} == {"cubic-0", "cubic-1", "reno-0", "reno-1"}


@pytest.mark.parametrize("name", SHORT)
def test_every_scenario_runs_and_has_controls(name: str) -> None:
    found = answer({"scenario": name, "changes": {}, "want": "run"}, None)
    assert found["status"] == 200, found["errors"]
    ids = [control["id"] for control in found["controls"]]
    assert len(set(ids)) == len(ids) > 10
    assert all(control["value"] is not None for control in found["controls"])
    assert found["picture"]["nodes"] and found["flows"]
    assert all(flow["ways"] for flow in found["picture"]["flows"])
    for kind in ("rate", "cwnd", "queue", "rtt"):
        assert found["series"][kind], kind


def test_a_turned_knob_changes_the_run(played: Server) -> None:
    total = {}
    for rate in (20, 5):
        status, found = played.run("lab:dumbbell", links__bottleneck__rate=rate)
        assert status == 200
        (control,) = [one for one in found["controls"] if one["id"] == "links.bottleneck.rate"]
        assert control["value"] == rate
        total[rate] = sum(flow["bytes"] for flow in found["flows"]) * 8e-6 / 30
    # Headers take 52 of 1500 octets; slow start and its losses take the rest.
    assert 0.9 * 20 * 1448 / 1500 < total[20] < 20 * 1448 / 1500
    assert 0.9 * 5 * 1448 / 1500 < total[5] < 5 * 1448 / 1500


def test_the_same_setting_gives_the_same_answer() -> None:
    asked = {"scenario": "lab:losses", "changes": {"flows.f.recovery": "sack"}, "want": "run"}
    first, second = answer(asked, None), answer(asked, None)
    del first["took_ms"], second["took_ms"]
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize("protocol", ["tcp", "mptcp", "sctp"])
def test_each_protocol_has_its_own_controls(protocol: str) -> None:
    changes = {"flows.phone.protocol": protocol, "duration": 5}
    found = answer({"scenario": "lab:two-paths", "changes": changes, "want": "run"}, None)
    assert found["status"] == 200, found["errors"]
    ids = {each["id"].removeprefix("flows.phone.") for each in found["controls"]}
    assert ("recovery" in ids) == (protocol != "sctp")
    assert ("scheduler" in ids) == (protocol == "mptcp")
    assert ("destination" in ids) == (protocol == "sctp")
    (window,) = [one for one in found["controls"] if one["id"] == "flows.phone.window"]
    offered = {name for name, _hint in window["choices"]}
    assert ("lia" in offered) == (protocol == "mptcp")
    (flow,) = [one for one in found["flows"] if one["flow"] == "phone"]
    assert flow["protocol"] == protocol and flow["mbps"] > 1


def test_controls_that_a_protocol_lacks_are_told_and_left_out() -> None:
    changes = {"flows.phone.protocol": "sctp", "flows.phone.recovery": "sack", "duration": 1}
    found = answer({"scenario": "lab:two-paths", "changes": changes, "want": "run"}, None)
    assert found["status"] == 200 and found["ignored"] == ["flows.phone.recovery"]


def test_cake_has_controls_for_its_own_options() -> None:
    """Of every switch and choice that the scenario may have, with every name explained."""
    before = turn(opened("lab:dumbbell"), {})
    assert not [one for one in before.controls if one.id.startswith("links.bottleneck.queue.")]
    changes = {"links.bottleneck.queue": "cake"}
    turned = turn(opened("lab:dumbbell"), changes)
    head = "links.bottleneck.queue."
    made = {one.id.removeprefix(head): one for one in turned.controls if one.id.startswith(head)}
    # `kind` is the discipline, `limit` the buffer, and least octets are for who writes a file.
    assert set(made) == set(get_type_hints(Cake)) - {"kind", "limit", "mpu"}
    for one in made.values():
        if isinstance(one.allowed, Choices):
            assert all(one.allowed.names.values()), one.id
    shown = {name for name, one in made.items() if not one.folded}
    assert shown == {"rate", "tins", "isolation"}


def test_the_controls_of_cake_change_the_run_and_the_file() -> None:
    head = "links.bottleneck.queue"
    changes = {
        head: "cake",
        f"{head}.rate": 2,
        f"{head}.tins": "diffserv4",
        f"{head}.isolation": "hosts",
        f"{head}.rtt": 50,
        f"{head}.overhead": -4,
        f"{head}.ack_filter": "aggressive",
        f"{head}.framing": "atm",
        f"{head}.wash": True,
        "duration": 4,
    }
    found = answer({"scenario": "lab:dumbbell", "changes": changes, "want": "run"}, None)
    assert found["status"] == 200, found["errors"]
    shown = {one["id"]: one["value"] for one in found["controls"]}
    assert changes.items() <= shown.items()
    # 1500 bytes less 4 are 32 cells: 1696 bytes of the shaper's rate for 1448 of data.
    rate = sum(flow["mbps"] for flow in found["flows"])
    assert 0.9 * 2 * 1448 / 1696 < rate < 1.05 * 2 * 1448 / 1696
    queue = turn(opened("lab:dumbbell"), changes).document["topology"]["bottleneck"]["queue"]
    assert queue.pop("limit")  # as the drop-tail queue had it
    assert queue == {
        "kind": "cake",
        "rate": "2 Mbit/s",
        "tins": "diffserv4",
        "isolation": "hosts",
        "rtt": "50 ms",
        "overhead": -4,
        "ack_filter": "aggressive",
        "framing": "atm",
        "wash": True,
    }


def test_the_shaper_of_cake_is_taken_away_with_zero() -> None:
    source = opened_file(ROOT / "examples" / "home-line.toml")
    rate = "links.router.queue.rate"
    (link,) = [one for one in turn(source, {rate: 0}).document["links"] if "name" in one
               and one["name"] == "router"]  # fmt: skip
    assert "rate" not in link["queue"] and link["queue"]["tins"] == "diffserv4"
    for changes, value in [({}, 0.95), ({rate: 0}, 0.0)]:
        found = answer({"scenario": source.name, "changes": changes, "want": "run"}, source)
        assert {one["id"]: one["value"] for one in found["controls"]}[rate] == value
    asked = {"scenario": source.name, "changes": {rate: 1e-6}, "want": "run"}
    (error,) = answer(asked, source)["errors"]
    assert error["control"] == rate


def test_a_library_scenario_is_built_with_its_parameters(played: Server) -> None:
    status, found = played.run("library:dumbbell", library__pairs=2, duration=3)
    assert status == 200 and len(found["flows"]) == 2
    status, found = played.run("library:dumbbell", library__pairs=0)
    assert status == 422 and found["errors"][0]["control"] == "library.pairs"


# Nonsense.


@pytest.mark.parametrize(
    ("control", "value"),
    [
        ("links.bottleneck.rate", 0),
        ("links.bottleneck.rate", -5),
        ("links.bottleneck.rate", 1e400),
        ("links.bottleneck.rate", math.nan),
        ("links.bottleneck.rate", "fast"),
        ("links.bottleneck.rate", None),
        ("links.bottleneck.rate", True),
        ("links.bottleneck.rate", []),
        ("links.bottleneck.rate", 10**500),
        ("links.bottleneck.buffer", 0.5),
        ("links.bottleneck.loss", 101),
        ("links.bottleneck.queue", "no such queue"),
        ("links.bottleneck.queue", 3),
        ("flows.first.window", "evil.py:Evil"),
        ("flows.first.window", {"algorithm": "reno"}),
        ("flows.first.count", 65),
        ("flows.first.limited_transmit", "yes"),
        ("duration", 1e9),
        ("seed", -1),
    ],
)
def test_a_value_out_of_range_is_told_beside_its_control(
    played: Server, control: str, value: Any
) -> None:
    asked = {"scenario": "lab:dumbbell", "changes": {control: value}}
    status, found = played.post("run", asked)
    assert status == 422
    assert [error["control"] for error in found["errors"]] == [control]
    assert "allowed: " in found["errors"][0]["message"]
    assert {each["id"] for each in found["controls"]} >= {control}
    assert played.run("lab:losses")[0] == 200  # the server goes on


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"scenario": 3, "changes": {}},
        {"scenario": "lab:../x", "changes": {}},
        {"scenario": "/etc/passwd", "changes": {}},
        {"scenario": "library:topology-zoo", "changes": {}},
        {"scenario": "lab:losses", "changes": []},
        {"scenario": "lab:losses", "changes": {"x" * 3000: 1}},
        {"scenario": "lab:losses", "changes": {str(n): 1 for n in range(1000)}},
    ],
)
def test_a_request_that_means_nothing_is_refused(played: Server, asked: Any) -> None:
    status, found = played.post("run", asked)
    assert status == 422 and found["errors"]
    assert all("broken invariant" not in error["message"] for error in found["errors"])


SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20)
JSON = (
    SCALARS
    | st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
    | st.dictionaries(st.text(max_size=5), SCALARS, max_size=3)
)


def controls(name: str) -> list[Control]:
    return turn(opened(name), {}).controls


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_json_is_answered(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["lab:slow-start", "lab:losses"]))
    ids = [control.id for control in controls(name)]
    keys = st.sampled_from(ids) | st.text(max_size=10)
    changes = data.draw(st.dictionaries(keys, JSON, max_size=4))
    found = answer({"scenario": name, "changes": changes, "want": "run"}, None)
    assert found["status"] in (200, 422)
    for error in found.get("errors", ()):
        assert error["control"] in ["", *ids]
        assert "broken invariant" not in error["message"]


def value_of(control: Control) -> st.SearchStrategy[Any]:
    """Values that the control allows."""
    allowed = control.allowed
    if isinstance(allowed, Range):
        if allowed.whole:
            return st.integers(int(allowed.low), min(int(allowed.high), 400))
        return st.floats(allowed.low, allowed.high)
    return st.sampled_from(list(allowed.names)) if isinstance(allowed, Choices) else st.booleans()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_setting_in_range_runs_or_says_why_not(data: st.DataObject) -> None:
    """What the ranges allow the core takes, or refuses with a message about a field."""
    name = data.draw(st.sampled_from(["lab:slow-start", "lab:losses", "lab:two-paths"]))
    queue = next(one.id for one in controls(name) if one.id.endswith(".queue"))
    base = data.draw(st.sampled_from([{}, {queue: "cake"}]))
    known = {one.id: one for one in turn(opened(name), base).controls}
    chosen = data.draw(st.lists(st.sampled_from(sorted(known)), max_size=6, unique=True))
    changes = base | {id: data.draw(value_of(known[id])) for id in chosen}
    changes["duration"] = data.draw(st.floats(0.1, 1.5))
    found = answer({"scenario": name, "changes": changes, "want": "run"}, None)
    if found["status"] == 200:
        shown = {one["id"]: one["value"] for one in found["controls"]}
        for id, value in changes.items():
            if id in shown and isinstance(value, float):
                assert shown[id] == pytest.approx(value, rel=1e-5, abs=1e-6), id
            elif id in shown:
                assert shown[id] == value, id
        json.dumps(found, allow_nan=False)
    else:
        assert all("field `" in each["message"] or "allowed" in each["message"]
                   for each in found["errors"]), found["errors"]  # fmt: skip


def test_a_message_of_the_core_stands_beside_the_control_that_it_is_about() -> None:
    turned = turn(opened("lab:dumbbell"), {})
    for field, control in [
        ("topology.bottleneck.queue.limit", "links.bottleneck.buffer"),
        ("topology.bottleneck.rate", "links.bottleneck.rate"),
        ("flows[1].tcp.window", "flows.second.window"),
        ("flows[0].count", "flows.first.count"),
        ("duration", "duration"),
        ("hosts", ""),
    ]:
        assert turned.beside(f"lab: field `{field}`: value `1`: allowed: 2") == control


# Bounds.


def test_a_run_of_too_many_packets_is_refused_before_it_starts(played: Server) -> None:
    status, found = played.run("lab:dumbbell", links__bottleneck__rate=1000, duration=LONGEST_S)
    assert status == 422
    assert found["errors"][0]["control"] == "duration"
    assert "million packets" in found["errors"][0]["message"]


def test_the_estimate_of_packets_is_no_less_than_what_is_sent() -> None:
    for name in LAB:
        turned = turn(opened(name), {})
        resolved = tomllib.loads(code.as_toml(turned.document))
        found = answer({"scenario": name, "changes": {}, "want": "run"}, None)
        if "topology" not in resolved:
            sent = sum(flow["bytes"] for flow in found["flows"]) / 1448
            duration = found["series"]["end_s"]
            assert sent <= Network(resolved).packets(duration) * 1.05 + 10 < MOST_PACKETS


def ask_twice(pool: Pool, *asked: Any) -> list[Any]:
    """What a pool answers to requests, one after the other."""

    async def asking() -> list[Any]:
        await pool.open(1)
        try:
            return [await pool.ask("slot", each) for each in asked]
        finally:
            await pool.close()

    return asyncio.run(asking())


LONG = {
    "scenario": "lab:dumbbell",
    "changes": {"duration": 120, "links.bottleneck.rate": 350},
    "want": "run",
}
QUICK = {"scenario": "lab:losses", "changes": {}, "want": "run"}


def test_a_run_that_takes_too_long_is_ended() -> None:
    slow, quick = ask_twice(Pool(None, wall_s=0.4), LONG, QUICK)
    assert slow.status == 422
    assert "ended after 0.4 s" in json.loads(slow.body)["errors"][0]["message"]
    assert quick.status == 200


def test_a_run_that_needs_too_much_memory_is_ended() -> None:
    packets = {**LONG, "want": "packets", "at_s": 0}
    large, quick = ask_twice(Pool(None, memory=24 << 20), packets, QUICK)
    assert large.status == 422
    assert "memory" in json.loads(large.body)["errors"][0]["message"]
    assert quick.status == 200


def test_a_newer_request_replaces_an_older_one() -> None:
    async def asking() -> tuple[Any, Any, float]:
        pool = Pool(None)
        await pool.open(2)
        try:
            older = asyncio.create_task(pool.ask("slot", LONG))
            await asyncio.sleep(0.2)
            started = asyncio.get_running_loop().time()
            newer = await pool.ask("slot", QUICK)
            took = asyncio.get_running_loop().time() - started
            (replaced,) = await asyncio.gather(older, return_exceptions=True)
            return replaced, newer, took
        finally:
            await pool.close()

    replaced, newer, took = asyncio.run(asking())
    assert isinstance(replaced, Replaced)
    assert newer.status == 200 and took < 5


def test_many_requests_at_once_leave_a_server_that_answers(played: Server) -> None:
    with ThreadPoolExecutor(16) as threads:
        found = list(
            threads.map(
                lambda n: played.post(
                    "run",
                    {"scenario": "lab:dumbbell", "changes": {"seed": n}, "slot": str(n % 3)},
                )[0],
                range(40),
            )
        )
    assert set(found) <= {200, 409} and 200 in found
    assert played.run("lab:losses")[0] == 200


# What is taken away.


@pytest.mark.parametrize("name", [*LAB, "library:fat-tree", "library:web"])
def test_the_program_builds_the_file(name: str) -> None:
    found = answer({"scenario": name, "changes": {"seed": 7}, "want": "code"}, None)
    document = tomllib.loads(found["toml"])
    assert document["seed"] == 7
    program = found["python"].split("\nresult = ")[0]
    names: dict[str, Any] = {}
    exec(compile(program, name, "exec"), names)
    built = tomllib.loads(names["net"].toml())
    built.pop("observe")
    document.pop("observe", None)
    assert built == {key: value for key, value in document.items() if value != ""}


def test_the_program_runs() -> None:
    found = answer({"scenario": "lab:losses", "changes": {}, "want": "code"}, None)
    exec(compile(found["python"], "program", "exec"), {})


def test_the_explorer_is_a_page_of_the_report(played: Server) -> None:
    state = '{"scenario":"lab:losses","changes":{}}'.replace('"', "%22")
    status, headers, body = played.ask("GET", f"{played.path}explorer?state={state}")
    assert status == 200 and b"Time-sequence explorer" in body
    assert "script-src 'unsafe-inline'" in headers["content-security-policy"]
    links = set(re.findall(r'href="([^"]+)"', body.decode()))
    assert links == {"data:,", "#content"}  # nothing lies beside it
    assert played.ask("GET", f"{played.path}explorer?state=x")[0] == 400
    wrong = '{"scenario":"x","changes":{}}'.replace('"', "%22")
    assert played.ask("GET", f"{played.path}explorer?state={wrong}")[0] == 422


def test_a_file_that_has_no_controls_of_its_own_opens(tmp_path: Path) -> None:
    for example in sorted((ROOT / "examples").glob("*.toml")):
        if example.name.startswith("live"):
            continue
        source = opened_file(example)
        found = answer({"scenario": source.name, "changes": {}, "want": "code"}, source)
        assert found["status"] == 200, (example, found)
    with pytest.raises(InputError):
        opened_file(tmp_path / "none.toml")


def test_a_flow_of_datagrams_has_no_controls_of_a_stream() -> None:
    source = opened_file(ROOT / "examples" / "voip.toml")
    ids = [control.id for control in turn(source, {}).controls]
    assert [one for one in ids if ".call." in one] == ["flows.call.count", "flows.call.start"]


# Series and journeys.


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 100, width=32)), max_size=40),
    st.integers(1, 30),
)
def test_no_peak_of_a_series_is_lost(records: list[tuple[float, float]], bins: int) -> None:
    records.sort(key=lambda record: record[0])
    times = np.array([record[0] for record in records])
    values = np.array([record[1] for record in records])
    edges = np.linspace(0, 10, bins + 1)
    found = _largest({"time_s": times, "value": values}, edges)
    for index, (low, high) in enumerate(itertools.pairwise(edges)):
        before = values[times <= low][-1:]
        inside = values[(times > low) & (times <= high)]
        held = [*before, *inside]
        if held:
            assert found[index] == max(held)
        else:
            assert math.isnan(found[index])


def test_no_more_arrives_than_the_link_carries() -> None:
    found = answer({"scenario": "lab:dumbbell", "changes": {}, "want": "run"}, None)
    series = found["series"]
    assert series["arrivals"]
    flows = [np.frombuffer(_octets(text), dtype="<f4") for text in series["rate"].values()]
    total = np.sum(flows, axis=0)
    interval = series["end_s"] / series["rates"]
    packet = 1448 * 8e-6 / interval
    assert total.max() <= 20 * 1448 / 1500 + packet
    come = total.sum() * interval / 8e-6
    read = sum(flow["bytes"] for flow in found["flows"])
    again = sum(flow["resent"] for flow in found["flows"]) * 1448
    assert read <= come * (1 + 1e-5) <= read + again + 200 * 1448  # and what waits at the receiver


def test_a_long_run_shows_what_is_in_order() -> None:
    changes = {"links.bottleneck.rate": 400, "duration": 20}
    found = answer({"scenario": "lab:dumbbell", "changes": changes, "want": "run"}, None)
    assert found["status"] == 200 and not found["series"]["arrivals"]
    assert set(found["series"]["rate"]) == {"first", "second"}


def columns(*rows: tuple[float, int]) -> dict[str, Any]:
    return {
        "time_s": np.array([row[0] for row in rows], dtype=float),
        "value": np.array([row[1] for row in rows], dtype=float),
    }


def test_the_journeys_of_packets() -> None:
    """Octets 0 and 1000 arrive; 2000 is lost and sent again; 3000 is still under way."""
    sends = columns((0.0, 0), (0.1, 1000), (0.2, 2000), (0.5, 2000), (0.6, 3000))
    receives = columns((0.3, 0), (0.4, 1000), (0.8, 2000))
    drops = columns((0.25, 2000))
    ends, fates = fate(sends, receives, drops)
    assert list(fates) == [ARRIVED, ARRIVED, LOST, ARRIVED, UNKNOWN]
    assert list(ends[:4]) == [0.3, 0.4, 0.25, 0.8] and math.isnan(ends[4])


def test_the_journeys_of_a_run_account_for_every_loss() -> None:
    found = answer({"scenario": "lab:losses", "changes": {}, "want": "packets"}, None)
    (lane,) = found["journeys"]["lanes"].values()
    fates = np.frombuffer(_octets(lane["fate"]), dtype=np.uint8)
    assert (fates == LOST).sum() == 7
    ends = np.frombuffer(_octets(lane["end"]), dtype="<f8")
    sent = np.frombuffer(_octets(lane["sent"]), dtype="<f8")
    took = (ends - sent)[fates == ARRIVED]
    assert took.min() >= 0.1  # the delays of the links alone


def _octets(text: str) -> bytes:
    return base64.b64decode(text.split(":", 1)[1])


def test_the_picture_has_senders_at_the_left() -> None:
    found = answer({"scenario": "library:dumbbell", "changes": {}, "want": "run"}, None)
    places = {node["name"]: node["x"] for node in found["picture"]["nodes"]}
    assert places["c0"] == 0 and places["s0"] == 1
    assert 0 < places["left"] < places["right"] < 1


def test_routers_of_a_chain_stand_in_a_row() -> None:
    found = answer(
        {"scenario": "library:parking-lot", "changes": {"duration": 1}, "want": "run"}, None
    )
    places = {node["name"]: (node["x"], node["y"]) for node in found["picture"]["nodes"]}
    row = [places[f"r{n}"] for n in range(4)]
    assert row == sorted(row) and len({y for _x, y in row}) == 1


@pytest.mark.parametrize("name", ["library:fat-tree", "library:parking-lot", "lab:two-paths"])
def test_no_link_of_a_picture_is_hidden_behind_another(name: str) -> None:
    """No two nodes of a column are joined, and no two nodes stand in one place."""
    found = answer({"scenario": name, "changes": {"duration": 0.2}, "want": "run"}, None)
    places = {node["name"]: (node["x"], node["y"]) for node in found["picture"]["nodes"]}
    assert len(set(places.values())) == len(places)
    for link in found["picture"]["links"]:
        (first, _), (second, _) = (places[end] for end in link["ends"])
        assert first != second, link


def test_a_picture_of_many_nodes_is_left_out() -> None:
    hosts = [f"h{n}" for n in range(70)]
    links = [{"ends": [host, "r"], "rate": "1 Mbit/s", "delay": "1 ms"} for host in hosts]
    resolved = {"hosts": hosts, "routers": ["r"], "links": links, "flows": []}
    assert picture(Network(resolved))["nodes"] == []
