"""`anabranch convert`: links of tc, Mininet and Mahimahi become a scenario, which behaves so."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from anabranch import InputError, Scenario
from anabranch.convert import convert
from conftest import Command


def links(text: str, **options: Any) -> list[dict[str, Any]]:
    """The links that a text becomes; the whole is a scenario that runs."""
    found = convert(text, "text", **options).toml()
    written: list[dict[str, Any]] = tomllib.loads(found)["links"]
    Scenario(found).resolved()
    return written


def test_netem_is_a_link_with_impairments() -> None:
    (link,) = links(
        "sudo tc qdisc add dev eth0 root netem delay 100ms 10ms 25% distribution normal"
        " loss 0.3% duplicate 1% corrupt 0.1% limit 200 rate 5mbit"
    )
    assert link["rate"] == "5 Mbit/s" and link["delay"] == "0 s"
    # 5 Mbit/s x 100 ms are 42 packets of 1500 octets
    assert link["queue"] == {"kind": "droptail", "limit": "158 packets"}
    assert link["impairments"] == [
        {"kind": "bernoulli", "rate": 0.003},
        {"kind": "duplicate", "probability": 0.01},
        {"kind": "corrupt", "probability": 0.001, "bits": 1},
        {
            "kind": "jitter",
            "mean": "100 ms",
            "deviation": "10 ms",
            "correlation": 0.25,
            "law": "normal",
        },
    ]
    assert link["reverse"] == {
        "rate": "1 Gbit/s",
        "queue": {"kind": "droptail", "limit": "1000 packets"},
    }


def test_a_bare_number_is_microseconds_and_the_models_letters_are_kept() -> None:
    (link,) = links("tc qdisc add dev x root netem delay 2500 loss gemodel 1% 10% 70% 0.1%")
    assert link["delay"] == "2.5 ms"
    assert link["impairments"] == [
        {"kind": "gilbert-elliott", "p": 0.01, "r": 0.1, "k": 0.999, "h": 0.3}
    ]


@pytest.mark.parametrize("more", ["", " 0%", " gap 1", " gap 0"])
def test_reordering_sends_some_at_once(more: str) -> None:
    """tc takes `reorder` without a gap for one with `gap 1`."""
    (link,) = links(f"tc qdisc add dev x root netem delay 10ms reorder 25%{more}")
    assert link["delay"] == "0 s"
    assert link["impairments"] == [{"kind": "reorder", "probability": 0.75, "extra": "10 ms"}]


def test_tbf_waits_as_long_as_its_latency_says() -> None:
    (link,) = links(
        "tc qdisc add dev x root tbf rate 1mbit burst 32kb latency 400ms peakrate 2mbit"
    )
    assert link["token_bucket"] == {"rate": "1 Mbit/s", "burst": "32768 B", "peak": "2 Mbit/s"}
    # rate x latency + burst, as tc computes its limit
    assert link["queue"]["limit"] == f"{1_000_000 * 4 // 80 + 32768} B"


def test_htb_above_netem_and_both_ends_of_a_link() -> None:
    commands = """\
    # a shaped access line
    tc qdisc add dev a-eth0 root handle 5: htb default 1
    tc class add dev a-eth0 parent 5: classid 5:1 htb rate 10Mbit burst 15k
    tc qdisc add dev a-eth0 parent 5:1 handle 10: netem delay 5ms loss 1% limit 1000
    tc qdisc add dev b-eth0 root netem delay 40ms rate 1mbit
    """
    (link,) = links(commands)
    assert (link["rate"], link["delay"]) == ("10 Mbit/s", "5 ms")
    assert link["impairments"] == [{"kind": "bernoulli", "rate": 0.01}]
    assert link["queue"]["limit"] == "996 packets"
    assert link["reverse"] == {
        "rate": "1 Mbit/s",
        "delay": "40 ms",
        "queue": {"kind": "droptail", "limit": "997 packets"},
    }


@pytest.mark.parametrize(
    ("words", "limit", "told"),
    [
        (
            "delay 30ms rate 10mbit",
            "975",
            "At 10 Mbit/s the delay of 30 ms holds 25 packets",
        ),
        (
            "delay 20ms reorder 25% rate 8mbit limit 50",
            "40",
            "8 Mbit/s the delay of 15 ms holds 10 packets",
        ),
        ("delay 50ms 5ms rate 12mbit limit 20", "1", "holds 50 .* has 1. The limit is too small"),
        ("delay 30ms", "1000", "No rate is said, so the queue has the whole limit"),
        ("rate 10mbit", "1000", ""),
    ],
)
def test_of_netems_limit_the_queue_has_what_the_delay_leaves(
    words: str, limit: str, told: str
) -> None:
    found = convert(f"tc qdisc add dev x root netem {words}", "text")
    assert tomllib.loads(found.toml())["links"][0]["queue"]["limit"] == f"{limit} packets"
    assert re.search(told, " ".join(found.notes)) if told else "limit" not in str(found.notes)


def test_the_last_queue_of_tbf_and_netem_is_the_links() -> None:
    commands = """
