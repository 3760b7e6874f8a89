"""Claims C5 to C8 of the paper, and what they leave open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies.fast_tcp.router import measures as m
from anabranch.studies.fast_tcp.router.conditions import Run, paper, plan
from anabranch.verdicts import Claim, Statement, at_least, at_most, near

WITH, WITHOUT = 10.8, 3.5
"""Megabytes acknowledged after 25 s, with and without Fast-TCP, as published."""
RTT = 0.264
Metric = Callable[[RunResult], float]
Watched = list[tuple[Run, RunResult]]


def judge(results: m.Results, watched: Watched) -> list[Claim]:
    """All claims, then the statements beyond the paper."""
    return [
        _throughput(results),
        _overflows(results),
        _smooth(watched),
        _bursts(watched),
        _gain(results, "F1", "modern", "RACK-TLP, PRR and CUBIC"),
        _gain(results, "F2", "bbr", "BBR"),
        _bucket(results),
        _aqm(results),
        _delay(watched),
        _timeouts(results),
        _cross(results),
    ]


def judge_one_flow(results: m.Results, watched: Watched) -> list[Claim]:
    """Those that need neither other routers nor many flows."""
    return [
        _throughput(results),
        _overflows(results),
        _smooth(watched),
        _bursts(watched),
        _gain(results, "F1", "modern", "RACK-TLP, PRR and CUBIC"),
        _gain(results, "F2", "bbr", "BBR"),
        _delay(watched),
    ]


def _pairs(results: m.Results, kept: Callable[[Run], bool]) -> list[tuple[Run, Run]]:
    """Conditions with Fast-TCP that are kept, each with the plain router's."""
    ours = [run for run in results if run.router == "fast-tcp" and kept(run)]
    pairs = [(run, run.with_router("plain")) for run in sorted(ours)]
    return [(run, plain) for run, plain in pairs if plain in results]


def _mean(results: m.Results, run: Run, metric: Metric) -> float:
    return stats.mean(metric(result) for result in results[run]).mean


def _change(
    results: m.Results, pairs: Iterable[tuple[Run, Run]], metric: Metric = m.megabytes
) -> Estimate:
    """Share by which the first of each pair has more, over conditions."""
    return _share(
        math.log(_mean(results, ours, metric) / _mean(results, theirs, metric))
        for ours, theirs in pairs
    )


def _share(logarithms: Iterable[float]) -> Estimate:
    """The geometric mean of ratios less one, so that twice and half even out."""
    logs = stats.mean(logarithms)
    return Estimate(
        math.expm1(logs.mean), math.expm1(logs.ci_low), math.expm1(logs.ci_high), logs.n
    )


def _is_default(run: Run) -> bool:
    """The law's parameters are not varied, and nothing comes and goes beside."""
    return run == run.with_router(run.router) and not run.cross


def _throughput(results: m.Results) -> Claim:
    ours, plain = results[paper("fast-tcp")], results[paper("plain")]
    ratios = [m.megabytes(a) / m.megabytes(b) for a, b in zip(ours, plain, strict=True)]
    found = [
        Statement.of("ratio of octets after 25 s", stats.mean(ratios), near(WITH / WITHOUT, 0.5)),
        Statement.of("10^6 octets, Fast-TCP", stats.mean(map(m.megabytes, ours)), near(WITH, 1.5)),
        Statement.of("10^6 octets, plain", stats.mean(map(m.megabytes, plain)), near(WITHOUT, 0.5)),
        Statement.of("packets lost to bit errors, plain", stats.mean(map(m.corrupted, plain))),
        Statement.of("packets lost to overflow, plain", stats.mean(map(m.overflows, plain))),
    ]
    for ber, text in ((plan()["paper"]["ber"], "with"), (0.0, "without")):
        alone = _pairs(results, lambda run: _is_default(run) and run.flows == 1)
        pairs = [(a, b) for a, b in alone if a.ber == ber]
        found.append(
            Statement.of(f"change over the sweep, {text} bit errors", _change(results, pairs))
        )
        ratio, best = max(
            (_mean(results, a, m.megabytes) / _mean(results, b, m.megabytes), a) for a, b in pairs
        )
        name = f"{best.flavour}, {best.buffer} packets, {best.window}"
        quantity = f"largest ratio {text} bit errors ({name})"
        found.append(Statement.of(quantity, stats.mean([ratio])))
    return Claim(
        "C5",
        "After 25 s 10.8 million octets are acknowledged with Fast-TCP, 3.5 million without.",
        found,
        "Judged where the paper says what it used, with Reno, scaled windows, 100 packets of buffer"
        " and segments of 1460 octets. Bit errors of 1e-6 lose 1.2 % of such packets, and hold Reno"
        " to a window of about 12 segments: the buffer never fills, and the router has nothing to"
        " do.",
    )


def _overflows(results: m.Results) -> Claim:
    pairs = _pairs(results, lambda run: _is_default(run) and run.flows == 1)
    full = [(a, b) for a, b in pairs if _mean(results, b, m.overflows) > 0]
    ours = [_mean(results, a, m.overflows) for a, _ in full]
    plain = [_mean(results, b, m.overflows) for _, b in full]
    return Claim(
        "C6",
        "Fast-TCP prevents overflow: fewer packets are lost in router 1's forward buffer.",
        [
            Statement.of(
                "packets lost more than by the plain router", stats.paired(ours, plain), at_most(0)
            ),
            Statement.of("packets lost, Fast-TCP", stats.mean(ours)),
            Statement.of("packets lost, plain", stats.mean(plain)),
        ],
        f"Over the {len(full)} conditions of the sweep in which the plain buffer overflows.",
    )


