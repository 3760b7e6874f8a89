"""Algorithms of the user's own, in Python: found, run, and stopped where they fail."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from anabranch import AlgorithmError, InputError, Network, Scenario
from anabranch.algorithms import Ack, Congestion, CoupledControl, Report, WindowControl, load
from conftest import Command

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
        paths = [(it.cwnd / it.mss, it.srtt_s) for it in ack.siblings if it.srtt_s]
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
        net.flow("a", "b", protocol="mptcp", mptcp={"penalisation": False}, tcp=tcp)
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


def test_the_command_says_so_in_one_line_with_status_1(anabranch: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from anabranch.algorithms import WindowControl\n\n"
        "class Broken(WindowControl):\n"
        "    def on_ack(self, ack):\n"
        "        self.cwnd /= 0\n\n"
        "    def on_loss(self, signal):\n"
        "        pass\n"
    )
    scenario = tmp_path / "mine.toml"
    scenario.write_text(network("mine.py:Broken").toml())
    done = anabranch("run", str(scenario), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    where = f"{tmp_path / 'mine.py'}:5: in on_ack: ZeroDivisionError: float division by zero"
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
    hashes = {it.run(trace_hash=True).run["trace_hash"] for it in (scenario, again)}
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
        ("no.such.module:Mine", "ModuleNotFoundError"),
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
    with pytest.raises(InputError, match="increase, decrease"):
        network(window).scenario().resolved()


def test_classes_that_nobody_else_can_find_are_refused() -> None:
    class Local(Reno):
        pass

    with pytest.raises(InputError, match="top level of a module"):
        network(Local).toml()
    assert load(f"{__name__}:Reno") is Reno
