"""What window algorithms need of the connection that they govern.

An algorithm that is named in a library scenario, or examined by `anabranch evaluate`, gets these
fields of `tcp` with its name. One of the user's own says them itself, see `WindowControl.needs`
and, of a shared library, `WindowControl::NEEDS`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, cast

from anabranch import algorithms
from anabranch.algorithms.plugin import is_library
from anabranch.errors import InputError
from anabranch.native import core, guarded
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
    if is_library(algorithm):
        return _of_library(algorithm)
    if ":" not in algorithm:
        return NEEDS.get(algorithm, Tcp()).copy()
    try:
        found: Any = getattr(algorithms.load(algorithm, "window"), "needs", {})
        return cast(Tcp, dict(found))
    except InputError:
        return {}  # Whoever reads the scenario says what is wrong with the name, and where.


def _of_library(name: str) -> Tcp:
    try:
        with guarded():
            text = core.plugin_needs(name)
    except InputError:
        return {}  # As above.
    try:
        return cast(Tcp, tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        raise InputError.about(name, "NEEDS", text, 'TOML, as ecn = "dctcp"') from None
