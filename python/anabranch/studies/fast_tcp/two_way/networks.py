"""What the paper says of its model and does not show: one connection for both directions, queues
below the host's, losses, other connections beside the pair, round trips that differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anabranch import inline
from anabranch.experiment import RunResult, Scenario
from anabranch.studies.fast_tcp.two_way import conditions, measures
from anabranch.studies.fast_tcp.two_way.conditions import FOLDER, NEVER, Run, plan
from anabranch.studies.fast_tcp.two_way.models import HEADERS

PAIR = Run("shown")
"""Windows of one round trip, the case that all of these are variations of."""
DELAYED = 'flows.*.tcp.delayed_ack={ count = 2, delay = "200 ms" }'
"""The standard receiver (RFC 1122 §4.2.3.2): every second segment, or 200 ms."""
UNLIMITED = 'queue = { limit = "unlimited" }'


def scenarios() -> dict[str, Scenario]:
    """All of them that have no chance in them, by name."""
    pair = conditions.scenario(PAIR)
    one = duplex(pair)
    network = larger_network()
    return {
        "pair": pair,
        "pair, delayed ACKs": pair.set(DELAYED),
        "one connection": one,
        "one connection, delayed ACKs": one.set(DELAYED),
        "queue below IP": below_ip(pair),
        "larger network": network,
        "larger network, no explicit rates": without_rates(network, ("i", "c", "d", "j", "l", "m")),
        "round trips": round_trips(),
        "round trips, no explicit rates": without_rates(round_trips(), ("near", "far")),
    }


def duplex(pair: Scenario) -> Scenario:
    """One connection that carries data both ways, ACKs on the data where there are any."""
    return pair.set(
        "flows.forth.reverse_size=10 GB",
        f"flows.back.start={NEVER} s",
        f"observe=[{conditions.OBSERVED}, "
        '{ what = "ack-compression", flow = "forth" }, { what = "queue" }]',
    )


def below_ip(pair: Scenario) -> Scenario:
    """IP is served ten times as fast as the channel, and the data wait in the layer below."""
    host = f'rate = "100 Mbit/s", delay = "0 s", {UNLIMITED}, reverse = {{ {UNLIMITED} }}'
    channel = f'rate = {{ explicit = "abr" }}, delay = "60 ms", {UNLIMITED}'
    links = (
        f'{{ name = "ip-i", ends = ["i", "below-i"], {host} }}',
        f'{{ name = "i-j", ends = ["below-i", "below-j"], {channel},'
        f" reverse = {{ {UNLIMITED} }} }}",
        f'{{ name = "ip-j", ends = ["j", "below-j"], {host} }}',
    )
    return pair.set('routers=["below-i", "below-j"]', f"links=[{', '.join(links)}]")


def larger_network() -> Scenario:
    """The pair beside two others, whose connections go both ways and have large windows."""
    base = plan()["base"]
    tcp = {
        "mss": f"{PAIR.mss} B",
        "timestamps": False,
        "delayed_ack": {"count": 1, "delay": "0 s"},
        "window": "reno",
        "rto": {"initial": "5 s", "min": "5 s"},
    }
    window = PAIR.channel().windows[0]
    changes = []
    for flow in ("forth", "back", "c-l", "l-c", "d-m", "m-d"):
        segments = window if flow in ("forth", "back") else base["beside"] * window
        own = tcp | {"receive_buffer": f"{segments * PAIR.mss + PAIR.mss // 2} B"}
        changes.append(f"flows.{flow}.tcp={inline.toml(own)}")
    observe = (
        f'[{conditions.OBSERVED}, {{ what = "ack-compression", flow = "forth" }},'
        ' { what = "queue", link = "port" }]'
    )
    return Scenario.load(FOLDER / "network.toml").set(
        *changes, f"duration={PAIR.until_s() + 1} s", f"observe={observe}"
    )


def round_trips() -> Scenario:
    """20 ms and 200 ms over one port."""
    return Scenario.load(FOLDER / "round_trips.toml").set(f"observe=[{conditions.OBSERVED}]")


def without_rates(scenario: Scenario, links: tuple[str, ...]) -> Scenario:
    """Hosts send as fast as their lines go: only the switch's queue is left."""
    return scenario.set(*(f"links.{name}.rate=155 Mbit/s" for name in links))


def lossy(rate: float, two_way: bool) -> Scenario:
    """The pair, or one direction, with TCP Reno, over lines that lose packets at random."""
    losses = inline.toml([{"kind": "bernoulli", "rate": rate}])
    found = conditions.scenario(Run("shown", back=1.0 if two_way else 0.0)).set(
        f"duration={PAIR.from_s() + plan()['losses']['measured_s']} s",
        f"links.0.impairments={losses}",
        f"links.0.reverse.impairments={losses}",
        "flows.*.tcp.recovery=reno",
        "flows.*.tcp.sack=false",
        'flows.*.tcp.rto={ initial = "5 s", min = "1 s" }',
        f'observe=[{conditions.OBSERVED}, {{ what = "ack-compression", flow = "forth" }}]',
    )
    return found


def share(result: RunResult, flow: str = "forth", mbps: float = 10.0) -> float:
    """Part of a line that a flow's data took, headers included."""
    series = result.series[f"{flow}.received"]
    begin, end = PAIR.from_s(), min(PAIR.until_s(), result.run.end_s)
    octets = measures.at(series["time_s"], series["value"], end)
    octets -= measures.at(series["time_s"], series["value"], begin)
    packets = float(octets / PAIR.mss)
    return packets * (PAIR.mss + HEADERS) * 8 / (end - begin) / (mbps * 1e6)


def compressed(result: RunResult) -> float:
    """Part of the ACKs that come compressed to the first host."""
    gaps = measures.steady(PAIR, result, "forth.ack_gaps")
    return float(np.mean(gaps < measures.CLOSE))


def longest(link: str) -> Callable[[RunResult], float]:
    """The longest queue of a link while the run is measured, in packets."""

    def read(result: RunResult) -> float:
        found = measures.steady(PAIR, result, f"{link}.queue")
        return float(found.max()) if found.size else 0.0

    return read


def average(link: str) -> Callable[[RunResult], float]:
    """The mean over time of a link's queue while the run is measured, in packets."""

    def read(result: RunResult) -> float:
        series = result.series[f"{link}.queue"]
        begin, end = PAIR.from_s(), PAIR.until_s()
        inside = (series["time_s"] > begin) & (series["time_s"] < end)
        dates = np.concatenate([[begin], series["time_s"][inside], [end]])
        first = measures.at(series["time_s"], series["value"], begin)
        held = np.concatenate([[first], series["value"][inside]])
        return float(np.average(held, weights=np.diff(dates)))

    return read


def cells(result: RunResult, line: str) -> tuple[float, float]:
    """Mean and longest queue of a port of ATM while the run is measured, as seconds on its line."""
    found = measures.steady(PAIR, result, f"{line}.cells")
    port = next(row for row in result.lines if row.name == line)
    cell_s = port.utilisation * result.run.end_s / (port.received - port.dropped)
    return float(found.mean()) * cell_s, float(found.max()) * cell_s


def evenness(result: RunResult) -> float:
    """Octets that the far connection got over those of the near one, from 20 s on."""
    got = []
    for flow in ("far", "near"):
        series = result.series[f"{flow}.received"]
        times, values = series["time_s"], series["value"]
        got.append(float(values[-1]) - measures.at(times, values, 20.0))
    return got[0] / got[1]
