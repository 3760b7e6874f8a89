"""What other tools say of a link, as a scenario with that link.

`traffic_control.py` reads command lines of Linux's traffic control, `mininet.py` links of Mininet,
`mahimahi.py` Mahimahi's command lines and traces; they give a `Way` for each direction of a link,
which `Link` writes. What has no counterpart here is an `InputError` that names it, never left out.
"""

from __future__ import annotations

from anabranch.convert import mahimahi as shells
from anabranch.convert.link import Converted, Link, Way
from anabranch.convert.mininet import mininet
from anabranch.convert.traffic_control import tc

__all__ = ["Converted", "Link", "Way", "convert", "mininet", "tc"]

LINE = "1 Gbit/s"
"""The rate of a line of which nothing is said."""


def convert(
    text: str, file: str, ends: tuple[str, str] = ("a", "b"), line: str = LINE
) -> Converted:
    """Links from the text of a file: lines that call `tc`, Mahimahi's command line or trace, or
    Mininet's Python or link parameters.

    `ends` are the nodes of links that do not name theirs, `line` the rate of those without one.
    """
    if any("tc" in each.split("#")[0].split() for each in text.splitlines()):
        return tc(text, file, ends, line)
    if text.split(maxsplit=1)[0].startswith(shells.PREFIX):
        return shells.mahimahi(text, file, ends, line)
    if shells.is_trace(text):
        return shells.trace(text, file, ends)
    return mininet(text, file, ends, line)
