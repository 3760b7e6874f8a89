"""ns-2 and ns-3 beside ours on the workloads of `anabranch bench`.

    python bench/simulators/run.py [--parts instructions,time,memory] [--rounds N] [--only ns-3]
                                   [--bench PROGRAM] [--json FILE] [--page PAGE]

`make simulators` runs it. Each part adds what it finds to FILE (`results/simulators.json`), and
PAGE's generated section is written from FILE, so that parts, and the instructions and memory of
one simulator, can be measured at different times; the times of all, whose ratios count, are always
of one run. A simulator that is not
installed is named, with the package that has it, and the others are measured.

- instructions: callgrind, between two lengths of a run, so that building the network drops out.
- time: CPU seconds between two lengths, the simulators in turn, in rounds.
- memory: peak of a process with more and more idle connections.

Packet-hops are each simulator's own: of ours with each run, of the others from a run with counters
that is not timed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "bench" / "simulators"
SECTION = re.compile(r"(<!-- simulators -->\n).*?(<!-- end -->\n)", re.DOTALL)
MODULES = ("applications", "internet", "point-to-point", "nix-vector-routing")
PARTS = ("instructions", "time", "memory")
CONNECTIONS = (1000, 2000, 4000)

# Simulator, workload: where what is measured begins and ends, for instructions and for times. The
# unit is the workload's. Callgrind is slow: the more a simulator does, the shorter its stretch.
LENGTHS: dict[str, dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    "ours": {
        "long-flow": ((2, 3), (2, 22)),
        "dumbbell-100": ((2, 3), (2, 12)),
        "fat-tree": ((2, 4), (2, 12)),
        "replications": ((5, 15), (5, 105)),
    },
    "ns-2": {
        "long-flow": ((2, 3), (2, 12)),
        "dumbbell-100": ((2, 3), (2, 7)),
        "replications": ((5, 15), (5, 55)),
    },
    "ns-3": {
        "long-flow": ((0.75, 0.85), (1, 2)),
        "dumbbell-100": ((1.5, 1.6), (2, 3)),
        "fat-tree": ((0.5, 0.6), (1, 1.5)),
        "replications": ((2, 4), (5, 25)),
    },
}
NONE = "\N{EN DASH}"
UNITS = {"long-flow": "s", "dumbbell-100": "s", "fat-tree": "ms", "replications": "transfers"}


class Missing(Exception):
    """What a simulator or a measure needs and is not there, and where it is to be had."""


@dataclass(frozen=True)
class Stretch:
    """What one simulator did between two lengths of a workload."""

    hops: int
    amount: float
    """CPU seconds, or instructions."""

    @property
    def per_hop(self) -> float:
        return self.amount / self.hops


class Simulator(Protocol):
    """One of those that are compared."""

    name: str

    def about(self) -> str:
        """Its version, as a reader knows it."""
        ...

    def time(self, workload: str, start: float, end: float) -> Stretch:
        """CPU seconds of the stretch."""
        ...

    def instructions(self, workload: str, start: float, end: float) -> Stretch:
        """Instructions of the stretch."""
        ...

    def memory(self, connections: int) -> float:
        """Peak octets with so many idle connections."""
        ...


@dataclass(frozen=True)
class Run:
    """A process that has ended."""

    output: str
    cpu_s: float


def run(command: Sequence[str | Path]) -> Run:
    """Runs a program; CPU time is that of user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=HERE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(words)}` failed: {done.stdout}{done.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(done.stdout + done.stderr, cpu_s)


def peak(command: Sequence[str | Path]) -> float:
    """The most resident memory of a program, in octets."""
    # `ru_maxrss` of children is the most of all of them: each is the only child of a process.
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    return float(run([sys.executable, "-c", code, *command]).output.split()[-1]) * 1024


def number(text: str, pattern: str) -> float:
    """The number that a pattern finds."""
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"no `{pattern}` in: {text}")
    return float(found[1])


def callgrind(command: Sequence[str | Path], *options: str) -> Run:
    """Runs a program under callgrind."""
    if shutil.which("valgrind") is None:
        raise Missing("instructions are not counted: apt-get install valgrind")
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options]
    return run([*tool, *command])


def collected(done: Run) -> int:
    """The instructions that callgrind says."""
    return int(number(done.output, r"Collected : (\d+)"))


@dataclass
class Ours:
    """The example `bench` of the crate `anabranch-scenario`."""

    program: Path
    name: str = "ours"

    def __post_init__(self) -> None:
        if not self.program.exists():
            raise Missing(
                f"ours is not measured, {self.program} is not there: "
                "cargo build --release -p anabranch-scenario --example bench"
            )

    def about(self) -> str:
        return "Anabranch"

    def command(self, workload: str, length: float) -> list[str | Path]:
        name = "dumbbell-100-newreno" if workload == "dumbbell-100" else workload
        return [self.program, f"{name}={length:.0f}"]

    def hops(self, done: Run) -> int:
        return int(number(done.output, r"(\d+) packet-hops"))

    def time(self, workload: str, start: float, end: float) -> Stretch:
        short, long = (run(self.command(workload, length)) for length in (start, end))
        return Stretch(self.hops(long) - self.hops(short), long.cpu_s - short.cpu_s)

    def instructions(self, workload: str, start: float, end: float) -> Stretch:
        short, long = (callgrind(self.command(workload, length)) for length in (start, end))
        return Stretch(self.hops(long) - self.hops(short), collected(long) - collected(short))

    def memory(self, connections: int) -> float:
        # The example makes a fifth as many before, and says how much the others add.
        done = run([self.program, f"idle-flows={connections}"])
        return number(done.output, r"bytes_per_connection = ([\d.]+)") * connections


@dataclass
class Ns2:
    """ns-2, by a script of ours."""

    name: str = "ns-2"
    counted: dict[tuple[str, float], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if shutil.which("ns") is None:
            raise Missing("ns-2 is not measured, `ns` is not there: apt-get install ns2")

    def about(self) -> str:
        return f"ns-2 {package('ns2') or 'of unknown version'}"

    def command(self, workload: str, length: float, *more: str) -> list[str | Path]:
        return ["ns", HERE / "ns2.tcl", workload, f"{length:g}", *more]

    def hops(self, workload: str, length: float) -> int:
        if (workload, length) not in self.counted:
            done = run(self.command(workload, length, "count"))
            self.counted[workload, length] = int(number(done.output, r"hops (\d+)"))
        return self.counted[workload, length]

    def between(self, workload: str, start: float, end: float) -> int:
        return self.hops(workload, end) - self.hops(workload, start)

    def time(self, workload: str, start: float, end: float) -> Stretch:
        short, long = (run(self.command(workload, length)) for length in (start, end))
        return Stretch(self.between(workload, start, end), long.cpu_s - short.cpu_s)

    def instructions(self, workload: str, start: float, end: float) -> Stretch:
        short, long = (callgrind(self.command(workload, length)) for length in (start, end))
        hops = self.between(workload, start, end)
        return Stretch(hops, collected(long) - collected(short))

    def memory(self, connections: int) -> float:
        return peak(self.command("idle-flows", connections))


@dataclass
class Ns3:
    """ns-3, by a program of ours against its installed libraries."""

    program: Path
    name: str = "ns-3"
    counted: dict[tuple[str, float, float], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for tool, where in (("g++", "g++"), ("pkg-config", "pkg-config")):
            if shutil.which(tool) is None:
                raise Missing(
                    f"ns-3 is not measured, `{tool}` is not there: apt-get install {where}"
                )
        names = [f"ns3-{module}" for module in MODULES]
        if subprocess.run(["pkg-config", "--exists", *names], check=False).returncode:
            raise Missing("ns-3 is not measured: apt-get install libns3-dev")
        if not Path("/usr/include/valgrind/callgrind.h").exists():
            raise Missing(
                "ns-3 is not measured, `callgrind.h` is not there: apt-get install valgrind"
            )
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", *names], capture_output=True, text=True, check=True
        ).stdout.split()
        # The packages name the development files of libraries that this program does not use.
        flags = [flag for flag in flags if not flag.endswith(".so")]
        source = HERE / "ns3.cc"
        self.program.parent.mkdir(parents=True, exist_ok=True)
        if not self.program.exists() or self.program.stat().st_mtime < source.stat().st_mtime:
            made = self.program.with_suffix(".new")
            run(["g++", "-std=c++17", "-O2", "-o", made, source, *flags])
            made.replace(self.program)

    def about(self) -> str:
        profile = word(run([self.program, "--about"]).output, r"profile (\S+)")
        return f"ns-3 {package('libns3-dev') or 'of unknown version'}, profile `{profile}`"

    def command(self, workload: str, start: float, end: float, *more: str) -> list[str | Path]:
        words = [f"--workload={workload}", f"--from={start:g}", f"--length={end:g}"]
        return [self.program, *words, *more]

    def hops(self, workload: str, start: float, end: float) -> int:
        key = (workload, start, end)
        if key not in self.counted:
            done = run(self.command(workload, start, end, "--count"))
            self.counted[key] = int(number(done.output, r"hops (\d+)"))
        return self.counted[key]

    def time(self, workload: str, start: float, end: float) -> Stretch:
        done = run(self.command(workload, start, end))
        return Stretch(self.hops(workload, start, end), number(done.output, r"cpu ([\d.e+-]+)"))

    def instructions(self, workload: str, start: float, end: float) -> Stretch:
        # What is before the stretch runs without callgrind's counters, which is much quicker.
        done = callgrind(self.command(workload, start, end), "--instr-atstart=no")
        return Stretch(self.hops(workload, start, end), collected(done))

    def memory(self, connections: int) -> float:
        return peak(self.command("idle-flows", 0, connections))


def word(text: str, pattern: str) -> str:
    """The word that a pattern finds."""
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"no `{pattern}` in: {text}")
    return found[1]


def package(name: str) -> str | None:
    """The version of an installed package of Debian's."""
    if shutil.which("dpkg-query") is None:
        return None
    query = ["dpkg-query", "-W", "-f", "${Version}", name]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout or None


def simulators(bench: Path) -> list[Simulator]:
    """Those that are there; what is missing is said."""
    found: list[Simulator] = []
    makers = (lambda: Ours(bench), Ns2, lambda: Ns3(ROOT / "target" / "simulators" / "ns3bench"))
    for make in makers:
        try:
            found.append(make())
        except Missing as missing:
            print(missing, file=sys.stderr)
    return found


def measure_instructions(
    found: list[Simulator], table: dict[str, Any], save: Callable[[], None]
) -> None:
    """Adds instructions a packet-hop, by workload and simulator."""
    for simulator in found:
        for workload, (lengths, _) in LENGTHS[simulator.name].items():
            stretch = simulator.instructions(workload, *lengths)
            row = {"lengths": lengths, "hops": stretch.hops, "per_hop": stretch.per_hop}
            table.setdefault(workload, {})[simulator.name] = row
            save()
            print(
                f"{workload:14} {simulator.name:5} {stretch.per_hop:9.0f} instructions a hop",
                flush=True,
            )


def measure_time(found: list[Simulator], rounds: int) -> dict[str, Any]:
    """CPU seconds a packet-hop in each round, by workload and simulator."""
    table: dict[str, Any] = {}
    for number_of in range(rounds):
        for workload in UNITS:
            for simulator in found:
                if workload not in LENGTHS[simulator.name]:
                    continue
                lengths = LENGTHS[simulator.name][workload][1]
                stretch = simulator.time(workload, *lengths)
                row = table.setdefault(workload, {}).setdefault(
                    simulator.name, {"lengths": lengths, "hops": stretch.hops, "per_hop": []}
                )
                row["per_hop"].append(stretch.per_hop)
                print(
                    f"round {number_of + 1}: {workload:14} {simulator.name:5} "
                    f"{stretch.per_hop * 1e9:9.1f} ns a hop",
                    flush=True,
                )
    return table


def measure_memory(found: list[Simulator], table: dict[str, Any]) -> None:
    """Adds peak memory with idle connections, by simulator."""
    for simulator in found:
        peaks = [simulator.memory(connections) for connections in CONNECTIONS]
        more = CONNECTIONS[-1] - CONNECTIONS[0]
        table[simulator.name] = {
            "connections": CONNECTIONS,
            "peak": peaks,
            "per_connection": (peaks[-1] - peaks[0]) / more,
        }
        print(f"{simulator.name:5} {table[simulator.name]['per_connection']:.0f} B a connection")


def page(found: dict[str, Any]) -> str:
    """The section of the page."""
    return "\n".join(
        [
            found["where"],
            "",
            *instruction_rows(found.get("instructions", {})),
            *time_rows(found.get("time", {})),
            *memory_rows(found.get("memory", {})),
            *stretch_rows(found),
        ]
    )


def instruction_rows(table: dict[str, Any]) -> list[str]:
    """Instructions a packet-hop, and how many times ours."""
    if not table:
        return []
    lines = [
        "Instructions a packet-hop (callgrind), in brackets how many times ours:",
        "",
        "| workload | ours | ns-2 | ns-3 |",
        "|---|---:|---:|---:|",
    ]
    for workload, row in table.items():
        ours = row["ours"]["per_hop"] if "ours" in row else None
        cells = [f"`{workload}`"]
        for name in LENGTHS:
            if name not in row:
                cells.append(NONE)
                continue
            cost = row[name]["per_hop"]
            ratio = f" ({cost / ours:.1f})" if ours and name != "ours" else ""
            cells.append(f"{cost:,.0f}{ratio}")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def time_rows(table: dict[str, Any]) -> list[str]:
    """CPU time a packet-hop, and the ratio to ours within rounds."""
    if not table:
        return []
    rounds = max(len(cell["per_hop"]) for row in table.values() for cell in row.values())
    lines = [
        f"CPU time a packet-hop, medians of {rounds} rounds in which the simulators took turns.",
        "The ratio is the median of those within a round, in brackets the least and the most:",
        "",
        "| workload | ours, ns | ns-2, ns | ns-2 / ours | ns-3, ns | ns-3 / ours |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for workload, row in table.items():
        cells = [f"`{workload}`"]
        for name in LENGTHS:
            if name not in row:
                cells += [NONE] if name == "ours" else [NONE, NONE]
                continue
            costs = row[name]["per_hop"]
            cells.append(f"{statistics.median(costs) * 1e9:,.0f}")
            if name != "ours":
                cells.append(ratios(costs, row["ours"]["per_hop"]) if "ours" in row else NONE)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def memory_rows(table: dict[str, Any]) -> list[str]:
    """Memory of idle connections."""
    if not table:
        return []
    counts = next(iter(table.values()))["connections"]
    heads = " | ".join(f"MiB at {count:,}" for count in counts)
    lines = [
        "Memory of idle connections, both ends: what peak memory grows by between "
        f"{counts[0]:,} and {counts[-1]:,} of",
        "them, and the peak of the process, for ours that of the connections alone:",
        "",
        f"| simulator | octets a connection | {heads} |",
        "|---|" + "---:|" * (len(counts) + 1),
    ]
    for name, row in table.items():
        peaks = " | ".join(f"{value / (1 << 20):.1f}" for value in row["peak"])
        lines.append(f"| {name} | {row['per_connection']:,.0f} | {peaks} |")
    return [*lines, ""]


def stretch_rows(found: dict[str, Any]) -> list[str]:
    """What stretches the figures are of."""
    rows = []
    for workload, unit in UNITS.items():
        for name in LENGTHS:
            cells = [
                stretch(found.get(part, {}).get(workload, {}).get(name), unit)
                for part in ("instructions", "time")
            ]
            if cells != [NONE, NONE]:
                rows.append(f"| `{workload}` | {name} | {' | '.join(cells)} |")
    if not rows:
        return []
    heads = ["| workload | simulator | instructions | CPU time |", "|---|---|---|---|"]
    intro = "Of these stretches, from start to end, with the packet-hops between:"
    return [intro, "", *heads, *rows, ""]


def ratios(costs: list[float], ours: list[float]) -> str:
    """Median, least and most of the ratios within rounds."""
    list_of = [cost / own for cost, own in zip(costs, ours, strict=True)]
    return f"{statistics.median(list_of):.1f} ({min(list_of):.1f} to {max(list_of):.1f})"


def stretch(row: dict[str, Any] | None, unit: str) -> str:
    """Where a measurement began and ended, and its packet-hops."""
    if row is None:
        return NONE
    start, end = row["lengths"]
    return f"{start:g} to {end:g} {unit}, {row['hops']:,}"


def where(found: list[Simulator]) -> str:
    """The versions, the processor and the commit."""
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    at = subprocess.run(commit, capture_output=True, text=True, check=False).stdout.strip()
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    versions = "; ".join(
        f"{simulator.about()} at commit {at}" if simulator.name == "ours" else simulator.about()
        for simulator in found
    )
    return (
        f"{versions}. {model[1] if model else 'Unknown processor'}, "
        f"{os.cpu_count()} cores that other work shared (load {os.getloadavg()[2]:.0f}), "
        f"Linux {os.uname().release.split('-')[0]}."
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bench", type=Path, default=ROOT / "target/release/examples/bench")
    parser.add_argument("--json", type=Path, default=ROOT / "results" / "simulators.json")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args(arguments)
    parts = [part for part in options.parts.split(",") if part]
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]}; known are {', '.join(PARTS)}")
    only = options.only.split(",") if options.only else list(LENGTHS)
    if unknown := [name for name in only if name not in LENGTHS]:
        parser.error(f"unknown simulator {unknown[0]}; known are {', '.join(LENGTHS)}")
    there = simulators(options.bench.resolve())
    chosen = [simulator for simulator in there if simulator.name in only]
    found = json.loads(options.json.read_text()) if options.json.exists() else {}
    found["where"] = where(there)

    def save() -> None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=options.json.parent, delete=False) as file:
            json.dump(found, file, indent=1)
        Path(file.name).replace(options.json)

    for part in parts:
        try:
            if part == "instructions":
                measure_instructions(chosen, found.setdefault(part, {}), save)
            elif part == "time":
                found[part] = measure_time(chosen, options.rounds)
            else:
                measure_memory(chosen, found.setdefault(part, {}))
        except Missing as missing:
            print(missing, file=sys.stderr)
        save()
    if options.page is not None:
        text = options.page.read_text()
        options.page.write_text(SECTION.sub(lambda m: m[1] + page(found) + m[2], text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
