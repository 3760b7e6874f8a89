"""Whether metrics name anything, asked before the first run.

A run that ends at once has a row for each flow and link, also for those that start later.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from anabranch.errors import InputError
from anabranch.experiment import RunResult, Scenario
from anabranch.nearest import one_of
from anabranch.sweep.metrics import Metric, matches
from anabranch.sweep.store import Point

AT_ONCE = "1 ns"
SEVERAL_PATHS = ("sctp", "mptcp")
"""Protocols that have rows in `paths`."""


def refuse_empty(metrics: Sequence[Metric], points: Iterable[Point], where: str) -> None:
    """Raises an `InputError` for the first metric that names nothing at any of the points."""
    left = [metric for metric in metrics if metric.of is not None or metric.table == "paths"]
    missed: dict[str, tuple[str, str, list[str]]] = {}
    for point in points:
        if not left:
            return
        run = _at_once(point)
        still = []
        for metric in left:
            if fault := _fault(metric, run, point.scenario):
                missed.setdefault(metric.name, fault)
                still.append(metric)
        left = still
    for metric in left:
        field, value, there = missed[metric.name]
        allowed = one_of(value, there) if there else "none here"
        raise InputError.about(f"{where}: metric {metric.name}", field, value, allowed)


def expanded(metrics: Sequence[Metric], points: Sequence[Point]) -> list[Metric]:
    """The metrics, with the flows of an entry of the scenario that has a `count` where `of` has the
    entry's name: NAME-0, NAME-1, ..., as many as the point with the most of them has."""
    if not any(each.patterns() and each.table != "links" for each in metrics):
        return list(metrics)
    counts: dict[str, set[int]] = {}
    for point in points:
        for name, count in _counts(point.scenario).items():
            counts.setdefault(name, set()).add(count)
    found = []
    for metric in metrics:
        names: list[str] = []
        for each in metric.patterns():
            known = counts.get(each, {1})
            names += [each] if 1 in known else []
            names += [f"{each}-{n}" for n in range(max(known))] if max(known) > 1 else []
        same = metric.table == "links" or names == metric.patterns()
        found.append(metric if same else replace(metric, of=tuple(names)))
    return found


def _counts(scenario: str) -> dict[str, int]:
    """How many flows each entry of a resolved scenario makes, by its name."""
    return {flow["name"]: flow["count"] for flow in tomllib.loads(scenario).get("flows", ())}


def _fault(metric: Metric, run: RunResult, scenario: str) -> tuple[str, str, list[str]] | None:
    """The field of a metric that names nothing, its value, and what it could name."""
    flows = [flow.flow for flow in run.flows]
    if metric.table == "paths":
        flows = [flow.flow for flow in run.flows if flow.protocol in SEVERAL_PATHS]
        if not flows:
            return "table", "paths", ["flows, links, messages, runs: no flow has several paths"]
    there = [link.name for link in run.links] if metric.table == "links" else flows
    if metric.table in ("messages", "datagrams", "calls"):
        there = [*flows, *(f"{flow}.reverse" for flow in flows)]
    if metric.table != "links":
        counts = _counts(scenario)
        several = [name for name, count in counts.items() if count > 1 and f"{name}-0" in there]
        there = [*several, *there]
    patterns = metric.patterns()
    for pattern in patterns:
        if not any(matches(name, [pattern]) for name in there):
            return "of", pattern, there
    if metric.path is not None:
        ends = _interfaces(scenario)
        for end in metric.path.split(">"):
            if not any(matches(name, [end.strip()]) for name in ends):
                return "path", metric.path, ends
    return None


def _at_once(point: Point) -> RunResult:
    duration = tomllib.loads(point.scenario).get("duration")
    field = "time_limit" if duration is None else "duration"
    return Scenario(point.scenario).set(f"{field}={AT_ONCE}").run(seed=point.seed)


def _interfaces(scenario: str) -> list[str]:
    """Names of all interfaces, as `paths` has them."""
    found = []
    for host in tomllib.loads(scenario)["hosts"]:
        if isinstance(host, str):
            found.append(host)
            continue
        name, inner = host["name"], host.get("interfaces", ())
        names = [each if isinstance(each, str) else each["name"] for each in inner]
        found += [f"{name}.{each}" for each in names] or [name]
    return found