tc qdisc add dev x root handle 1: {}
tc qdisc add dev x parent 1:1 handle 10: {}
"""
    netem, tbf = "netem delay 30ms limit 100", "tbf rate 10mbit burst 10kb limit 60kb"
    (link,) = links(commands.format(netem, tbf))
    assert link["queue"]["limit"] == f"{60 * 1024} B"
    (link,) = links(commands.format(tbf, netem))
    assert link["queue"]["limit"] == "75 packets"


def test_a_second_queue_below_netem_is_told_what_to_do() -> None:
    commands = """
tc qdisc add dev x root handle 1: htb default 10
tc class add dev x parent 1: classid 1:10 htb rate 20mbit
tc qdisc add dev x parent 1:10 handle 20: netem delay 10ms
tc qdisc add dev x parent 20: fq_codel
"""
    told = (
        "`fq_codel|fq-codel`.*a link takes one queue besides a rate: put netem's delay on a second"
    )
    with pytest.raises(InputError, match=told):
        convert(commands, "script.sh")


def test_what_is_converted_behaves_so() -> None:
    """2 % of losses and 30 ms each way, as a run measures them."""
    commands = "\n".join(
        f"tc qdisc add dev {device} root netem delay 30ms loss 2% rate 10mbit" for device in "xy"
    )
    text = convert(commands, "text").toml()
    scenario = Scenario(f'{text}\n[[observe]]\nwhat = "srtt"\n').set("flows.transfer.size=4 MB")
    run = scenario.run(seed=1)
    there = run.links[0]
    assert there.dropped_loss / there.received == pytest.approx(0.02, abs=0.005)
    assert min(run.series["transfer.srtt"]["value"]) > 0.060


def test_codel_and_fq_codel_are_our_queues() -> None:
    text = """
tc qdisc add dev x root handle 1: htb default 10
tc class add dev x parent 1: classid 1:10 htb rate 20mbit
tc qdisc add dev x parent 1:10 fq_codel limit 600 flows 32 target 4ms interval 80ms noecn
tc qdisc add dev y root codel limit 50 ce_threshold 1ms
"""
    (link,) = tomllib.loads(convert(text, "script.sh").toml())["links"]
    assert link["rate"] == "20 Mbit/s"
    assert link["queue"] == {
        "kind": "fq-codel",
        "limit": "600 packets",
        "queues": 32,
        "target": "4 ms",
        "interval": "80 ms",
        "ecn": False,
    }
    assert link["reverse"]["queue"] == {
        "kind": "codel",
        "limit": "50 packets",
        "ce_threshold": "1 ms",
    }


def test_cake_is_our_queue() -> None:
    text = """