def _of(watched: Watched, router: str, ber: float) -> list[RunResult]:
    return [result for run, result in watched if run.router == router and run.ber == ber]


def _smooth(watched: Watched) -> Claim:
    found = []
    for ber, text in ((0.0, ""), (plan()["paper"]["ber"], ", with bit errors")):
        ours, plain = (_of(watched, router, ber) for router in ("fast-tcp", "plain"))
        for name, metric in (
            ("standard deviation of the buffer's occupancy, packets", m.deviation_of_queue),
            ("mean burst of the source, segments", m.mean_burst),
        ):
            more = stats.paired(map(metric, ours), map(metric, plain))
            quantity = f"{name}: more than plain{text}"
            found.append(
                Statement.of(quantity, more) if ber else Statement.of(quantity, more, at_most(0))
            )
    return Claim(
        "C7",
        "Traffic is smoother with Fast-TCP.",
        found,
        "Judged without bit errors, over flavours and buffers; with them both routers see the same"
        " packets.",
    )


def _bursts(watched: Watched) -> Claim:
    least = plan()["watch"]["jump"]

    def fills(router: str) -> list[float]:
        return [
            share
            for run, result in watched
            if run.router == router and run.ber == 0
            for share in m.fill_after_jumps(result, least, run.buffer, RTT)
        ]

    ours, plain = stats.mean(fills("fast-tcp")), stats.mean(fills("plain"))
    return Claim(
        "C8",
        "One cumulative ACK for a whole burst opens the window at once; delaying it does not help,"
        " and the buffer overflows all the same.",
        [
            Statement.of(
                "share of the buffer filled after such an ACK, Fast-TCP", ours, at_least(0.95)
            ),
            Statement.of("the same, plain", plain),
        ],
        f"Highest occupancy in the round trip after an ACK for more than {least} segments, without"
        " bit errors. Overflow: 95 % of the buffer.",
    )


def _gain(results: m.Results, name: str, flavour: str, text: str) -> Claim:
    pairs = _pairs(
        results,
        lambda run: _is_default(run) and run.flavour == flavour and run.flows == 1 and not run.ber,
    )
    return Claim(
        name,
        f"Fast-TCP gains throughput with {text}.",
        [Statement.of("change of octets after 25 s", _change(results, pairs), at_least(0))],
        "Without bit errors, over buffers and windows.",
    )


def _bucket(results: m.Results) -> Claim:
    pairs = [(run.with_router("ack-bucket"), run) for run in sorted(results) if _is_plain_aqm(run)]
    pairs = [(ours, theirs.with_router("fast-tcp")) for ours, theirs in pairs]
    return Claim(
        "F3",
        "The ACK bucket gains at least as much as the threshold law.",
        [Statement.of("change of octets after 25 s", _change(results, pairs), at_least(0))],
        "All flavours, one flow and ten, with and without bit errors.",
    )


def _is_plain_aqm(run: Run) -> bool:
    buffer = plan()["aqm"]["buffer"]
    alike = run.router == "plain" and run.buffer == buffer and not run.cross
    return alike and run.window == "scaled"


def _aqm(results: m.Results) -> Claim:
    plain = [run for run in sorted(results) if _is_plain_aqm(run)]
    found = []
    for router in plan()["aqm"]["routers"][3:]:
        pairs = [(run.with_router("fast-tcp"), run.with_router(router)) for run in plain]
        quantity = f"change of octets after 25 s against {router}"
        found.append(Statement.of(quantity, _change(results, pairs), at_least(0)))
    return Claim(
        "F4",
        "Delaying ACKs is worth it beside what routers do today: AQM with ECN, filtered ACKs.",
        found,
        "All flavours, one flow and ten, with and without bit errors; a buffer of 200 packets.",
    )


def _delay(watched: Watched) -> Claim:
    ours, plain = (list(map(m.mean_srtt_ms, _of(watched, r, 0.0))) for r in ("fast-tcp", "plain"))
    return Claim(
        "F5",
        "It adds no round-trip time: what it holds as ACKs does not wait as data.",
        [
            Statement.of("ms of mean SRTT more than plain", stats.paired(ours, plain), at_most(0)),
            Statement.of("mean SRTT with Fast-TCP, ms", stats.mean(ours)),
        ],
        "Without bit errors, over flavours and buffers; 264 ms without queues.",
    )


def _timeouts(results: m.Results) -> Claim:
    runs = [run for run in results if run.router == "fast-tcp" and not _is_default(run)]
    most = max(run.delay_ms for run in runs)
    more = [
        _mean(results, run, m.timeouts) - _mean(results, run.with_router("plain"), m.timeouts)
        for run in sorted(runs)
        if not run.cross
    ]
    return Claim(
        "F6",
        f"Delays of ACKs of up to {most} ms cause no timeouts.",
        [Statement.of("timeouts more than plain", stats.mean(more), at_most(0))],
        "Over thresholds and longest delays, Reno and SACK, one flow.",
    )


def _cross(results: m.Results) -> Claim:
    logs = [
        math.log(m.megabytes(a) / m.megabytes(b))
        for ours, plain in _pairs(results, lambda run: run.cross)
        for a, b in zip(results[ours], results[plain], strict=True)
    ]
    return Claim(
        "F7",
        "Beside traffic that comes and goes Fast-TCP gains throughput.",
        [Statement.of("change of octets after 25 s", _share(logs), at_least(0))],
        "On-off traffic of 15 Mbit/s; SACK, and RACK-TLP with CUBIC; replication by replication.",
    )
