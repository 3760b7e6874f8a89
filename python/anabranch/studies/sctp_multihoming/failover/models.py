"""Closed forms of failure detection, of its longest gap, and of failback."""

from __future__ import annotations

import itertools

ROUND_TRIP = 0.0784
"""Seconds of a full packet and its acknowledgment on an empty path: 35 ms each way, and 1500 octets
at 10, 2 and 10 Mbit/s."""


def timeouts(rto: float, count: int, most: float) -> list[float]:
    """So many timeouts in a row, each twice the one before, up to RTO.Max (RFC 9260 §6.3.3)."""
    return [min(rto * 2**i, most) for i in range(count)]


def waits(rto: float, retrans: int, most: float, *, probes: bool = False) -> list[float]:
    """The timeouts until a path under data is inactive: its errors must exceed Path.Max.Retrans
    (RFC 9260 §8.2).

    A policy that probes sends a heartbeat after the first timeout. It goes before the data that
    waits for room, so both run out at the end of the second timeout, and both are errors and double
    the RTO: the third timeout is saved. Later data goes at once, and the next timeout's heartbeat
    replaces the one that waits.

    >>> waits(1.0, 3, 60.0, probes=True)
    [1.0, 2.0, 8.0]
    """
    found = timeouts(rto, retrans + 1, most)
    return [*found[:2], *found[3:]] if probes else found


def detection(rto: float, retrans: int, most: float, *, probes: bool = False) -> float:
    """Seconds from the start of the timer until the path is inactive.

    >>> detection(1.0, 5, 60.0)
    63.0
    """
    return sum(waits(rto, retrans, most, probes=probes))


def failover(rto: float, retrans: int, most: float, potentially_failed: int) -> float:
    """Seconds until new data takes another path: the errors exceed PFMR (RFC 7829 §3.2), where
    there is one (not negative), or Path.Max.Retrans."""
    errors = potentially_failed if potentially_failed >= 0 else retrans
    return detection(rto, min(errors, retrans), most)


def longest_gap(before: list[float], srtt: float, *, stays: bool) -> float:
    """The longest time in which nothing new arrives, from the timeouts before new data leaves the
    path and its round-trip time at the failure.

    Of the first timeout the queue's delay is lost, since the bottleneck still delivers what it
    holds. A round trip and a half are added: the first to be sent again are packets that had
    arrived, whose acknowledgments were lost; then it takes a way there. Of the second timeout the
    queue's delay is lost too: so long it takes to send the rest of the window again, elsewhere.
    Later only a packet a timeout is lost. A policy that stays on the path delivers nothing before
    it is inactive.
    """
    queue = srtt - ROUND_TRIP
    first = before[0] + 1.5 * ROUND_TRIP - queue
    if stays:
        return first + sum(before[1:])
    second = [wait - queue for wait in before[1:2]]
    return max([first, *second, *before[2:]])


def idle_detection(rto: float, retrans: int, most: float, interval: float) -> float:
    """Mean seconds until heartbeats alone have found an idle path inactive (RFC 9260 §8.3): until
    the next heartbeat of a working path, then a period after each that is not answered, and the RTO
    of the last.

    >>> round(idle_detection(1.0, 0, 60.0, 5.0), 2)
    4.01
    """
    found = timeouts(rto, retrans + 1, most)
    between = sum(
        _period(before, after, interval)[0] for before, after in itertools.pairwise(found)
    )
    return _residual(rto, rto, interval) + between + found[-1]


def failback(rto: float, interval: float) -> float:
    """Mean seconds from the repair of an inactive path until the next heartbeat, which is answered.
    The date of the repair has no relation to the heartbeats, and the RTO has long reached RTO.Max.

    >>> round(failback(60.0, 5.0), 1)
    36.1
    """
    return _residual(rto, rto, interval)


def _residual(wait: float, rto: float, interval: float) -> float:
    """Mean seconds from any date until the next heartbeat: long periods are met more often."""
    mean, square = _period(wait, rto, interval)
    return square / (2 * mean)


def _period(wait: float, rto: float, interval: float) -> tuple[float, float]:
    """Mean and mean square of the seconds from one heartbeat to the next: HB.interval and the RTO,
    of which half to either side is random, but not before the one on its way has waited for its
    own RTO."""
    low, high = interval + rto / 2, interval + 3 * rto / 2
    held = min(max((wait - low) / rto, 0.0), 1.0)
    start = max(low, wait)
    if held == 1.0:
        return wait, wait**2
    mean = held * wait + (high**2 - start**2) / (2 * rto)
    return mean, held * wait**2 + (high**3 - start**3) / (3 * rto)


def failback_when_suspected(rto: float, most: float, outage: float) -> float:
    """Seconds from the repair while the path is potentially failed: a heartbeat at the end of each
    timeout (RFC 7829 §3.2).

    >>> failback_when_suspected(1.0, 60.0, 10.0)
    5.0
    """
    date = 0.0
    for wait in timeouts(rto, 20, most):
        date += wait
        if date > outage:
            break
    return date - outage
