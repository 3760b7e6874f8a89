"""Algorithms of the user's own, in Python: found, run, and stopped where they fail."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from anabranch import AlgorithmError, InputError, Network, Scenario
from anabranch.algorithms import (
    Ack,
    AckDelay,
    Congestion,
    CoupledControl,
    DataStream,
    Destination,
    ForwardLink,
    LossRecovery,
    PathPolicy,
    RecoveryAck,
    Report,
    Scheduler,
    Subflow,
    WindowControl,
    check,
    load,
    measuring,
)
from anabranch.experiment import catalogue
from conftest import Command

RECOVERIES = catalogue("recoveries")
EXAMPLES = Path(__file__).parents[1] / "examples" / "algorithms"


class Reno(WindowControl):
    """Reno as the core has it."""

    def on_ack(self, ack: Ack) -> None:
        if not ack.app_limited and not self.slow_start(ack):
            self.cwnd += ack.mss * min(1.0, ack.acked / self.cwnd)

    def on_loss(self, signal: Congestion) -> None:
        self.ssthresh = max(signal.in_flight / 2, 2.0 * signal.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)


class LinkedIncrease(CoupledControl, Reno):
    """LIA (RFC 6356) as the core has it."""

    def on_ack(self, ack: Ack) -> None:
        if ack.app_limited or self.slow_start(ack):
            return
        alone = ack.mss * min(1.0, ack.acked / self.cwnd)
        if not ack.srtt_s:
            self.cwnd += alone
            return
        paths = [
            (sibling.cwnd / sibling.mss, sibling.srtt_s)
            for sibling in ack.siblings
            if sibling.srtt_s
        ]
        paths.append((self.cwnd / ack.mss, ack.srtt_s))
        total = sum(w for w, _ in paths)
        alpha = total * max(w / (rtt * rtt) for w, rtt in paths)
        alpha /= sum(w / rtt for w, rtt in paths) ** 2
        self.cwnd += min(alpha * (ack.acked / ack.mss) / total * ack.mss, alone)


class ByReports(Reno):
    """Hears everything, and paces at twice the rate of the window."""

    def on_start(self) -> None:
        self.delivered = 0

    def on_report(self, report: Report) -> None:
        self.delivered += report.delivered
        assert self.delivered <= report.total_sent
        if report.srtt_s:
            self.pacing_bps = 16 * self.cwnd / report.srtt_s


class Failing(Reno):
    """Fails in one of several ways at the first loss."""

    def __init__(self, how: str) -> None:
        self.how = how

    def on_loss(self, signal: Congestion) -> None:
        match self.how:
            case "key":
                dict[str, int]()["window"]
            case "nan":
                self.cwnd = float("nan")
            case "negative":
                self.cwnd = -1.0
            case "huge":
                self.cwnd = 1e30
            case "small":
                self.cwnd = signal.mss / 2
            case "text":
                self.cwnd = "10"  # type: ignore[assignment]


def network(window: Any, loss: float = 0.01, size: str = "3 MB", **tcp: Any) -> Network:
    net = Network("lossy", seed=7)
    a, b = net.host("a"), net.host("b")
    loses = [{"kind": "bernoulli", "rate": loss}]
    net.link(a, b, rate="10 Mbit/s", delay="20 ms", impairments=loses)
    net.flow(a, b, size=size, tcp={"window": window, **tcp})
    return net


@pytest.mark.parametrize("loss", [0.001, 0.05])
@pytest.mark.parametrize("recovery", ["reno", "sack"])
def test_the_same_rules_in_python_are_the_same_run(loss: float, recovery: str) -> None:
    # 5 % of loss brings timeouts, in a row too.
    def trace(window: Any) -> tuple[int, str]:
        result = network(window, loss, recovery=recovery).scenario().run(trace_hash=True)
        return result.flows[0]["timeouts"], result.run["trace_hash"]

    assert trace(Reno) == trace("reno")
    assert (trace(Reno)[0] > 0) == (loss == 0.05)


def test_a_coupled_controller_sees_the_other_paths() -> None:
    def trace(window: Any) -> str:
        net = Network(seed=2, duration="10 s")
        for host in ("a", "b"):
            net.host(host, interfaces=["x", "y"])
        for name, delay in (("x", "10 ms"), ("y", "40 ms")):
            queue = {"limit": "30 packets"}
            net.link(f"a.{name}", f"b.{name}", rate="5 Mbit/s", delay=delay, queue=queue)
        tcp = {"window": window, "idle_restart": False}
        net.flow("a", "b", protocol="mptcp", tcp=tcp)
        result = net.scenario().run(trace_hash=True)
        return str(result.run["trace_hash"])

    assert trace(LinkedIncrease) == trace("lia") != trace("reno")


def test_reports_bring_delivery_and_pacing() -> None:
    result = network(ByReports).scenario().run()
    assert result.flows[0]["bytes"] == 3_000_000


def test_a_window_of_sctp_can_be_ones_own() -> None:
    net = Network(seed=1)
    a, b = net.host("a"), net.host("b")
    net.link(a, b, rate="10 Mbit/s", delay="5 ms", queue={"limit": "20 packets"})
    net.flow(a, b, size="1 MB", protocol="sctp", sctp={"window": Reno})
    assert net.scenario().run().flows[0]["bytes"] == 1_000_000


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("key", "in on_loss: KeyError: 'window'"),
        ("nan", "cwnd = NaN: allowed"),
        ("negative", "cwnd = -1: allowed"),
        ("huge", "allowed: a number of octets from one segment to 2**40"),
        ("small", "after on_loss: cwnd is 724, less than a segment of 1448 octets"),
        ("text", "TypeError"),
    ],
)
def test_what_fails_names_line_time_and_flow(how: str, message: str) -> None:
    window = {"algorithm": Failing, "how": how}
    with pytest.raises(AlgorithmError) as caught:
        network(window).scenario().run()
    error = caught.value
    assert message in str(error)
    assert error.file == __file__
    assert error.line is not None
    source = Path(__file__).read_text(encoding="utf-8").splitlines()[error.line - 1]
    assert {"key": "dict[str, int]", "small": "def on_loss"}.get(how, "self.cwnd = ") in source
    assert (error.algorithm, error.place) == (f"{__name__}:Failing", "flow f0, client")
    assert error.time_s is not None
    assert f"at {error.time_s:.9f} s" in str(error)
    assert how == "small" or isinstance(error.__cause__, Exception)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("self.cwnd /= 0", "ZeroDivisionError: float division by zero"),
        (
            "self.cwnd += ack.rtt",
            "AttributeError: 'anabranch.algorithms.Ack' object has no attribute 'rtt';"
            " did you mean `rtt_s`?",
        ),
    ],
)
def test_the_command_says_so_in_one_line_with_status_1(
    anabranch: Command, tmp_path: Path, line: str, told: str
) -> None:
    (tmp_path / "mine.py").write_text(
        "from anabranch.algorithms import WindowControl\n\n"
        "class Broken(WindowControl):\n"
        "    def on_ack(self, ack):\n"
        f"        {line}\n\n"
        "    def on_loss(self, signal):\n"
        "        pass\n"
    )
    scenario = tmp_path / "mine.toml"
    scenario.write_text(network("mine.py:Broken").toml())
    done = anabranch("run", str(scenario), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    where = f"{tmp_path / 'mine.py'}:5: in on_ack: {told}"
    assert where in done.stderr
    assert "of flow f0, client) at 0.0" in done.stderr


def test_the_resolved_scenario_has_name_source_and_options(tmp_path: Path) -> None:
    file = tmp_path / "aimd.py"
    file.write_bytes((EXAMPLES / "aimd.py").read_bytes())
    given = f"{{ algorithm = '{file}:Aimd', increase = 2 }}"
    scenario = network("cubic").scenario().set(f"flows.0.tcp.window={given}")
    resolved = scenario.resolved()
    window = tomllib.loads(resolved)["flows"][0]["tcp"]["window"]
    assert (window["algorithm"], window["increase"]) == (f"{file}:Aimd", 2)
    assert len(window["source"]) == 16
    again = Scenario(resolved)
    assert again.resolved() == resolved
    hashes = {each.run(trace_hash=True).run["trace_hash"] for each in (scenario, again)}
    assert len(hashes) == 1
    file.write_text(file.read_text(encoding="utf-8") + "\n# changed\n")
    with pytest.raises(InputError, match=f"the source {window['source']} of which"):
        again.run()


def test_replications_with_any_number_of_jobs_are_the_same() -> None:
    scenario = network(Reno, size="300 kB").scenario()
    one, two = (scenario.run_batch(4, jobs=n, trace_hash=True) for n in (1, 2))
    hashes = [result.run["trace_hash"] for result in one]
    assert hashes == [result.run["trace_hash"] for result in two]
    assert len(set(hashes)) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.py:Mine", "a file that is there"),
        ("no.such.module:Mine", "a module that Python can import: there is no no"),
        (f"{EXAMPLES / 'aimd.py'}:Mine", "which has Aimd"),
        ("anabranch.algorithms:WindowControl", "a class with on_ack and on_loss"),
        ("collections:OrderedDict", "a subclass of WindowControl"),
        (":Mine", "FILE.py:CLASS"),
    ],
)
def test_names_that_mean_nothing_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(name, "window")
    with pytest.raises(InputError, match=r"flows\[0\].tcp.window"):
        network(name).scenario().run()


def test_options_that_a_class_does_not_take_are_refused() -> None:
    window = {"algorithm": f"{EXAMPLES / 'aimd.py'}:Aimd", "decreese": 0.5}
    with pytest.raises(InputError, match=r"increase, decrease.*did you mean `decrease`"):
        network(window).scenario().resolved()


def test_classes_that_nobody_else_can_find_are_refused() -> None:
    class Local(Reno):
        pass

    with pytest.raises(InputError, match="top level of a module"):
        network(Local).toml()
    assert load(f"{__name__}:Reno") is Reno


def test_the_examples_of_each_seam_do_something_of_their_own() -> None:
    def without(file: str, *changes: str) -> tuple[Any, Any]:
        scenario = Scenario.load(EXAMPLES / file)
        return scenario.run(trace_hash=True), scenario.set(*changes).run(trace_hash=True)

    own, plain = without("recovery.toml", "flows.f.tcp.recovery=fack")
    assert own.flows[0]["bytes"] == plain.flows[0]["bytes"] == 2_000_000
    # The rule of FACK: losses are told by the same ACKs, and repaired as fast.
    assert own.flows[0]["fast_retransmits"] == plain.flows[0]["fast_retransmits"] > 0
    assert own.flows[0]["finish_s"] == pytest.approx(plain.flows[0]["finish_s"], rel=0.01)
    own, plain = without("destination.toml", "flows.f.sctp.destination=all-same")
    assert own.flows[0]["bytes"] == 1_000_000
    assert [path["packets"] for path in own.paths] != [path["packets"] for path in plain.paths]
    own, plain = without("ackdelay.toml", "links.r-b.regulator=false")
    assert own.regulators[0]["delayed"] > 100
    assert own.run["trace_hash"] != plain.run["trace_hash"]
    own, plain = without("coupled.toml", "flows.f.tcp.window=reno")
    assert own.run["trace_hash"] != plain.run["trace_hash"]
    assert own.flows[0]["bytes"] > 8_000_000


def test_a_path_policy_may_choose_where_new_data_goes_when_the_primary_fails() -> None:
    text = (EXAMPLES.parent / "sctp-alternates.toml").read_text(encoding="utf-8")
    policy = f"flows.0.sctp.destination={EXAMPLES / 'destination.py'}:LeastRisk"
    # The first alternate loses 10 %, the second is slow; the policy's `failover` finds the last.
    for rule, found in (("next", False), ("destination", True)):
        run = Scenario(text).set(policy, f"flows.0.sctp.failover={rule}").run()
        alternates = {path["to"]: path["bytes"] for path in run.paths[1:]}
        most = max(alternates, key=alternates.__getitem__)
        assert (most == "b.x3") is found, (rule, alternates)


class Always(Scheduler):
    """Chooses what it is told to."""

    def __init__(self, what: str) -> None:
        self.what = what

    def choose(
        self, subflows: tuple[Subflow, ...], stream: DataStream
    ) -> int | tuple[int, int] | None:
        match self.what:
            case "first":
                room = [subflow.id for subflow in subflows if subflow.has_room]
                return room[0] if room else None
            case "none":
                return 77
            case "copy":
                return (subflows[0].id, stream.nxt)
        raise ValueError(self.what)


class Wrong(PathPolicy):
    def choose(self, reason: str, last: int, paths: tuple[Destination, ...]) -> int:
        assert reason in ("fast-retransmit", "timeout")
        assert paths[last].index == last
        return len(paths)


class Backwards(AckDelay):
    def delay(self, forward: ForwardLink) -> float:
        return forward.held_s - 1.0


class Nothing(LossRecovery):
    def on_ack(self, ack: RecoveryAck) -> list[tuple[int, int]]:
        return [(ack.max, ack.una)] if ack.sacked else []


@pytest.mark.parametrize(
    ("example", "field", "kind", "message"),
    [
        ("coupled", "flows.f.mptcp.scheduler={ kind = 'K', what = 'none' }", Always, "returned 77"),
        (
            "coupled",
            "flows.f.mptcp.scheduler={ kind = 'K', what = 'copy' }",
            Always,
            "below stream",
        ),
        ("coupled", "flows.f.mptcp.scheduler={ kind = 'K', what = 'x' }", Always, "ValueError: x"),
        ("destination", "flows.f.sctp.destination=K", Wrong, "the index of a path, 0 to 1"),
        ("ackdelay", "links.r-b.regulator.law=K", Backwards, "a number of seconds, 0 or more"),
        ("recovery", "flows.f.tcp.recovery=K", Nothing, "a list of pairs"),
    ],
)
def test_what_fails_at_other_seams_is_told_too(
    example: str, field: str, kind: type, message: str
) -> None:
    scenario = Scenario.load(EXAMPLES / f"{example}.toml")
    scenario = scenario.set(field.replace("K", f"{__name__}:{kind.__name__}"))
    if example == "ackdelay":
        scenario = Scenario(scenario.text.replace(", share = 0.5", ""), scenario.file).set(
            *scenario.overrides
        )
    with pytest.raises(AlgorithmError, match=message) as caught:
        scenario.run()
    assert caught.value.file == __file__
    assert caught.value.time_s is not None
    where = "link r-b" if example == "ackdelay" else "flow f, client"
    assert caught.value.place == where


def test_a_scheduler_in_python_runs_as_the_same_rules_in_the_core() -> None:
    scenario = Scenario.load(EXAMPLES / "coupled.toml").set("flows.f.mptcp.penalisation=false")
    own = f"{{ kind = '{__name__}:Always', what = 'first' }}"
    result = scenario.set(f"flows.f.mptcp.scheduler={own}").run()
    assert result.flows[0]["bytes"] > 5_000_000


@pytest.mark.parametrize(
    "name",
    [row[0] for row in catalogue("algorithms") if row[0] not in {r[0] for r in RECOVERIES}],
)
def test_every_built_in_algorithm_keeps_all_invariants(name: str) -> None:
    assert check(name, cases=100) == []


class OverTheTop(Reno):
    """Breaks one invariant, by its name."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.total = 0

    def on_ack(self, ack: Ack) -> None:
        if ack.app_limited:
            self.cwnd += self.how == "app-limited"
        elif self.how == "growth":
            self.cwnd += ack.acked * 1000
        elif self.how == "deterministic":
            STATE.append(1)
            self.cwnd += len(STATE) % 2
        elif self.how == "no-exception" and ack.acked > 5 * ack.mss:
            raise RuntimeError("late")
        else:
            super().on_ack(ack)

    def on_loss(self, signal: Congestion) -> None:
        before = self.cwnd
        super().on_loss(signal)
        if self.how == "loss-does-not-raise":
            self.cwnd = before + 1
        elif self.how == "one-segment":
            self.cwnd = before / 2
        elif self.how == "finite":
            self.cwnd = float("inf")
        elif self.how == "threshold":
            self.ssthresh = 1.0

    def on_timeout(self, signal: Congestion) -> None:
        before = self.cwnd
        super().on_timeout(signal)
        if self.how == "timeout-reduces":
            self.cwnd = before

    def on_idle(self, initial: float) -> None:
        self.cwnd = initial if self.how == "idle-does-not-raise" else min(self.cwnd, initial)


