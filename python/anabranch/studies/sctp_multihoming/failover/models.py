"""Closed forms of failure detection, of its longest gap, and of failback."""

from __future__ import annotations

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
    """Mean seconds until heartbeats alone have found an idle path inactive (RFC 9260 §8.3): half
    a period until the next one; each waits for an RTO, and the next one follows after HB.interval
    and an RTO more, the random part being fair."""
    found = timeouts(rto, retrans + 1, most)
    return (interval + rto) / 2 + found[0] + sum(interval + 2 * each for each in found[1:])


def failback(rto: float, interval: float) -> float:
    """Mean seconds from the repair of an inactive path until a heartbeat is answered, at a date
    without relation to the heartbeats, when the RTO has long reached RTO.Max.

    A heartbeat that is not answered waits for the RTO; then the path rests for HB.interval and the
    RTO, half of it to either side, at random. A repair falls on both by their lengths. In the rest
    the next heartbeat is half of it away, and a little more as long ones are met more often; in the
    wait, half of that and the next rest.
    """
    rest = interval + rto
    in_rest = (rest**2 + rto**2 / 12) / (2 * rest)
    in_wait = rto / 2 + rest
    return (rest * in_rest + rto * in_wait) / (rest + rto)


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