tc qdisc add dev x root cake bandwidth 950kbit diffserv4 dual-srchost nat pppoe-llcsnap ack-filter
tc qdisc add dev y root cake bandwidth 20mbit besteffort ingress wash rtt 50ms memlimit 1mb
"""
    (link,) = tomllib.loads(convert(text, "script.sh").toml())["links"]
    assert link["queue"] == {
        "kind": "cake",
        "rate": "950 kbit/s",
        "tins": "diffserv4",
        "isolation": "dual-srchost",
        "overhead": 40,
        "framing": "atm",
        "ack_filter": "conservative",
    }
    assert link["reverse"]["queue"] == {
        "kind": "cake",
        "rate": "20 Mbit/s",
        "tins": "besteffort",
        "ingress": True,
        "wash": True,
        "rtt": "50 ms",
        "limit": "1048576 B",
        "overhead": 14,
    }


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("fq_codel memory_limit 4mb", "memory_limit.*known are limit, flows"),
        ("netem loss 1% 25%", "correlation of loss.*gemodel"),
        ("netem loss state 1%", "state.*gilbert-elliott"),
        ("netem delay 10ms reorder 25% 50%", "correlation of reorder.*`50%`.*leave.*out"),
        ("netem delay 10ms reorder 25% 50% gap 5", "correlation of reorder.*leave.*out"),
        ("netem gap 5 delay 10ms reorder 25%", "gap.*`5`.*reorder 12.5% sends as many"),
        ("netem delay 10ms reorder 100% gap 5", "gap.*`5`.*reorder 20% sends as many"),
        ("netem delay 10ms gap 5", "gap.*`5`.*beside reorder"),
        ("netem delay 10ms reorder 0% gap 5", "gap.*`5`.*beside reorder"),
        ("netem reorder 25%", "reorder.*`25%`.*with a delay.*delay 10ms reorder 25%"),
        ("netem delay 10ms 2ms reorder 25%", "reorder with jitter.*by itself"),
        ("netem delay 1ms slot 5ms", "slot"),
        ("netem dealy 10ms", "`dealy`.*known are limit, delay.*did you mean `delay`"),
        ("tbf rate 1mbit burst 10kb latecny 5ms", "latency"),
        ("tbf rate 1mbit burst 10kb limit 5kb pekrate 2mbit", "did you mean `peakrate`"),
        ("fq_codl limit 5", "`fq_codl`.*did you mean `fq_codel`"),
        ("fq_codel tarket 5ms", "did you mean `target`"),
        ("netem delay fast", "a time, as 10ms"),
        ("netem loss 120%", "0% to 100%"),
        ("tbf rate 1mbit latency 5ms", "burst"),
        ("tbf rate 1mbit burst 10kb", "limit or latency"),
        ("hfsc default 1", "hfsc.*netem, tbf, htb"),
        ("cake bandwidth 1mbit fwmark 1", "fwmark.*tc-cake"),
        ("cake bandwidth 1mbit overhead x", "overhead.*`x`.*a number of octets"),
    ],
)
def test_what_has_no_counterpart_is_told(command: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as error:
        convert(f"\ntc qdisc add dev x root {command}", "script.sh")
    assert "script.sh: line 2" in str(error.value)


def test_one_class_that_borrows_nothing_is_a_rate() -> None:
    class_of = "tc class add dev x parent 1: classid 1:1 htb rate 5mbit"
    (link,) = tomllib.loads(convert(class_of, "t").toml())["links"]
    assert link["rate"] == "5 Mbit/s" and "queue" not in link


def test_classes_are_a_queue() -> None:
    text = """
tc qdisc add dev x root handle 1: htb default 20
tc class add dev x parent 1: classid 1:1 htb rate 10mbit
tc class add dev x parent 1:1 classid 1:10 htb rate 1mbit ceil 2mbit prio 0 burst 15k
tc class add dev x parent 1:1 classid 1:20 htb rate 9mbit ceil 10mbit prio 1 quantum 3000
tc qdisc add dev x parent 1:20 fq_codel limit 600
tc filter add dev x protocol ip parent 1: prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
"""
    (link,) = tomllib.loads(convert(text, "t").toml())["links"]
    assert link["queue"] == {
        "kind": "htb",
        "default": "1:20",
        "classes": [
            {"name": "1:1", "rate": "10 Mbit/s"},
            {
                "name": "1:10",
                "parent": "1:1",
                "rate": "1 Mbit/s",
                "ceil": "2 Mbit/s",
                "prio": 0,
                "burst": "15360 B",
                "dscp": [46],
            },
            {
                "name": "1:20",
                "parent": "1:1",
                "rate": "9 Mbit/s",
                "ceil": "10 Mbit/s",
                "prio": 1,
                "quantum": "3000 B",
                "queue": {"kind": "fq-codel", "limit": "600 packets"},
            },
        ],
    }
    by_port = text.replace("ip dsfield 0xb8 0xfc", "ip dport 80 0xffff")
    with pytest.raises(InputError, match=r"dport.*by one dsfield"):
        convert(by_port, "t")
    with pytest.raises(InputError, match=r"flowid.*`1:30`.*a class that was added"):
        convert(text.replace("flowid 1:10", "flowid 1:30"), "t")


MININET = """\
from mininet.topo import Topo

