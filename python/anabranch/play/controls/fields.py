"""Every other field of a table that is a switch or one of some names, from its typed dictionary.

`anabranch.settings` declares the fields of the tables of a scenario once, for editors and type
checkers; what of them is a truth value or a list of names becomes a control here, without a list
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from anabranch.play.controls.control import Choices, Switch
from anabranch.settings import Cake, Mptcp, Sctp, Tcp

TABLES: dict[str, type[Any]] = {"tcp": Tcp, "mptcp": Mptcp, "sctp": Sctp, "cake": Cake}
"""The typed dictionary of each table of a flow, and that of a queue."""


def plain(table: str) -> Iterator[tuple[str, Choices | Switch]]:
    """The fields of a table that are switches or choices.

    >>> dict(plain("tcp"))["nagle"].names
    {'off': '', 'rfc': '', 'minshall': ''}
    """
    for name, kind in sorted(get_type_hints(TABLES[table]).items()):
        if kind is bool:
            yield name, Switch()
        elif get_origin(kind) is Literal and all(isinstance(each, str) for each in get_args(kind)):
            yield name, Choices(dict.fromkeys(get_args(kind), ""))
