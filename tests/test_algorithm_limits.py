"""Algorithms of the user's own that raise what is no `Exception`, or do not return."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch import AlgorithmError, InputError, Network
from anabranch.algorithms import AckDelay, ForwardLink, WindowControl, check, load, set_call_limit
from anabranch.algorithms.limits import apply
from test_algorithms import Reno


class Unusual(BaseException):
    """What a library of the user's may raise."""


class Untold(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Raising(Reno):
    """Raises what its option names."""

    def __init__(self, what: str) -> None:
        kinds = [GeneratorExit, KeyboardInterrupt, SystemExit, Unusual, Untold, StopIteration]
        self.what = next(kind for kind in kinds if kind.__name__ == what)

    def on_ack(self, _ack: object) -> None:
        raise self.what


class Endless(Reno):
    """Never returns, whatever it is told."""

    def __init__(self, stubborn: bool = False) -> None:
        self.stubborn = stubborn

    def on_ack(self, _ack: object) -> None:
        caught = 0
        while caught < 3:
            try:
                while True:
                    pass
            except BaseException:
                caught += 1
                if not self.stubborn:
                    raise


class Held(AckDelay):
    def delay(self, _forward: ForwardLink) -> float:
        while True:
            pass


class Slow(Reno):
    """Takes longer than the limit, which it says it may."""

    unlimited = True

    def on_ack(self, _ack: object) -> None:
        if self.cwnd < 15_000:
            time.sleep(0.4)
        self.cwnd = 20_000.0


@pytest.fixture
def short_limit() -> Iterator[None]:
    """Calls may take a fifth of a second."""
    set_call_limit(0.2)
    yield
    set_call_limit(10)


def network(window: object) -> Network:
    net = Network("one flow", seed=1)
    a, b = net.host("a"), net.host("b")
    net.link(a, b, rate="10 Mbit/s", delay="10 ms")
    net.flow(a, b, size="100 kB", name="f", tcp={"window": window})
    return net


def raised_in_a_thread(net: Network) -> BaseException | None:
    """What a run raises that is not in the main thread, which alone hears Ctrl-C."""
    raised: list[BaseException] = []

    def work() -> None:
        try:
            net.scenario().run()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return raised[0] if raised else None


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("GeneratorExit", "in on_ack: GeneratorExit ("),
        ("KeyboardInterrupt", "in on_ack: KeyboardInterrupt ("),
        ("SystemExit", "in on_ack: SystemExit ("),
        ("Unusual", "in on_ack: Unusual ("),
        ("StopIteration", "in on_ack: StopIteration ("),
        ("Untold", "in on_ack: Untold, whose text cannot be had ("),
    ],
)
def test_whatever_a_hook_raises_ends_the_run_with_one_error(what: str, said: str) -> None:
    error = raised_in_a_thread(network({"algorithm": f"{__name__}:Raising", "what": what}))
    assert isinstance(error, AlgorithmError)
    assert said in str(error) and "Raising of flow f, client" in str(error)
    assert error.file == __file__ and type(error.__cause__).__name__ == what


def test_an_interrupt_in_the_main_thread_is_the_users() -> None:
    window = {"algorithm": f"{__name__}:Raising", "what": "KeyboardInterrupt"}
    with pytest.raises(KeyboardInterrupt):
        network(window).scenario().run()
    with pytest.raises(KeyboardInterrupt):
        check(Raising, {"what": "KeyboardInterrupt"})


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("stubborn", [False, True])
def test_a_hook_that_never_returns_is_stopped(stubborn: bool) -> None:
    net = network({"algorithm": f"{__name__}:Endless", "stubborn": stubborn})
    said = r"on_ack did not return within 0\.2 s, the limit of ANABRANCH_CALL_LIMIT \(.*Endless of"
    with pytest.raises(AlgorithmError, match=said) as told:
        net.scenario().run()
    if not stubborn:
        lines = Path(__file__).read_text(encoding="utf-8").splitlines()
        assert told.value.line is not None and told.value.file == __file__
        assert lines[told.value.line - 1].strip() in ("while True:", "pass", "raise")
    with pytest.raises(AlgorithmError, match="did not return within"):
        check(Endless, {"stubborn": stubborn})
    # Nothing of it comes up later.
    assert network("reno").scenario().run().flows[0]["bytes"] == 100_000


@pytest.mark.usefixtures("short_limit")
def test_other_seams_have_the_limit_too() -> None:
    net = Network("a held ACK", seed=1)
    a, b, r = net.host("a"), net.host("b"), net.router("r")
    net.link(a, r, rate="10 Mbit/s", delay="1 ms")
    net.link(r, b, rate="10 Mbit/s", delay="1 ms", regulator={"law": f"{__name__}:Held"})
    net.flow(a, b, size="20 kB")
    with pytest.raises(AlgorithmError, match=r"delay did not return within 0\.2 s"):
        net.scenario().run()


@pytest.mark.usefixtures("short_limit")
def test_a_class_may_say_that_it_waits() -> None:
    assert network(Slow).scenario().run().flows[0]["bytes"] == 100_000


@pytest.mark.usefixtures("short_limit")
def test_a_file_that_never_ends_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text("while True:\n    pass\n", encoding="utf-8")
    said = r"flows\[0\].tcp.window.*it did not end within 0\.2 s, the limit of ANABRANCH_CALL_LIMIT"
    with pytest.raises(InputError, match=said):
        network(f"{path}:A").scenario().resolved()
    path.write_text("raise SystemExit(0)\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"endless.py:1: SystemExit: 0"):
        load(f"{path}:A")


def test_the_limit_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("soon", "0", "-1", "nan", "1e9"):
        monkeypatch.setenv("ANABRANCH_CALL_LIMIT", text)
        monkeypatch.setattr("anabranch.algorithms.limits._chosen", [])
        said = f"environment: field `ANABRANCH_CALL_LIMIT`: value `{text}`: allowed: seconds from"
        with pytest.raises(InputError, match=said):
            apply()
    with pytest.raises(InputError, match="field `seconds`: value `0`"):
        set_call_limit(0)
    monkeypatch.setenv("ANABRANCH_CALL_LIMIT", "none")
    apply()
    set_call_limit(10)


WAITING = """
import time
from anabranch.algorithms import WindowControl
class Waiting(WindowControl):
    def on_ack(self, ack):
        time.sleep(60)
    def on_loss(self, signal):
        pass
"""


def test_a_command_ends_though_a_hook_waits_outside_of_python(two_hosts: Path) -> None:
    (two_hosts.parent / "mine.py").write_text(WAITING, encoding="utf-8")
    window = "--set=flows.0.tcp.window=mine.py:Waiting"
    command = [sys.executable, "-m", "anabranch", "run", str(two_hosts), window, "--out", "out"]
    done = subprocess.run(
        command,
        env=os.environ | {"ANABRANCH_CALL_LIMIT": "0.2"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=two_hosts.parent,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("anabranch: a call of an algorithm has not returned within twice")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "name",
    ["../mine:A", "..:A", ".mine:A", "/tmp:A", "a b:A", "a..b:A", "mine.py:A:A", ":A", "mine:"],
)
def test_a_path_that_is_no_module_is_refused_in_words(name: str) -> None:
    with pytest.raises(InputError, match=r"allowed: FILE\.py:CLASS or MODULE:CLASS") as told:
        load(name)
    assert "Error:" not in str(told.value)
    with pytest.raises(InputError, match="there is no nowhere"):
        load("nowhere.at_all:A")
    assert issubclass(load(f"{__name__}:Raising"), WindowControl)
