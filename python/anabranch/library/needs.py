"""What window algorithms need of the connection that they govern.

An algorithm that is named in a library scenario, or examined by `anabranch evaluate`, gets these
fields of `tcp` with its name. One of the user's own says them itself, see `WindowControl.needs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anabranch import algorithms
from anabranch.errors import InputError

NEEDS: Mapping[str, Mapping[str, Any]] = {
    # RFC 8257 §3.2: marks are echoed one by one.
    "dctcp": {"ecn": "dctcp"},
}
"""Fields of `tcp` by algorithm; one that is not here needs nothing."""


def needs(algorithm: str) -> dict[str, Any]:
    """The fields of `tcp` without which this algorithm is not what its name says.

    >>> needs("dctcp"), needs("reno")
    ({'ecn': 'dctcp'}, {})
    """
    if ":" not in algorithm:
        return dict(NEEDS.get(algorithm, {}))
    try:
        return dict(getattr(algorithms.load(algorithm, "window"), "needs", {}))
    except InputError:
        return {}  # Whoever reads the scenario says what is wrong with the name, and where.
