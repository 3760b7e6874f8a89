"""The scenarios of `anabranch bench live`."""

from __future__ import annotations

PORT = 49152
"""Of both ends of the first flow of a host."""

START_S = 0.3
"""When programs at the `from` of a flow start."""

FREE = 'rate = "100 Gbit/s"\ndelay = "0 s"\nqueue = { limit = "unlimited" }\n'
"""A link that is never in the way."""


def forwarding(megabytes: int, offload: bool) -> str:
    """Two kernels; the loop hands packets on, with `offload` those that leave together as one."""
    how = f"external = true, receive_offload = {str(offload).lower()}"
    return (
        f'hosts = [{{ name = "a", {how} }}, {{ name = "b", {how} }}]\n'
        f'[[links]]\nends = ["a", "b"]\n{FREE}'
        f'[[flows]]\nname = "f"\nfrom = "a"\nto = "b"\nsize = "{megabytes} MB"\n'
    )


def shaped(seconds: int) -> str:
    """One flow of the kernel's CUBIC through a link of 100 Mbit/s."""
    return (
        f'duration = "{seconds} s"\n'
        'hosts = [{ name = "a", external = true }, { name = "b", external = true }]\n'
        '[[links]]\nends = ["a", "b"]\nrate = "100 Mbit/s"\ndelay = "10 ms"\n'
        'queue = { limit = "250 packets" }\n'
        '[[flows]]\nname = "f"\nfrom = "a"\nto = "b"\n'
    )


def links(count: int, seconds: int, own: bool) -> str:
    """Pairs of hosts, each with a link of 2 Mbit/s of its own: kernels, or with `own` a sender of
    ours and a kernel. All flows begin together."""
    pairs = range(count)
    sender = "false" if own else "true"
    hosts = ", ".join(
        f'{{ name = "a{i}", external = {sender} }}, {{ name = "b{i}", external = true }}'
        for i in pairs
    )
    text = f'duration = "{seconds} s"\nhosts = [{hosts}]\n'
    for i in pairs:
        text += (
            f'[[links]]\nends = ["a{i}", "b{i}"]\nrate = "2 Mbit/s"\ndelay = "35 ms"\n'
            'queue = { limit = "50 packets" }\n'
            f'[[flows]]\nname = "f{i}"\nfrom = "a{i}"\nto = "b{i}"\n'
        )
    return text


def ours(sends: bool, megabytes: int, offload: bool) -> str:
    """A host of ours and a kernel's, MTU 1500, buffers of 1 MiB, CUBIC on both sides."""
    together = f"receive_offload = {str(offload).lower()}"
    start, to = ("ours", "kernel") if sends else ("kernel", "ours")
    return (
        f'hosts = [{{ name = "ours", {together} }}, '
        f'{{ name = "kernel", external = true, {together} }}]\n'
        f'[[links]]\nends = ["ours", "kernel"]\n{FREE}'
        f'[[flows]]\nname = "f"\nfrom = "{start}"\nto = "{to}"\nstart = "{START_S} s"\n'
        f'size = "{megabytes} MB"\n'
        'tcp = { receive_buffer = "1 MiB", send_buffer = "1 MiB", time_wait = "1 ms" }\n'
    )


def sctp(ours: str, megabytes: int, offload: bool) -> str:
    """Of the hosts `a`, which sends, and `b` the one named `ours` is ours; the others have
    usrsctp."""
    own = f"receive_offload = {str(offload).lower()}"
    hosts = ", ".join(
        f'{{ name = "{name}", {own if name == ours else "external = true"} }}' for name in "ab"
    )
    return (
        f'hosts = [{hosts}]\n[[links]]\nends = ["a", "b"]\n{FREE}'
        f'[[flows]]\nname = "f"\nfrom = "a"\nto = "b"\nstart = "{START_S} s"\n'
        f'size = "{megabytes} MB"\nprotocol = "sctp"\n'
        'sctp = { receive_buffer = "1 MiB", rto = { initial = "500 ms", min = "200 ms" } }\n'
    )