class Dumbbell(Topo):
    def build(self):
        h1 = self.addHost('h1')
        h2 = self.addHost('h2')
        s1 = self.addSwitch('s1')
        slow = dict(bw=10, delay='5ms', loss=1, max_queue_size=100, use_htb=True)
        self.addLink(h1, s1, **slow)
        self.addLink(s1, h2, bw=100, delay='1ms', jitter='200us', cls=TCLink)
"""


def test_mininet_has_nodes_too() -> None:
    found = convert(MININET, "topo.py")
    assert (found.hosts, found.routers) == (["h1", "h2"], ["s1"])
    first, second = links(MININET)
    assert first == {
        "ends": ["h1", "s1"],
        "rate": "10 Mbit/s",
        "delay": "5 ms",
        "queue": {"kind": "droptail", "limit": "100 packets"},
        "impairments": [{"kind": "bernoulli", "rate": 0.01}],
        "reverse": {"impairments": [{"kind": "bernoulli", "rate": 0.01}]},
    }
    jitter = {"kind": "jitter", "mean": "1 ms", "deviation": "200 us"}
    assert (second["delay"], second["impairments"]) == ("0 s", [jitter])


def test_parameters_of_one_link_and_of_each_end() -> None:
    (link,) = links("bw=10, delay='5ms', loss=0, max_queue_size=50")
    assert link["queue"]["limit"] == "50 packets" and "impairments" not in link
    (link,) = links("addLink(a, b, delay='5ms', params1=dict(bw=10), params2=dict(bw=1))")
    assert (link["rate"], link["reverse"]) == ("10 Mbit/s", {"rate": "1 Mbit/s"})
    (link,) = links("delay='5ms'", line="2 Gbit/s", ends=("a", "b"))
    assert link["rate"] == "2 Gbit/s"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("addLink(h1, hosts[0], bw=10)", r"hosts\[0\].*write the links out"),
        ("addLink(a, b)\naddHost('h%s' % n)", "line 2.*write the links out"),
        ("addLink(h1, s1, bw=rate)", "bw.*literal"),
        ("addLink(h1, s1, bw='10')", "bw.*Mbit/s"),
        ("bw=10, delay='soon'", "delay.*5ms"),
        ("bw=10, enable_ecn=True", "enable_ecn.*red"),
        ("bw=10, colour='red'", "colour.*known are bw, delay, jitter, loss, max_queue_size"),
        ("bw=10, loss=130", "percentage"),
        ("this is no link", "Mininet's Python"),
        ("print('hello')", "addLink"),
    ],
)
def test_mininet_that_cannot_be_read_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        convert(text, "topo.py")


def test_the_command(anabranch: Command, tmp_path: Path) -> None:
    file = tmp_path / "topo.py"
    file.write_text(MININET, encoding="utf-8")
    done = anabranch("convert", file)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(done.stdout)["hosts"] == ["h1", "h2"]
    out = tmp_path / "links.toml"
    assert anabranch("convert", file, "--out", out).returncode == 0
    assert out.read_text(encoding="utf-8") == done.stdout
    done = anabranch("convert", tmp_path / "none")
    assert done.returncode == 2 and "none" in done.stderr


def test_standard_input_and_names_of_ends() -> None:
    command = [sys.executable, "-m", "anabranch", "convert", "-", "--ends", "left", "right"]
    done = subprocess.run(
        command, input="tc qdisc add dev x root pfifo limit 20", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    (link,) = tomllib.loads(done.stdout)["links"]
    assert link["ends"] == ["left", "right"] and link["queue"]["limit"] == "20 packets"
    assert "# The line is taken to have 1 Gbit/s" in done.stdout


def test_a_trace_of_mahimahi_is_a_link_and_so_is_its_command_line(
    anabranch: Command, tmp_path: Path
) -> None:
    (tmp_path / "cell.trace").write_text("".join(f"{n}\n" for n in range(1, 200)), encoding="utf-8")
    found = tomllib.loads(convert("1\n2\n", "cell.trace").toml())["links"][0]
    assert found == {
        "ends": ["a", "b"], "trace": {"file": "cell.trace"}, "delay": "0 s",
    }  # fmt: skip
    line = (
        "mm-delay 40 mm-loss downlink 0.01 mm-link --uplink-queue droptail"
        " --uplink-queue-args='packets=100' up.trace cell.trace --downlink-queue=pie"
        " --downlink-queue-args=packets=50,qdelay_ref=20,max_burst=75 --meter-all -- bash -c 'a b'"
    )
    (link,) = tomllib.loads(convert(line, "text").toml())["links"]
    assert (link["trace"], link["delay"]) == ({"file": "cell.trace"}, "40 ms")
    assert link["queue"] == {
        "kind": "pie", "limit": "50 packets", "target": "20 ms", "burst": "75 ms",
        "update": "30 ms", "delay": "rate", "alpha": 7.8125, "beta": 78.125,
    }  # fmt: skip
    assert link["impairments"] == [{"kind": "bernoulli", "rate": 0.01}]
    assert link["reverse"] == {
        "trace": {"file": "up.trace"}, "queue": {"kind": "droptail", "limit": "100 packets"},
    }  # fmt: skip
    (tmp_path / "line.sh").write_text(line.replace("up.trace", "cell.trace"), encoding="utf-8")
    out = tmp_path / "line.toml"
    assert anabranch("convert", tmp_path / "line.sh", "--out", out).returncode == 0
    done = anabranch("run", out, "--out", tmp_path / "out")
    assert done.returncode == 0 and "transfer" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("mm-delay soon bash", "mm-delay.*`soon`.*a number"),
        ("mm-link cell.trace", "UPLINK DOWNLINK"),
        ("mm-loss sideways 0.1", "uplink or downlink"),
        ("mm-loss uplink 3", "from 0 to 1"),
        ("mm-link a b --once", "--once.*repeats"),
        ("mm-link a b --uplink-queue=droptail", "droptail needs packets or bytes"),
        ("mm-link a b --uplink-queue=droptail --uplink-queue-args=packets=5,bytes=9", "one limit"),
        ("mm-link a b --uplink-queue=droptail --uplink-queue-args=packets=0", "packets.*above 0"),
        ("mm-link a b --uplink-queue=droptail --uplink-queue-args=target=5", "known of droptail"),
        ("mm-link a b --uplink-queue=codel --uplink-queue-args=packets=9", "target, interval, too"),
        ("mm-link a b --uplink-queue=pie --uplink-queue-args=bytes=9,max_burst=5", "qdelay_ref"),
        ("mm-link a b --uplink-queue=codel --uplink-queue-args=target=0.5", "target.*`0.5`.*whole"),
        ("mm-link a b --uplink-queue-args=packets=9", "infinite"),
        ("mm-link a b --uplink-queue=drophead", "drophead.*droptail"),
        ("mm-onoff uplink 1 1", "mm-onoff.*known are mm-link"),
    ],
)
def test_what_mahimahi_has_and_we_have_not_is_told(line: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        convert(line, "text")


@pytest.mark.parametrize("unit", ["packets", "bytes"])
def test_queues_of_mahimahi_have_its_arguments_and_constants(unit: str) -> None:
    """dropping_packet_queue.cc: a limit in either unit for every queue; codel_packet_queue.cc and
    pie_packet_queue.cc: times in milliseconds, without defaults."""
    queues = {
        "codel": f"{unit}=4500, target=5, interval=100",
        "pie": f"qdelay_ref=20,max_burst=75, {unit}=4500",
    }
    limit = f"4500 {'B' if unit == 'bytes' else unit}"
    for kind, arguments in queues.items():
        command = f"mm-link -u log up down --downlink-queue={kind}"
        found = convert(f"{command} --downlink-queue-args='{arguments}'", "text").toml()
        queue = tomllib.loads(found)["links"][0]["queue"]
        assert (queue["kind"], queue["limit"]) == (kind, limit)
        Scenario(found.replace('{ file = "down" }', "{ millis = [1] }")
                 .replace('{ file = "up" }', "{ millis = [1] }")).resolved()  # fmt: skip
    assert "# up is not here, and was not checked." in found


TRACES = {
    "": r"bad.trace: the file is empty.*a whole number of milliseconds on each line",
    "0\n0\n": "bad.trace: field `trace`: value `0`.*the last above 0",
    "1\n2.5\n": "bad.trace: line 2.*`2.5`.*whole number of milliseconds",
    "1\n\n2\n": "bad.trace: line 2.*``.*whole number",
    "1\n-2\n": "bad.trace: line 2.*`-2`",
    "1\nfast\n": "bad.trace: line 2.*`fast`",
    "4294967296\n": "bad.trace: line 1.*`4294967296`",
    "5\n7\n4\n": "bad.trace: line 3.*`4`.*7 or more: dates do not descend",
    "0\n4\n4\n10\n": "",
    "4294967": "",
}
"""Texts of traces, and what is told of them."""


@pytest.mark.parametrize("text", TRACES)
def test_a_trace_is_checked_where_it_is_converted(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it takes and refuses is what a run takes and refuses."""
    monkeypatch.chdir(tmp_path)
    Path("bad.trace").write_text(text, encoding="utf-8")
    ways = {"mm-link bad.trace bad.trace": "command"} | ({text: "bad.trace"} if text else {})
    for said, file in ways.items():
        if TRACES[text]:
            with pytest.raises(InputError, match=TRACES[text]):
                convert(said, file)
        else:
            assert "not checked" not in convert(said, file).toml()
    scenario = Scenario.load(_beside(tmp_path))
    if TRACES[text]:
        with pytest.raises(InputError, match=r"bad\.trace"):
            scenario.resolved()
    else:
        scenario.resolved()


