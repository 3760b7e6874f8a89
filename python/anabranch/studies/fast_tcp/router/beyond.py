"""Statements F1 to F7: what the paper leaves open about routers that delay ACKs."""

from __future__ import annotations

import itertools

from anabranch.studies.fast_tcp.router import measures as m
from anabranch.studies.fast_tcp.router.claims import SENDERS, filled
from anabranch.studies.fast_tcp.router.conditions import Run, plan
from anabranch.studies.fast_tcp.router.found import Found, Pair, alone, over
from anabranch.verdicts import Claim, Statement, at_least, at_most, more

GAIN = 0.05
"""A transfer that is faster by less than this is no reason to change a router."""
TIE = 0.02
"""Throughputs closer than this are alike."""
DELAY_MS = 5.0
"""Two per cent of the round trip without queues: nobody notices less."""
TODAY = ("red", "codel", "fq-codel", "pie", "dualpi2")
"""AQM with ECN."""


def judge_counted(found: Found) -> list[Claim]:
    """Those that counters of runs decide."""
    return [
        gain(found, "F1", "modern", "RACK-TLP, PRR and CUBIC"),
        gain(found, "F2", "bbr", "BBR"),
        _bucket(found),
        _aqm(found),
        _timeouts(found),
        _cross(found),
    ]


def _usual(found: Found, sender: str, errors: bool) -> list[Pair]:
    """Both routers under the law's usual parameters, one flow, with or without bit errors."""

    def kept(run: Run) -> bool:
        alone = run.flows == 1 and not run.cross and bool(run.ber) == errors
        return alone and run.flavour == sender and run == run.with_router(run.router)

    return found.pairs(kept)


def gain(found: Found, name: str, flavour: str, text: str) -> Claim:
    """F1 and F2: what one of today's senders gains."""
    statements = []
    for errors, where in ((False, "no bit errors, over buffers and windows"), (True, "bit errors")):
        changes = [found.change(*pair) for pair in _usual(found, flavour, errors)]
        if changes:
            quantity = (
                f"relative change of data acknowledged in 25 s against plain routers, {where}"
            )
            statements.append(Statement.of(quantity, over(changes), more(0, GAIN)))
    return Claim(
        name,
        f"Fast-TCP gains throughput with {text}.",
        statements,
        "Without bit errors each condition by itself; with them the mean over buffers of 25 to 400"
        " packets, 3e-8 and 1e-6.",
    )


def _worlds(found: Found) -> list[tuple[Run, str]]:
    """Senders, alone beside bit errors and ten without; Fast-TCP in the router."""
    part = plan()["aqm"]
    runs = [
        (Run("fast-tcp", sender, buffer=part["buffer"], ber=ber, flows=flows), sender, flows)
        for sender, (flows, ber) in itertools.product(SENDERS, part["flows_ber"])
    ]
    return [
        (run, f"{sender}, {'one flow' if flows == 1 else f'{flows} flows'}")
        for run, sender, flows in runs
        if run.with_router(TODAY[0]) in found
    ]


def _bucket(found: Found) -> Claim:
    return Claim(
        "F3",
        "The ACK bucket gains at least as much as the threshold law.",
        [
            Statement.of(
                f"relative change of data acknowledged in 25 s, bucket against thresholds, {text}",
                found.change(run.with_router("ack-bucket"), run),
                at_least(0, TIE),
            )
            for run, text in _worlds(found)
        ],
        "A buffer of 200 packets; one flow beside bit errors of 3e-8, ten flows without.",
    )


def _aqm(found: Found) -> Claim:
    statements = []
    for run, text in _worlds(found):
        changes = [found.change(run, run.with_router(router)) for router in TODAY]
        statements += [
            Statement.of(
                "relative change of data acknowledged in 25 s against AQM with ECN, mean of five"
                f" AQMs, {text}",
                over(changes),
                more(0, GAIN),
            ),
            Statement.of(
                f"relative change of data acknowledged in 25 s against an ACK filter, {text}",
                found.change(run, run.with_router("ack-filter")),
                more(0, GAIN),
            ),
        ]
    return Claim(
        "F4",
        "Delaying ACKs is worth it beside what routers do today: AQM with ECN, filtered ACKs.",
        statements,
        "RED, CoDel, FQ-CoDel, PIE and DualPI2, each with ECN; a buffer of 200 packets; one flow"
        " beside bit errors of 3e-8, ten flows without.",
    )


def delay(seen: Found) -> Claim:
    """F5: what it does to the round-trip time."""
    statements = []
    for ours, plain, reading in filled(seen):
        later = seen.sample(ours, m.mean_srtt_ms) - seen.sample(plain, m.mean_srtt_ms)
        text = f"increase of the mean smoothed RTT over plain routers in ms, {reading}"
        statements.append(Statement.of(text, alone(later), at_most(0, DELAY_MS)))
    for sender in SENDERS:
        pairs = _usual(seen, sender, errors=False)
        more_ms = [
            seen.sample(a, m.mean_srtt_ms) - seen.sample(b, m.mean_srtt_ms) for a, b in pairs
        ]
        if more_ms:
            text = (
                f"increase of the mean smoothed RTT over plain routers in ms, {sender}, no bit"
                " errors"
            )
            statements.append(Statement.of(text, over(more_ms), at_most(0, DELAY_MS)))
    return Claim(
        "F5",
        "It adds no round-trip time: what it holds as ACKs does not wait as data.",
        statements,
        "Over buffers of 50 to 200 packets; 264 ms without queues.",
    )


def _timeouts(found: Found) -> Claim:
    part = plan()["thresholds"]

    def varied(run: Run) -> bool:
        return run.buffer == part["buffer"] and run != run.with_router(run.router)

    statements = []
    for sender in part["flavour"]:
        pairs = [pair for pair in found.pairs(varied) if pair[0].flavour == sender]
        later = [found.sample(a, m.timeouts) - found.sample(b, m.timeouts) for a, b in pairs]
        if later:
            text = (
                f"additional timeouts per run over plain routers, {sender}, {len(pairs)} delay laws"
            )
            statements.append(Statement.of(text, over(later), at_most(0)))
    return Claim(
        "F6",
        f"Delays of ACKs of up to {max(part['delay'])} ms cause no timeouts.",
        statements,
        "Over thresholds and longest delays, a buffer of 100 packets, one flow, no bit errors.",
    )


def _cross(found: Found) -> Claim:
    return Claim(
        "F7",
        "Beside traffic that comes and goes Fast-TCP gains throughput.",
        [
            Statement.of(
                "relative change of data acknowledged in 25 s against plain routers,"
                f" {run.flavour}",
                found.change(run, plain),
                more(0, GAIN),
            )
            for run, plain in found.pairs(lambda run: run.cross)
        ],
        "On-off traffic of 15 Mbit/s, a buffer of 200 packets.",
    )
