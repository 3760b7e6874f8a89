"""Traffic that people measure networks with: tables, files, the terminal and the library."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from anabranch import Scenario, library
from conftest import Command

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_datagrams_pings_and_queues_are_tables(tmp_path: Path, anabranch: Command) -> None:
    out = tmp_path / "out"
    done = anabranch("run", str(EXAMPLES / "udp.toml"), "--out", str(out))
    assert done.returncode == 0, done.stderr
    for title in ("datagrams", "pings"):
        assert title in done.stdout
    with (out / "datagrams.csv").open(newline="", encoding="utf-8") as file:
        found = {row["flow"]: row for row in csv.DictReader(file)}
    assert sorted(found) == ["bursts", "ping", "ping.reverse", "stream"]
    for row in found.values():
        counted = sum(int(row[name]) for name in ("received", "lost", "under_way"))
        assert counted == int(row["sent"])
        assert float(row["delay_p50_s"]) <= float(row["delay_p99_s"]) <= float(row["delay_max_s"])
    with (out / "links.csv").open(newline="", encoding="utf-8") as file:
        links = {row["name"]: row for row in csv.DictReader(file)}
    assert 0.7 < float(links["bottleneck"]["utilisation"]) <= 1
    # A hundred packets of 1500 octets wait 120 ms on 10 Mbit/s.
    assert 0.05 < float(links["bottleneck"]["queue_delay_p95_s"]) < 0.13
    assert links["bottleneck-reverse"]["queue_delay_p95_s"] == ""
    assert (out / "report.html").is_file()


def test_cake_lets_a_call_through_a_shared_line_and_is_fair_to_computers() -> None:
    scenario = Scenario.load(EXAMPLES / "home-line.toml")
    shared, alone = scenario.run(), scenario.set("links.0.queue={}").run()
    (call, _), (drowned, _) = shared.calls, alone.calls
    assert call.mos is not None and call.mos > 4.3
    assert drowned.mos is not None and drowned.mos < 1.1
    sent = {row.flow: row.bytes for row in shared.flows}
    share = sent["one"] / (sent["one"] + sum(sent[f"many-{n}"] for n in range(4)))
    assert 0.4 < share < 0.55, "half of what is left, whoever has more flows"


def test_a_call_suffers_from_a_transfer_in_a_long_queue() -> None:
    # Without random loss the transfer fills what queue there is.
    scenario = Scenario.load(EXAMPLES / "voip.toml").set("links.access.impairments=[]")
    fair = scenario.run().calls
    assert [call.flow for call in fair] == ["call", "call.reverse"]
    assert all(call.mos is not None and call.mos > 3.9 for call in fair)
    queue = 'links.access.queue={ kind = "droptail", limit = "500 packets" }'
    long = scenario.set(queue).run().calls[0]
    assert long.mos is not None and fair[0].mos is not None and long.mos < fair[0].mos - 1


@pytest.mark.parametrize("name", ["video", "page-load"])
def test_videos_and_loads_are_rows(name: str) -> None:
    result = Scenario.load(EXAMPLES / f"{name}.toml").run()
    if name == "video":
        assert [video.selection for video in result.videos] == ["buffer-based", "rate-based"]
        assert all(video.mean_rate_bps and video.segments > 20 for video in result.videos)
    else:
        assert [load.complete for load in result.loads] == [10, 10, 10]
        assert all(load.load_time_p50_s and load.load_time_p50_s < 5 for load in result.loads)


def test_latency_under_load_is_what_the_queue_makes_of_it() -> None:
    def median(queue: str) -> float:
        scenario = library.load("library:rrul").set("duration=20 s", f"queue={queue}")
        ping = next(ping for ping in scenario.run().pings if ping.flow == "ping-be")
        assert ping.rtt_p50_s is not None
        return ping.rtt_p50_s

    # Alone a probe takes 40 ms; a thousand packets on 5 Mbit/s take 2.4 s.
    assert median("droptail") > 5 * median("fq-codel")
    assert median("fq-codel") < 0.08