def _beside(folder: Path) -> Path:
    """A scenario beside a trace."""
    file = folder / "trace.toml"
    file.write_text(convert("1\n", "bad.trace").toml(), encoding="utf-8")
    return file


def test_an_empty_file_is_told(anabranch: Command, tmp_path: Path) -> None:
    (tmp_path / "cell.trace").touch()
    done = anabranch("convert", tmp_path / "cell.trace")
    assert done.returncode == 2 and "a trace of Mahimahi" in done.stderr
    assert "cell.trace: the file is empty" in done.stderr


@pytest.mark.parametrize("of", ["trace", "command"])
def test_a_trace_is_found_from_the_folder_of_the_scenario(
    anabranch: Command, tmp_path: Path, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cell.trace").write_text("1\n2\n", encoding="utf-8")
    Path("line.sh").write_text("mm-link cell.trace cell.trace\n", encoding="utf-8")
    file = "cell.trace" if of == "trace" else "line.sh"
    done = anabranch("convert", file, "--out", "sub/x.toml")
    assert done.returncode == 0, done.stderr
    scenario = Scenario.load(Path("sub/x.toml"))
    assert "../cell.trace" in Path("sub/x.toml").read_text(encoding="utf-8")
    scenario.resolved()


@pytest.mark.parametrize("joint", ["\n", "; ", " && ", ";"])
def test_commands_may_be_joined(joint: str) -> None:
    """And the note names the direction of which nothing is said."""
    there = "tc qdisc add dev x root tbf rate 5mbit burst 10k limit 30k"
    delay = "tc qdisc add dev y root netem delay 10ms"
    found = convert(f"{there}{joint}{delay} # the way back", "text").toml()
    (link,) = tomllib.loads(found)["links"]
    assert "token_bucket" in link and link["reverse"]["delay"] == "10 ms"
    assert "# The way back is taken to have 1 Gbit/s" in found
