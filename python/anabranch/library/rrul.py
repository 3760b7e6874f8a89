"""Latency under load: transfers both ways beside probes, as flent's test RRUL."""

from __future__ import annotations

from anabranch.library.classics import queue_of
from anabranch.library.entry import Window, tcp
from anabranch.network import Network

CLASSES = {"be": 0, "bk": 8, "ef": 46}
"""The code points of the probes: best effort, background (CS1, RFC 3662), expedited forwarding."""


def rrul(
    *,
    streams: int = 4,
    down: str = "20 Mbit/s",
    up: str = "5 Mbit/s",
    delay: str = "20 ms",
    buffer: str = "1000 packets",
    queue: str = "droptail",
    interval: str = "200 ms",
    lead: str = "5 s",
    duration: str = "70 s",
    window: Window = "cubic",
) -> Network:
    """Transfers down and up an access line, and probes over UDP all the time.

    Probes run alone for `lead`, then beside `streams` transfers each way: `pings.csv` has their
    round-trip times, `links.csv` the queues. As "Realtime Response Under Load" of flent, but that
    transfers have no code points of their own and that the probes of ICMP are probes of UDP.
    """
    net = Network("latency under load", duration=duration)
    net.host("home")
    net.host("server")
    net.router("modem")
    line = queue_of(queue, buffer)
    net.link("home", "modem", rate="1 Gbit/s", delay="100 us")
    net.link(
        "modem", "server", name="access", rate=up, delay=delay, queue=line, reverse={"rate": down}
    )
    for name, dscp in CLASSES.items():
        net.flow(
            "home", "server", name=f"ping-{name}", protocol="udp", udp={"dscp": dscp},
            traffic={"kind": "ping", "interval": interval},
        )  # fmt: skip
    for way, ends in (("down", ("server", "home")), ("up", ("home", "server"))):
        for stream in range(streams):
            net.flow(*ends, name=f"{way}-{stream}", start=lead, tcp=tcp(window))
    for link in ("access", "access-reverse"):
        net.observe("queueing", link=link)
    return net
