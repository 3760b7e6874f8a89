"""Checks over many kinds of paths: RFC 9743 §6 and §7."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anabranch import library
from anabranch.evaluate.check import Check, Quantity, Rule, Scale
from anabranch.evaluate.paths import Path, goodput, loss, transport, use, waiting
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window

RATE = "20 Mbit/s"


def _one(
    name: str,
    seconds: float,
    *,
    rate: str = RATE,
    tcp: Mapping[str, Any] | None = None,
    **path: Any,
) -> Callable[[Window, Scale], list[Scenario]]:
    """One flow on a path, with what it received and what waited."""

    def build(window: Window, scale: Scale) -> list[Scenario]:
        made = Path(name, scale.seconds(seconds), rate=rate, **path)
        made.flow(window, "f", tcp=dict(tcp or {}))
        made.net.observe("received", interval="100 ms")
        made.net.observe("queue", link="path", interval="10 ms")
        return [made.scenario()]

    return build


def _used(rate: str = RATE, warm: float = 0.25) -> Callable[[Sequence[RunResult]], float]:
    """Percent of the rate that the flow delivered after the share `warm` of the run."""

    def read(runs: Sequence[RunResult]) -> float:
        end = float(runs[0].series["f.received"]["time_s"][-1])
        return use(runs[0], rate, warm * end, end)

    return read


def _delay(runs: Sequence[RunResult]) -> float:
    return waiting(runs[0], RATE, 5)


def _lost(runs: Sequence[RunResult]) -> float:
    return loss(runs[0])


def _aqm(name: str, title: str, queue: Mapping[str, Any], ecn: bool = False) -> Check:
    marks = ", ECN" if ecn else ""
    tcp = {"ecn": "on"} if ecn else {}
    return Check(
        name,
        "§7.1",
        f"Does it work with {title}{marks}?",
        f"one flow on 20 Mbit/s, 40 ms, {title}{marks}",
        _one(name, 45, queue=queue, tcp=tcp),
        (
            Quantity("use, %", _used(), Rule("at least", 0.9)),
            Quantity("mean queueing delay, ms", _delay, Rule("at most", 1.25, 1)),
            Quantity("packets lost, %", _lost, Rule("at most", 2.0, 0.1)),
        ),
    )


def _wireless(window: Window, scale: Scale) -> list[Scenario]:
    burst = {"kind": "gilbert-elliott", "p": 0.00334, "r": 1 / 3, "at": "egress"}
    wobble = {
        "kind": "jitter",
        "mean": "2 ms",
        "deviation": "2 ms",
        "law": "pareto",
        "keep_order": True,
        "at": "egress",
    }
    return _one("wireless", 90, impairments=[burst, wobble])(window, scale)


def _fair_queue(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("FQ-CoDel", scale.seconds(45), queue={"kind": "fq-codel", "ecn": False})
    path.flow(window, "f")
    path.flow("cubic", "cubic")
    path.net.observe("received", interval="100 ms")
    return [path.scenario()]


def _rate_of(flow: str) -> Callable[[Sequence[RunResult]], float]:
    def read(runs: Sequence[RunResult]) -> float:
        end = float(runs[0].series[f"{flow}.received"]["time_s"][-1])
        return goodput(runs[0], flow, end / 4, end) / 1e6

    return read


STEP = (10.0, 20.0)
LOW = "4 Mbit/s"


def _steps(window: Window, _scale: Scale) -> list[Scenario]:
    steps = [
        {"at": "0 s", "rate": RATE},
        {"at": f"{STEP[0]:g} s", "rate": LOW},
        {"at": f"{STEP[1]:g} s", "rate": RATE},
    ]
    path = Path("capacity changes", 30, schedule={"steps": steps})
    path.flow(window, "f")
    path.net.observe("received", interval="100 ms")
    path.net.observe("queue", link="path", interval="10 ms")
    return [path.scenario()]


def _queue_after_drop(runs: Sequence[RunResult]) -> float:
    series = runs[0].series["path.queue"]
    inside = (series["time_s"] >= STEP[0]) & (series["time_s"] < STEP[0] + 5)
    return float(series["value"][inside].mean()) * 1500 * 8 / 4e6 * 1e3


def _geostationary(window: Window, scale: Scale) -> list[Scenario]:
    path = Path("geostationary", 300, rtt="600 ms")
    path.flow(window, "f", size="5 MB" if scale.quick else "20 MB")
    return [path.scenario()]


def _transfer(runs: Sequence[RunResult]) -> float:
    took = runs[0].flows[0].completion_s
    return 300.0 if took is None else took


def _incast(window: Window, scale: Scale) -> list[Scenario]:
    net = library.incast(rounds=10 if scale.quick else 50, window=window)
    net.every_flow(tcp=transport(window, rto={"min": "10 ms"}))
    return [net.scenario()]


def _rounds(runs: Sequence[RunResult]) -> float:
    return float(runs[0].series["block.rounds"]["value"].mean()) * 1e3


JUST_USE = (Quantity("use, %", _used(), Rule("at least", 0.9)),)

CHECKS = (
    Check(
        "small-buffer",
        "§6.1",
        "Does it use a path whose tail-drop buffer is short?",
        "one flow on 20 Mbit/s, 40 ms, a buffer of a tenth of the BDP",
        _one("small buffer", 45, buffer_bdp=0.1),
        (
            Quantity("use, %", _used(), Rule("at least", 0.9)),
            Quantity("packets lost, %", _lost, Rule("at most", 1.5, 0.1)),
        ),
    ),
    Check(
        "wired",
        "§6.3",
        "Does it use an ordinary path?",
        "one flow on 20 Mbit/s, 40 ms, a buffer of one BDP",
        _one("wired", 45),
        JUST_USE,
    ),
    Check(
        "large-bdp",
        "§6.3",
        "Does it use a path whose BDP is large?",
        "one flow on 400 Mbit/s, 100 ms: 3333 packets, a buffer of half the BDP",
        _one("large BDP", 45, rate="400 Mbit/s", rtt="100 ms", buffer_bdp=0.5),
        (Quantity("use, %", _used("400 Mbit/s", 0.0), Rule("at least", 0.9)),),
    ),
    Check(
        "wireless",
        "§6.4",
        "Does it use a path with losses that are not congestion, and delays that vary?",
        "one flow on 20 Mbit/s, 40 ms; 1 % lost in bursts of three, Pareto jitter of 2 ms",
        _wireless,
        JUST_USE,
    ),
    _aqm("codel", "CoDel", {"kind": "codel"}),
    Check(
        "fq-codel",
        "§7.1",
        "Does it share a queue that keeps flows apart (FQ-CoDel) with cubic?",
        "one flow beside one of cubic on 20 Mbit/s, 40 ms",
        _fair_queue,
        (
            Quantity("rate of the flow, Mbit/s", _rate_of("f"), Rule("at least", 0.9)),
            Quantity("rate of cubic, Mbit/s", _rate_of("cubic"), Rule("at least", 0.9)),
            Quantity("packets lost, %", _lost, Rule("at most", 2.0, 0.1)),
        ),
    ),
    _aqm("pie", "PIE", {"kind": "pie"}),
    _aqm("ecn", "CoDel", {"kind": "codel", "ecn": True}, ecn=True),
    Check(
        "varying-delay",
        "§7.3",
        "Does it use a path whose delay changes?",
        "one flow on 20 Mbit/s; the round trip is 40 ms and 80 ms in turn, 5 s each, as after "
        "handovers",
        _one(
            "varying delay",
            60,
            delays={
                "steps": [
                    {"at": f"{5 * n} s", "delay": "10 ms" if n % 2 == 0 else "50 ms"}
                    for n in range(12)
                ]
            },
        ),
        JUST_USE,
    ),
    Check(
        "low-rate",
        "§7.4",
        "Does it suit a narrow link of small devices?",
        "one flow on 64 kbit/s, 200 ms, a buffer of 10 packets",
        _one(
            "low rate",
            180,
            rate="64 kbit/s",
            rtt="200 ms",
            queue={"kind": "droptail", "limit": "10 packets"},
        ),
        (
            Quantity("use, %", _used("64 kbit/s"), Rule("at least", 0.9)),
            Quantity("packets lost, %", _lost, Rule("at most", 1.5, 1)),
        ),
    ),
    Check(
        "high-delay",
        "§7.5",
        "How long does a transfer over a geostationary satellite take?",
        "20 MB (5 MB in a quick run) on 20 Mbit/s, 600 ms, a buffer of one BDP",
        _geostationary,
        (Quantity("time, s", _transfer, Rule("at most", 1.1)),),
    ),
    Check(
        "reordering",
        "§7.7",
        "Does it use a path that reorders packets?",
        "one flow on 20 Mbit/s, 40 ms; one packet in a hundred comes 8 ms later",
        _one(
            "reordering",
            45,
            impairments=[{"kind": "reorder", "probability": 0.01, "extra": "8 ms", "at": "egress"}],
        ),
        JUST_USE,
    ),
    Check(
        "sudden-changes",
        "§7.9",
        "Does it respond when a path becomes narrow, and when it becomes wide again?",
        "one flow; 20 Mbit/s, from 10 s 4 Mbit/s, from 20 s 20 Mbit/s again, 40 ms",
        _steps,
        (
            Quantity(
                "mean queueing delay 5 s after the drop, ms",
                _queue_after_drop,
                Rule("at most", 1.2),
            ),
            Quantity(
                "use of the narrow path, %",
                lambda runs: use(runs[0], LOW, STEP[0] + 1, STEP[1]),
                Rule("at least", 0.9),
            ),
            Quantity(
                "use 2 s to 10 s after the rise, %",
                lambda runs: use(runs[0], RATE, STEP[1] + 2, STEP[1] + 10),
                Rule("at least", 0.9),
            ),
        ),
    ),
    Check(
        "data-centre",
        "§7.11",
        "How long does a round of requests to many servers take (incast)?",
        "16 servers send 16 kB each over 1 Gbit/s, a buffer of 64 packets, RTO of 10 ms at least",
        _incast,
        (Quantity("mean time of a round, ms", _rounds, Rule("at most", 1.25)),),
    ),
)
