"""The runs: the primary path fails under data, while idle, and for a while."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from anabranch import inline
from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.sctp_multihoming import conditions
from anabranch.studies.sctp_multihoming.failover import models

SEEDS = 1000
"""Replications of a date have seeds of their own."""
OFF = -1
"""PFMR of an association without the state "potentially failed"."""


@dataclass(frozen=True, order=True)
class Setting:
    """The parameters of an association and what fails."""

    kind: str
    """`busy`, `idle`, `back` or `suspected`."""
    retrans: int
    """Path.Max.Retrans."""
    potentially_failed: int = OFF
    destination: str = "fr-same-rto-alt"
    least: float = 1.0
    """RTO.Min, s."""
    most: float = 60.0
    """RTO.Max, s."""
    interval: int = 30
    """HB.interval, s."""

    @property
    def comes_back(self) -> bool:
        """Whether the path works again."""
        return self.kind in ("back", "suspected")

    @property
    def probes(self) -> bool:
        """Whether it sends a heartbeat after each timeout."""
        return self.destination == "best-path"

    @property
    def stays(self) -> bool:
        """Whether retransmissions stay on a path that fails, while it is not taken for failed."""
        return self.destination == "all-same" and self.potentially_failed == OFF

    @property
    def before_leaving(self) -> int:
        """Errors that new data survives on the path."""
        pf = self.potentially_failed
        return self.retrans if pf == OFF else min(pf, self.retrans)

    def name(self) -> str:
        """The retransmission policy, with PFMR if there is any."""
        if self.potentially_failed == OFF:
            return self.destination
        return f"{self.destination}, PFMR {self.potentially_failed}"


@dataclass(frozen=True, order=True)
class Run:
    """One failure: at which of the dates."""

    setting: Setting
    phase: int

    @property
    def fails(self) -> float:
        """When the path fails, s."""
        part = plan()[self.setting.kind]
        # The golden ratio spreads the dates evenly, however many there are.
        spread = (self.phase * 0.618034) % 1
        # While idle over a whole period of heartbeats.
        width = self.setting.interval + 1.0 if self.setting.kind == "idle" else 1.0
        begin = float(part.get("begin", plan()["begin"]))
        return round(begin + spread * width, 3)

    @property
    def returns(self) -> float:
        """When it works again, s: beyond the end unless that is what is looked at."""
        if self.setting.comes_back:
            part, spread = plan()[self.setting.kind], (self.phase * 0.754878) % 1
            return round(self.fails + float(part["outage"] + spread * part["spread"]), 3)
        return self.ends + 1

    @property
    def ends(self) -> float:
        """End of the run, s."""
        s = self.setting
        if s.comes_back:
            # The longest time between two heartbeats.
            return self.returns + s.interval + 2.5 * s.most + float(plan()["after"])
        longest = models.detection(max(s.least, 1.0), s.retrans, s.most)
        if s.kind == "idle":
            longest = (s.retrans + 2) * (s.interval + 1) + 3 * longest
        return self.fails + 1.2 * longest + float(plan()["after"])


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((Path(__file__).parent / "plan.toml").read_text(encoding="utf-8"))


def runs(quick: bool) -> tuple[list[Run], list[Run]]:
    """All runs: of failures without chance, and of those that heartbeats find or end, whose dates
    are random."""
    busy, random = [*sorted({*_busy(quick)}), _suspected()], [*_idle(quick), *_back(quick)]
    return _at_dates(busy, quick), _at_dates(random, quick)


def _at_dates(settings: list[Setting], quick: bool) -> list[Run]:
    found = []
    for setting in settings:
        usual = plan()[setting.kind].get("phases", plan()["phases"])
        phases = plan()["quick"]["phases"] if quick else usual
        found += [Run(setting, phase) for phase in range(phases)]
    return found


def _part(name: str, key: str, quick: bool) -> list[Any]:
    part = plan()[name]
    return list(part["quick"] if quick else part[key])


def _busy(quick: bool) -> Iterator[Setting]:
    part, retrans = plan()["busy"], _part("busy", "retrans", quick)
    for count, (least, most), pf in itertools.product(
        retrans, part["bounds"], part["potentially_failed"]
    ):
        yield Setting("busy", count, pf, least=least, most=most)
    for count, destination in itertools.product(retrans, plan()["policies"]["destinations"]):
        yield Setting("busy", count, destination=destination)


def _idle(quick: bool) -> Iterator[Setting]:
    for count, interval in itertools.product(
        _part("idle", "retrans", quick), plan()["idle"]["interval"]
    ):
        yield Setting("idle", count, interval=interval)


def _back(quick: bool) -> Iterator[Setting]:
    part = plan()["back"]
    for interval, most in itertools.product(_part("back", "interval", quick), part["most"]):
        yield Setting("back", part["retrans"], most=most, interval=interval)


def _suspected() -> Setting:
    part = plan()["suspected"]
    return Setting("suspected", part["retrans"], part["potentially_failed"])


def scenario(run: Run) -> Scenario:
    """The scenario of a run."""
    s = run.setting
    options = {
        **plan()["sctp"],
        "destination": s.destination,
        "path_max_retrans": s.retrans,
        "rto": {"min": f"{s.least:g} s", "max": f"{s.most:g} s"},
        "heartbeat_interval": f"{s.interval:g} s",
    }
    if s.potentially_failed != OFF:
        options["potentially_failed"] = s.potentially_failed
    flow: dict[str, Any] = {"name": "transfer", "from": "sender", "to": "receiver"}
    if s.kind == "idle":
        # The second message comes after the end: the association stays open.
        dates = ["0 s", f"{run.ends + 10:g} s"]
        flow["traffic"] = {"kind": "messages", "at": dates}
    else:
        flow["duration"] = f"{run.ends:g} s"
    if s.comes_back:
        flow["traffic"] = {"kind": "constant", "rate": plan()[s.kind]["rate"]}
    flow |= {"protocol": "sctp", "sctp": options}
    down = {"at": f"{run.fails:g} s", "for": f"{run.returns - run.fails:g} s"}
    loses = inline.toml([{"kind": "outage", "intervals": [down]}])
    watched = ["path_state", "path_rto"]
    if s.kind == "busy":
        watched += ["path_srtt", "received"]
    return conditions.network().set(
        f'duration="{run.ends:g} s"',
        f"flows=[{inline.toml(flow)}]",
        f"links.core0.impairments={loses}",
        f"links.core0.reverse={{impairments = {loses}}}",
        f"observe={inline.toml([{'what': what} for what in watched])}",
        f"seed={1 + SEEDS * run.phase}",
    )


def base(settings: list[Setting], **values: Any) -> list[Setting]:
    """Those settings under data that have these values and else the defaults."""
    wanted = replace(Setting("busy", 0), **values)
    return [s for s in settings if replace(s, retrans=0) == wanted]