STATE: list[int] = []


@pytest.mark.parametrize(
    "how",
    [
        "no-exception",
        "finite",
        "one-segment",
        "loss-does-not-raise",
        "timeout-reduces",
        "threshold",
        "app-limited",
        "growth",
        "idle-does-not-raise",
        "deterministic",
    ],
)
def test_a_controller_that_breaks_an_invariant_is_told_which(how: str) -> None:
    broken = check(OverTheTop, {"how": how}, cases=100)
    assert [each.invariant for each in broken] == [how]
    assert len(broken[0].steps) <= 4
    assert broken[0].steps[-1][1] is None
    if how in ("finite", "no-exception"):
        assert broken[0].file == __file__


def test_the_command_check(anabranch: Command, tmp_path: Path) -> None:
    good = anabranch("check", f"{EXAMPLES / 'aimd.py'}:Aimd", "--option", "decrease=0.8")
    assert good.returncode == 0
    assert "kept 12, broke 0 in 200 sequences" in good.stdout
    (tmp_path / "mine.py").write_text(
        "from anabranch.algorithms import WindowControl\n\n"
        "class Greedy(WindowControl):\n"
        "    def on_ack(self, ack):\n"
        "        self.cwnd += ack.acked\n\n"
        "    def on_loss(self, signal):\n"
        "        self.ssthresh = self.cwnd\n"
    )
    bad = anabranch("check", f"{tmp_path / 'mine.py'}:Greedy")
    assert bad.returncode == 1
    assert bad.stdout.startswith("app-limited: a window that is not what limits sending")
    assert "1. 0 ms later, 100 % of the window in flight: ACK of" in bad.stdout
    assert anabranch("check", "nothing").returncode == 2


def test_the_cost_of_python_is_measured_over_the_same_run() -> None:
    core, python = measuring.own_controller("own-controller")
    assert core["packet_hops"] == python["packet_hops"]
    assert python["acks"] > 50_000
    # A tenth of it is usual; a loaded machine measures more.
    assert python["us_per_ack"] < 20


def test_the_template_is_reno_until_it_is_changed() -> None:
    name = f"{EXAMPLES / 'template.py'}:MyControl"
    assert check(name) == []

    def trace(window: Any) -> str:
        run = network(window, recovery="sack").scenario().run(trace_hash=True).run
        return str(run["trace_hash"])

    assert trace(name) == trace("reno")
