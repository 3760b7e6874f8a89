"""What the worker does with a request: turns the controls, runs the scenario, answers the page."""

from __future__ import annotations

import functools
import importlib
import time
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from anabranch.errors import AnabranchError
from anabranch.experiment import RunResult, Scenario
from anabranch.play import code
from anabranch.play.controls import Turned, turn
from anabranch.play.document import Opened, Table, opened, scenario_of
from anabranch.play.journeys import journeys
from anabranch.play.limits import ARRIVALS, LONGEST_S, MOST_PACKETS, SAMPLES
from anabranch.play.picture import Network, picture
from anabranch.play.series import (
    drawn,
    lane_of,
    late_goodput,
    late_mean,
    late_path_rate,
    late_rtt,
    segments,
)
from anabranch.rows import Flow

QUEUES = 8
"""Links whose queues are observed: those of the lowest rates."""
LANES = 8
"""Entries of flows whose packets are observed."""


class Refused(Exception):
    """An answer that says what is wrong, with the controls as they stand."""

    def __init__(self, answer: Table) -> None:
        super().__init__("refused")
        self.answer = answer


def answer(request: Table, file: Opened | None) -> Table:
    """The answer to one request of the page; `status` is that of HTTP."""
    try:
        return _answered(request, file)
    except Refused as refused:
        return {"status": 422, **refused.answer}
    except AnabranchError as error:
        return {"status": 422, "errors": [{"control": "", "message": str(error)}]}


def _answered(request: Table, file: Opened | None) -> Table:
    name = request.get("scenario")
    if file is not None and name == file.name:
        source = file
    else:
        source = opened(name if isinstance(name, str) else repr(name))
    changes = request.get("changes")
    if not isinstance(changes, Mapping):
        raise _refused("changes: allowed: an object with a value for each control")
    work = WORK.get(str(request.get("want")))
    if work is None:
        raise _refused(f"want: allowed: {', '.join(WORK)}")
    turned = turn(source, changes)
    return {"status": 200, **work(Work(source, turned), request)}


def _refused(message: str) -> Refused:
    return Refused({"errors": [{"control": "", "message": message}]})


