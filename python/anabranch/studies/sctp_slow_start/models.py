"""The closed form: handshake, rounds whose window grows by a factor, and the time that the link
takes for what is sent once it is always busy."""

from __future__ import annotations

import math

PACKET = 1500
"""Octets of a full packet with its IP header."""
PAYLOAD = {"tcp": 1460, "sctp": 1452}
"""User data of a full packet: 40 octets of headers, or 20 of IP, 12 of SCTP and 16 of DATA."""
HANDSHAKE_RTTS = {"tcp": 1.0, "sctp": 2.0}
"""Before the first full packet: SYN and SYN ACK; INIT, INIT ACK, COOKIE ECHO, COOKIE ACK. Data may
ride with the COOKIE ECHO if it fits beside it, which a full packet does not."""


DOUBLING = 2.0
"""Growth of the window in a round with an ACK for every packet."""


def packets(transport: str, octets: int) -> int:
    """Full packets that the transfer takes, the last perhaps smaller."""
    return math.ceil(octets / PAYLOAD[transport])


def seconds(
    transport: str,
    octets: int,
    rate_bps: float,
    rtt: float,
    window: float,
    *,
    growth: float = 2.0,
    before_ack: int = 1,
) -> float:
    """From the opening until the last octet has arrived; the window grows by a factor in a round.

    A round lasts an RTT and the time that the link takes for the packets that the first ACK waits
    for. When a window takes longer than that to be sent, the link stays
    busy from then on.
    """
    one = PACKET * 8 / rate_bps
    left = packets(transport, octets)
    short = left * PAYLOAD[transport] - octets
    total = HANDSHAKE_RTTS[transport] * rtt
    while True:
        burst = min(left, math.floor(window))
        if burst == left or math.floor(window) * one >= rtt + before_ack * one:
            return total + left * one - short * 8 / rate_bps + rtt / 2
        total += rtt + before_ack * one
        left -= burst
        window *= growth
