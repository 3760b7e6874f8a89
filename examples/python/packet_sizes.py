"""Two CUBIC flows at a drop-tail queue whose packets differ by 12 octets: who is dropped?

The same payload of 1448 octets in packets of 1488 and 1500 (the second with timestamps), then
packets of 1500 with 1448 and 1460 octets of payload, then Multipath TCP over one path beside TCP;
at a full queue, behind 0 to 0.3 ms of jitter, and with random loss alone.

python examples/python/packet_sizes.py [REPLICATIONS]
"""

import sys
from typing import Any

from anabranch import Network, stats
from anabranch.units import Gbit_s, Mbit_s, ms, packets, s

COMMON = {
    "profile": "linux",
    "recovery": {"scheme": "sack", "prr": True},
    "undo": {"frto": False, "eifel": False, "dsack": False},
}
PLAIN = {"timestamps": False}
CASES = {
    "packets 1488 and 1500, payload 1448": ({**PLAIN, "mss": "1448 B"}, {}),
    "packets 1500, payload 1448 and 1460": ({}, PLAIN),
    "Multipath TCP over one path and TCP": ({"protocol": "mptcp"}, {}),
}
FIXED = {"adaptive_acks": False, "initial_receive_window": False}
FULL = {"queue": {"limit": packets(70)}}
LOSSES = {"queue": {"limit": "unlimited"}, "impairments": [{"kind": "bernoulli", "rate": 0.003}]}
JITTER = {"kind": "jitter", "mean": "150 us", "deviation": "150 us", "keep_order": True}
PLACES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "full queue": (FULL, {}),
    "full queue behind jitter": (FULL, {"impairments": [JITTER]}),
    "random loss": (LOSSES, {}),
}


def network(
    options: tuple[dict[str, Any], ...], shared: dict[str, Any], way: dict[str, Any]
) -> Network:
    """Both flows through 20 Mbit/s with a round-trip time of 40 ms; `way` leads there."""
    net = Network(duration=s(100))
    left, right = net.router("left"), net.router("right")
    net.link(left, right, rate=Mbit_s(20), delay=ms(18), **shared)
    for i, own in enumerate(options):
        sender, receiver = net.host(f"s{i}"), net.host(f"r{i}")
        net.link(sender, left, rate=Gbit_s(1), delay=ms(1), **way)
        net.link(right, receiver, rate=Gbit_s(1), delay=ms(1))
        tcp = {**COMMON, **own}
        protocol = tcp.pop("protocol", "tcp")
        net.flow(sender, receiver, start_spread=ms(100), protocol=protocol, tcp=tcp)
    return net


replications = int(sys.argv[1]) if len(sys.argv) > 1 else 12
for where, place in PLACES.items():
    for what, options in CASES.items():
        for acks, rule in (("adaptive", {}), ("every second", FIXED)):
            both = tuple({**own, **rule} for own in options)
            runs = network(both, *place).scenario().run_batch(replications, jobs=2)
            rates = [[flow.goodput_bps for flow in run.flows] for run in runs]
            mean = stats.mean(first / second for first, second in rates)
            print(f"{where}, {what}, ACKs {acks}: {mean.text()}")
