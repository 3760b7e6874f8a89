"""What window algorithms need of the connection that they govern.

An algorithm that is named in a library scenario, or examined by `anabranch evaluate`, gets these
fields of `tcp` with its name. One of the user's own says them itself, see `WindowControl.needs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from anabranch import algorithms
from anabranch.errors import InputError
from anabranch.settings import Tcp

NEEDS: Mapping[str, Tcp] = {
    # RFC 8257 §3.2: marks are echoed one by one.
    "dctcp": {"ecn": "dctcp"},
    # RFC 9331 §4: the same, under ECT(1).
    "prague": {"ecn": "accurate", "ecn_codepoint": "ect1"},
}
"""Fields of `tcp` by algorithm; one that is not here needs nothing."""


def needs(algorithm: str) -> Tcp:
    """The fields of `tcp` without which this algorithm is not what its name says.

    >>> needs("dctcp"), needs("reno")
    ({'ecn': 'dctcp'}, {})
    """
    if ":" not in algorithm:
        return NEEDS.get(algorithm, Tcp()).copy()
    try:
        found: Any = getattr(algorithms.load(algorithm, "window"), "needs", {})
        return cast(Tcp, dict(found))
    except InputError:
        return {}  # Whoever reads the scenario says what is wrong with the name, and where.
