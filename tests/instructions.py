"""Instructions a packet-hop of the speed workloads, beside those on record.

    python tests/instructions.py check BENCH   fails where a workload costs 2 % more than on record
    python tests/instructions.py write BENCH   writes the record and docs/performance.md anew

BENCH is the program `target/release/examples/bench`. Valgrind's callgrind counts; the difference
of two lengths of a run leaves out its start. `bench/instructions.toml` has the record and the
compiler that it is of: another compiler makes other instructions, so its counts are shown and
decide nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "bench" / "instructions.toml"
PAGE = ROOT / "docs" / "performance.md"
TABLE = re.compile(r"(<!-- instructions -->\n).*?(<!-- end -->\n)", re.DOTALL)
TOLERANCE = 0.02


@dataclass(frozen=True)
class Workload:
    """A workload of `bench` in two lengths."""

    name: str
    short: int
    long: int


WORKLOADS = (
    Workload("long-flow", 2, 3),
    Workload("dumbbell-100-newreno", 2, 3),
    Workload("fat-tree", 2, 4),
    Workload("replications", 5, 15),
    Workload("sctp-bulk", 3, 4),
    Workload("mptcp-2-tcp", 2, 3),
    Workload("mptcp-2-mptcp", 2, 3),
)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in ("check", "write"):
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("valgrind") is None:
        print(
            "instructions are not counted: valgrind is not installed",
            file=sys.stderr,
        )
        return 0 if arguments[0] == "check" else 1
    program = Path(arguments[1])
    counts = {workload.name: per_hop(program, workload) for workload in WORKLOADS}
    if arguments[0] == "write":
        write(counts)
        return 0
    return check(counts)


def per_hop(program: Path, workload: Workload) -> float:
    """Instructions a packet-hop between the two lengths."""
    short, few = count(program, workload.name, workload.short)
    long, many = count(program, workload.name, workload.long)
    return (long - short) / (many - few)


def count(program: Path, name: str, length: int) -> tuple[int, int]:
    """Instructions and packet-hops of one run."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, str(program), f"{name}={length}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env={"LC_ALL": "C"})
    instructions = re.search(r"Collected : (\d+)", run.stderr)
    hops = re.search(r"(\d+) packet-hops", run.stdout)
    if instructions is None or hops is None:
        raise ValueError(f"no counts in what `{' '.join(command)}` says: {run.stdout}{run.stderr}")
    return int(instructions[1]), int(hops[1])


def check(counts: dict[str, float]) -> int:
    """Shows the counts beside their record; 1 where one costs too much more."""
    record = tomllib.loads(RECORD.read_text())
    same = record["rustc"] == compiler()
    if not same:
        print(
            f"the record is of {record['rustc']}, this is {compiler()}: differences decide nothing"
        )
    dearer = False
    for name, counted in counts.items():
        recorded = record["per_hop"][name]
        change = counted / recorded - 1
        print(
            f"{name:22} {counted:7.1f} instructions a hop, on record {recorded:7.1f}, {change:+.1%}"
        )
        dearer |= change > TOLERANCE
    if dearer and same:
        print(
            f"more than {TOLERANCE:.0%}: make it cheaper, or say why and `make instructions-record`"
        )
        return 1
    return 0


def write(counts: dict[str, float]) -> None:
    """Writes the record, and the table of the page from it."""
    lines = [
        f'rustc = "{compiler()}"',
        "",
        "# Instructions a packet-hop; written by `make instructions-record`.",
        "[per_hop]",
    ]
    lines += [f"{name} = {counted:.1f}" for name, counted in counts.items()]
    RECORD.write_text("\n".join(lines) + "\n")
    PAGE.write_text(TABLE.sub(lambda found: found[1] + table(counts) + found[2], PAGE.read_text()))


def table(counts: dict[str, float]) -> str:
    """The counts as a table of the page."""
    rows = ["| workload | lengths | instructions a hop |", "|---|---|---:|"]
    for workload in WORKLOADS:
        lengths = f"{workload.short} to {workload.long}"
        rows.append(f"| `{workload.name}` | {lengths} | {counts[workload.name]:.0f} |")
    return "\n".join([*rows, "", f"{compiler()}.", ""])


def compiler() -> str:
    """The name of the compiler, without its date."""
    words = subprocess.run(
        ["rustc", "--version"], capture_output=True, text=True, check=True
    ).stdout.split()
    return " ".join(words[:2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
