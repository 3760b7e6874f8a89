"""Typed tables of a scenario have the fields that the core reads, no more and no fewer."""

from __future__ import annotations

import re
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, Required, Union, is_typeddict

import pytest

import settings_page
from anabranch import InputError, Network, experiment, settings
from anabranch.experiment import catalogue

UNKNOWN = "zqx"
"""Near no name, so that the reader tells all of them."""

SCHEMA = experiment.schema()
QUEUES = {
    table.place.partition("=")[2]: getattr(settings, table.name)
    for table in settings_page.queues(SCHEMA)
}


def test_the_file_is_what_the_core_declares() -> None:
    text = Path(settings.__file__).read_text(encoding="utf-8")
    assert settings_page.page(SCHEMA) == text, "run `make settings`"


def fields(kind: Any) -> set[str]:
    """The names that a typed dictionary has."""
    return set(kind.__required_keys__ | kind.__optional_keys__)


def read(link: dict[str, Any] | None = None, **flow: Any) -> set[str]:
    """The names that the core's reader says a table may have, of which one field is unknown."""
    net = Network("settings", duration="1 s")
    a, b = net.host("a"), net.host("b")
    net.link(a, b, **{"rate": "1 Mbit/s", "delay": "1 ms", **(link or {})})
    net.flow(a, b, size="1 kB", **flow)
    with pytest.raises(InputError, match=f"{UNKNOWN}.*no field of this name") as raised:
        net.scenario().resolved()
    named = re.search(r"the fields are (.*)", str(raised.value))
    assert named is not None
    return set(named[1].split(", "))


def test_the_reader_and_tcp_agree() -> None:
    assert fields(settings.Tcp) == read(tcp={UNKNOWN: 1})
    assert fields(settings.DelayedAck) == read(tcp={"delayed_ack": {UNKNOWN: 1}})
    assert fields(settings.TcpRto) == read(tcp={"rto": {UNKNOWN: 1}})
    assert fields(settings.KeepAlive) == read(tcp={"keep_alive": {UNKNOWN: 1}})
    assert fields(settings.FastOpen) == read(tcp={"fast_open": {UNKNOWN: 1}})
    assert fields(settings.Undo) == read(tcp={"undo": {UNKNOWN: 1}})


def test_the_reader_and_mptcp_agree() -> None:
    assert fields(settings.Mptcp) == read(protocol="mptcp", mptcp={UNKNOWN: 1})


def test_the_reader_and_sctp_agree() -> None:
    assert fields(settings.Sctp) == read(protocol="sctp", sctp={UNKNOWN: 1})
    for name, typed in {
        "rto": settings.Rto,
        "undo": settings.SctpUndo,
        "probing": settings.Probing,
        "concurrent": settings.Concurrent,
        "immediate_sacks": settings.ImmediateSacks,
    }.items():
        assert fields(typed) == read(protocol="sctp", sctp={name: {UNKNOWN: 1}}), name


def test_the_reader_and_links_agree() -> None:
    assert fields(settings.Link) == read(link={UNKNOWN: 1})
    assert fields(settings.Reverse) == read(link={"reverse": {UNKNOWN: 1}})


def test_every_kind_of_queue_has_its_type() -> None:
    assert list(QUEUES) == [name for name, _, _ in catalogue("queues")]


@pytest.mark.parametrize("kind", QUEUES)
def test_the_reader_and_queues_agree(kind: str) -> None:
    assert fields(QUEUES[kind]) == read(link={"queue": {"kind": kind, UNKNOWN: 1}})


def fits(value: Any, hint: Any) -> bool:
    """Whether a value that TOML has is of the type of its field."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Required, NotRequired):
        return fits(value, inner[0])
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in inner)
    if is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        return isinstance(value, dict) and all(
            key in hints and fits(each, hints[key]) for key, each in value.items()
        )
    if origin is Mapping:
        return isinstance(value, dict)
    if origin is Sequence:
        return isinstance(value, list) and all(fits(each, inner[0]) for each in value)
    return type(value) is hint or (hint is float and type(value) is int)


def misfits(table: dict[str, Any], kind: Any) -> dict[str, Any]:
    """The fields of a resolved table whose values are not of their types."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {key: value for key, value in table.items() if not fits(value, hints[key])}


def resolved(link: dict[str, Any] | None = None, **flow: Any) -> dict[str, Any]:
    """A scenario with all defaults."""
    net = Network("settings", duration="1 s")
    a, b = net.host("a"), net.host("b")
    net.link(a, b, **{"rate": "1 Mbit/s", "delay": "1 ms", **(link or {})})
    net.flow(a, b, size="1 kB", **flow)
    return tomllib.loads(net.scenario().resolved())


@pytest.mark.parametrize("profile", ["rfc", "linux", "freebsd", "ns2"])
def test_what_tcp_has_by_default_is_of_the_types(profile: str) -> None:
    flow = resolved(protocol="mptcp", tcp={"profile": profile})["flows"][0]
    assert len(flow["tcp"]) > 40 and misfits(flow["tcp"], settings.Tcp) == {}
    assert misfits(flow["mptcp"], settings.Mptcp) == {}


@pytest.mark.parametrize("preset", ["rfc2960", "rfc4960", "rfc9260", "ns2"])
def test_what_sctp_has_by_default_is_of_the_types(preset: str) -> None:
    flow = resolved(protocol="sctp", sctp={"preset": preset})["flows"][0]
    assert len(flow["sctp"]) > 40 and misfits(flow["sctp"], settings.Sctp) == {}


@pytest.mark.parametrize("kind", QUEUES)
def test_what_a_queue_has_by_default_is_of_the_types(kind: str) -> None:
    link = resolved(link={"queue": {"kind": kind}})["links"][0]
    assert misfits(link, settings.Link) == {} and misfits(link["queue"], QUEUES[kind]) == {}


def test_a_value_of_another_type_is_found() -> None:
    wrong = {"sack": 1, "nagle": "always", "rto": {"min": 200}, "mss": "1460 B"}
    assert misfits(wrong, settings.Tcp).keys() == {"sack", "nagle", "rto"}
