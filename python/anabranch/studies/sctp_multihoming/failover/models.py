"""Closed forms of failure detection, of its longest gap, and of failback."""

from __future__ import annotations


def timeouts(rto: float, count: int, most: float) -> list[float]:
    """So many timeouts in a row, each twice the one before, up to RTO.Max (RFC 9260 §6.3.3)."""
    return [min(rto * 2**i, most) for i in range(count)]


def detection(rto: float, retrans: int, most: float) -> float:
    """Seconds from the start of the timer until a path under data is inactive: its errors must
    exceed Path.Max.Retrans (RFC 9260 §8.2).

    >>> detection(1.0, 5, 60.0)
    63.0
    """
    return sum(timeouts(rto, retrans + 1, most))


def failover(rto: float, retrans: int, most: float, potentially_failed: int) -> float:
    """Seconds until new data takes another path: the errors exceed PFMR (RFC 7829 §3.2), where
    there is one (not negative), or Path.Max.Retrans."""
    errors = potentially_failed if potentially_failed >= 0 else retrans
    return detection(rto, min(errors, retrans), most)


def longest_timeout(rto: float, retrans: int, most: float, potentially_failed: int) -> float:
    """The last of the timeouts before new data leaves the path: nothing new arrives meanwhile."""
    errors = potentially_failed if potentially_failed >= 0 else retrans
    return timeouts(rto, min(errors, retrans) + 1, most)[-1]


def idle_detection(rto: float, retrans: int, most: float, interval: float) -> float:
    """Mean seconds until heartbeats alone have found an idle path inactive (RFC 9260 §8.3): half
    a period until the next one; each waits for an RTO, and the next one follows after HB.interval
    and an RTO more, the random part being fair."""
    found = timeouts(rto, retrans + 1, most)
    return (interval + rto) / 2 + found[0] + sum(interval + 2 * each for each in found[1:])


def failback(rto: float, most: float, interval: float, *, eager: bool) -> float:
    """Mean seconds from the repair of a path until a heartbeat is answered: half of the time
    between two of them, which is an RTO where the path is potentially failed (RFC 7829 §3.2), else
    HB.interval with the RTO in force and the one before it, which the last heartbeat waited for."""
    before = rto if rto == most else rto / 2
    return rto / 2 if eager else (interval + rto + before) / 2