class Work:
    """A scenario after its controls were turned, and what was read of it."""

    def __init__(self, source: Opened, turned: Turned) -> None:
        self.source = source
        self.turned = turned
        self.began = time.perf_counter()
        resolved = self.guarded(lambda: self.scenario([]).resolved())
        self.resolved: Table = tomllib.loads(resolved)
        self.read_s = time.perf_counter() - self.began
        if turned.errors:
            errors = [{"control": each.control, "message": str(each)} for each in turned.errors]
            raise Refused({"errors": errors, **self.state()})

    @functools.cached_property
    def network(self) -> Network:
        """Nodes, links and ways of the resolved scenario."""
        return Network(self.resolved)

    def has_paths(self) -> bool:
        """Whether a flow goes over several paths, which have windows of their own."""
        return any(flow.get("protocol", "tcp") != "tcp" for flow in self.network.flows)

    def scenario(self, observed: list[Table]) -> Scenario:
        """The scenario with these observers in place of its own."""
        document = {**self.turned.document, "observe": observed}
        if "duration" not in document:
            document["time_limit"] = f"{LONGEST_S:g} s"
        return scenario_of(self.source, code.as_toml(document))

    def state(self) -> Table:
        """The controls, and what the page shows besides that is no result."""
        return {
            "controls": self.turned.values(self.resolved),
            "ignored": self.turned.ignored,
            "title": self.resolved.get("name", "") or self.source.name,
        }

    def run(self, observed: list[Table]) -> RunResult:
        """Runs it; a message of the core stands beside the control that it is about."""
        self.bounded()
        result: RunResult = self.guarded(lambda: self.scenario(observed).run())
        return result

    def bounded(self) -> None:
        """Refuses what would cost too much."""
        packets = self.network.packets(self.longest_s())
        if packets > MOST_PACKETS:
            message = (
                f"This would be up to {packets / 1e6:.1f} million packets; allowed here: "
                f"{MOST_PACKETS / 1e6:g} million. Take a shorter duration or lower rates, or"
                " run it with `anabranch run`."
            )
            control = "duration" if "duration" in self.turned.document else ""
            raise Refused({"errors": [{"control": control, "message": message}], **self.state()})

    def longest_s(self) -> float:
        """When the run ends at the latest, as far as can be told; of flows that end by themselves
        the time that their octets take."""
        for control in self.turned.controls:
            if control.id == "duration":
                value = control.read(self.resolved)
                return float(value) if isinstance(value, int | float) else LONGEST_S
        return LONGEST_S / 4

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Returns what `work` returns; what it refuses becomes an answer."""
        try:
            return work()
        except AnabranchError as error:
            message = str(error)
            errors = [{"control": self.turned.beside(message), "message": message}]
            errors += [
                {"control": each.control, "message": str(each)} for each in self.turned.errors
            ]
            stands = {"controls": [], "ignored": [], "title": self.source.name}
            resolved = getattr(self, "resolved", None)
            if resolved is not None:
                stands = self.state()
            raise Refused({"errors": errors, **stands}) from None


def charted(turned: Work) -> list[Table]:
    """What is observed for the charts: sampled where it is known when the run ends."""
    ends = "duration" in turned.turned.document
    each = turned.longest_s() / SAMPLES
    every = {"interval": _seconds(each)} if ends else {}
    finer = {"interval": _seconds(each / 4)} if ends else {}
    paths = turned.has_paths()
    kinds = ("cwnd", "srtt", *(("path_cwnd", "path_srtt") if paths else ()))
    found: list[Table] = [{"what": what, **every} for what in kinds]
    found += [{"what": "queue", "link": name, **finer} for name in _slowest(turned.network)]
    found.append({"what": "received", **every})
    if turned.network.packets(turned.longest_s()) <= ARRIVALS:
        found.append({"what": "packets"})
    return found


def _moving(turned: Work) -> list[Table]:
    """What is observed for the moving picture: every change."""
    kinds = ("cwnd", *(("path_cwnd",) if turned.has_paths() else ()))
    found: list[Table] = [{"what": what} for what in kinds]
    found += [{"what": "queue", "link": name} for name in _slowest(turned.network)]
    flows = turned.network.flows[:LANES]
    return found + [{"what": "packets", "flow": flow["name"]} for flow in flows]


def _seconds(interval_s: float) -> str:
    """No shorter than what can be asked for."""
    return f"{max(interval_s, 1e-6):.9f} s"


def _slowest(network: Network) -> dict[str, float]:
    """Directions of the links whose queues are looked at, and their rates in bit/s."""
    rates = {
        hop.link: hop.rate_bps
        for flow in network.flows[:200]
        for way in network.ways(flow).values()
        for hop in way
    }
    return {name: rates[name] for name in sorted(rates, key=lambda name: rates[name])[:QUEUES]}


def _run(turned: Work, _request: Table) -> Table:
    """Charts, the picture, a row for each flow and what the page says of them."""
    started = time.perf_counter()
    result = turned.run(charted(turned))
    ran = time.perf_counter()
    end_s = max(result.run.end_s, 1e-9)
    series = drawn(result, end_s)
    answer = {
        **turned.state(),
        "picture": picture(turned.network),
        "series": series,
        "flows": _flows(result, turned.resolved),
        "links": _links(result, turned.network, end_s),
        "events": result.run.events,
        "ended": result.run.ended,
        "warnings": result.run.warnings,
    }
    done = time.perf_counter()
    answer["took_ms"] = {
        "read": turned.read_s * 1e3,
        "run": (ran - started) * 1e3,
        "series": (done - ran) * 1e3,
    }
    return answer


def _flows(result: RunResult, resolved: Table) -> list[Table]:
    found = segments(resolved)
    return [
        {
            "segment": found.get(flow.flow, found.get(flow.flow.rpartition("-")[0])),
            "rtt_s": late_rtt(result, f"{flow.flow}.srtt"),
            "flow": flow.flow,
            "protocol": flow.protocol,
            "mbps": late_goodput(result, flow),
            "bytes": flow.bytes,
            "finish_s": flow.finish_s,
            "resent": flow.retransmitted_packets,
            "timeouts": flow.timeouts,
            "outcome": flow.outcome,
            "paths": _paths(result, flow),
        }
        for flow in result.flows[:200]
    ]


def _paths(result: RunResult, flow: Flow) -> list[Table]:
    """A row for each path over which a flow sent data, where it has several."""
    paths = [each for each in result.paths if each.flow == flow.flow and each.packets]
    if len(paths) < 2:
        return []
    return [
        {
            "path": lane_of(result, path) or f"{path.flow}.{path.from_}-{path.to}",
            "mbps": late_path_rate(result, flow, path),
            "resent": path.retransmitted_packets,
            "timeouts": path.timeouts,
            "rtt_s": late_rtt(result, f"{lane_of(result, path)}.path_srtt"),
        }
        for path in paths
    ]


def _links(result: RunResult, network: Network, end_s: float) -> list[Table]:
    rows = {link.name: link for link in result.links}
    return [
        {
            "link": name,
            "rate_bps": rate,
            "dropped": rows[name].dropped,
            "marked": rows[name].marked,
            "used": rows[name].bytes_delivered * 8 / rate / end_s,
            "queue": late_mean(result.series[f"{name}.queue"], end_s),
        }
        for name, rate in _slowest(network).items()
        if name in rows
    ]


def _packets(turned: Work, request: Table) -> Table:
    """The journeys of packets around the date `at_s`."""
    at = request.get("at_s", 0)
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at <= 1e6:
        raise _refused("at_s: allowed: seconds of the run")
    result = turned.run(_moving(turned))
    return {"journeys": journeys(result, float(at))}


def _explorer(turned: Work, _request: Table) -> Table:
    """The report of the run, with the time-sequence explorer."""
    turned.bounded()
    scenario = turned.scenario([])
    result = turned.guarded(lambda: scenario.explored().run())
    page = importlib.import_module("anabranch.report.run").run_page  # which few turns need
    return {"html": page(turned.source.name, result)}


def _code(turned: Work, _request: Table) -> Table:
    """The scenario as a file and as a program."""
    document = turned.turned.document
    return {"toml": code.as_toml(document), "python": code.as_python(document)}


WORK: Mapping[str, Callable[[Work, Table], Table]] = {
    "run": _run,
    "packets": _packets,
    "explorer": _explorer,
    "code": _code,
}
"""What a request can want."""
