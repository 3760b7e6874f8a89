"""Writes docs/fidelity.md: our models of window algorithms beside the kernel's own.

    python tests/fidelity_page.py PAGE RUN RESULTS...

RESULTS are the folders of `anabranch compare examples/sweeps/fidelity.toml` and of
`fidelity-bbr.toml`; RUN says where and when they ran. `make fidelity` runs all.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import fidelity_windows_page
from anabranch import tables

HEAD = """\
# Fidelity: our models and the kernel's

    anabranch compare examples/sweeps/fidelity.toml --out results/fidelity
    anabranch compare examples/sweeps/fidelity-bbr.toml --out results/fidelity-bbr

One transfer over a path of 70 ms (100 ms at 100 Mbit/s), in virtual time and on real packets
through the same emulated link, whose k-th packet has the same fate in both worlds. `kernel` as
sender: the kernel's own algorithm to a kernel, beside our model of it to our receiver. `ours`: our
sender to a kernel's receiver, beside itself. Means with 95 % intervals, simulated / live; *agree*
where the interval of the paired difference lies within 5 % of the live mean (a packet sent again,
half a timeout), **differ** where it lies beside that, else undecided. Without random loss nothing
varies between copies in virtual time, and its intervals have no width.

[What compare does](live.md#both-worlds-side-by-side) has the method,
[live studies](live-studies.md) more of what differs and why. Written by `make fidelity`; do not
edit.
"""

STATED = {
    ("2 Mbit/s, no loss", "cubic"): "17.50",
    ("2 Mbit/s, no loss", "reno"): "17.50 (17.50 to 17.51)",
    ("2 Mbit/s, no loss", "bbr"): "17.74",
    ("2 Mbit/s, 1 % loss", "cubic"): "22.7 (19.9 to 24.8)",
    ("2 Mbit/s, 1 % loss", "reno"): "21.4 (20.5 to 25.1)",
    ("2 Mbit/s, 1 % loss", "bbr"): "17.74",
    ("2 Mbit/s, 2 % loss", "cubic"): "31.1 (27.4 to 37.0)",
    ("2 Mbit/s, 2 % loss", "reno"): "30.8 (24.5 to 34.7)",
    ("2 Mbit/s, 2 % loss", "bbr"): "17.76",
}
"""Seconds for 4 MiB, median (range) of 10: measured with the kernel's TCP over another TUN emulator
with the same path."""

MEASURES = ("completion s", "retransmissions", "timeouts", "mean cwnd kB")
MARKS = {"agree": "*agree*", "undecided": "undecided", "differ": "**differ**", "": ""}

Cell = dict[str, str]


def main(page: Path, run: str, results: Sequence[Path]) -> None:
    """Writes the page; ends with a message if there is no result."""
    try:
        rows = [row for folder in results for row in tables.read_csv(folder / "compare.csv")]
        timings = [row for folder in results for row in tables.read_csv(folder / "timing.csv")]
    except OSError as error:
        sys.exit(f"{error}; run `anabranch compare examples/sweeps/fidelity.toml`")
    found = [row for row in rows if row["measure"] in MEASURES]
    parts = [HEAD, *([f"{run}\n"] if run else []), timing(timings), summary(found)]
    parts += [section(path, list(of)) for path, of in groupby(found, key=lambda row: row["path"])]
    parts.append(stated(found))
    page.write_text("\n".join([*parts, *last_section(page)]), encoding="utf-8")


def last_section(page: Path) -> list[str]:
    """What fidelity_windows_page.py wrote there before."""
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    _, title, rest = before.partition(fidelity_windows_page.TITLE)
    return [title + rest] if title else []


def timing(timings: list[Cell]) -> str:
    """How precise the live runs were."""
    trials = sum(int(row["trials"]) for row in timings)
    p99, most = (max(float(row[name]) for row in timings) for name in ("p99_s", "max_s"))
    text = (
        f"{trials} transfers live in {len(timings)} batches side by side; packets left late by at"
        f" most {p99 * 1e6:.0f} us (p99) and {most * 1e3:.1f} ms (maximum) in any of them."
    )
    doubts = [f"- {row['batch']}: {row['doubts']}" for row in timings if row["doubts"]]
    return "\n".join([text, *(["", "Doubtful:", "", *doubts] if doubts else []), ""])


def summary(rows: list[Cell]) -> str:
    """How often each verdict was given, by sender and measure."""
    lines = ["## How often they agree", "", "| sender | measure | agree | undecided | differ |"]
    lines.append("|---|---|---:|---:|---:|")
    for sender in ("kernel", "ours"):
        for measure in MEASURES:
            of = [r for r in rows if (r["sender"], r["measure"]) == (sender, measure)]
            counts = Counter(row["verdict"] for row in of)
            cells = [str(counts[verdict]) for verdict in ("agree", "undecided", "differ")]
            lines.append(f"| {sender} | {measure} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def section(path: str, rows: list[Cell]) -> str:
    """The table of one path: a line for each algorithm and sender."""
    lines = [f"## {path}", "", f"| algorithm | sender | {' | '.join(MEASURES)} |"]
    lines.append("|---|---|" + "---|" * len(MEASURES))
    for (window, sender), of in groupby(rows, key=lambda row: (row["window"], row["sender"])):
        cells = {row["measure"]: both(row) for row in of}
        lines.append(f"| `{window}` | {sender} | {' | '.join(cells[each] for each in MEASURES)} |")
    return "\n".join([*lines, ""])


def both(row: Cell) -> str:
    """Both worlds and the verdict."""
    return f"{interval(row, 'simulated')} / {interval(row, 'live')} {MARKS[row['verdict']]}".strip()


def interval(row: Cell, world: str) -> str:
    """`19.8 (19.1 to 20.5)`, three digits or so; the mean alone where nothing varies."""
    mean, low, high = (float(row[world + end]) for end in ("", "_low", "_high"))
    digits = 2 if high < 100 else 1
    texts = [f"{value:.{digits}f}" for value in (mean, low, high)]
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"


def stated(rows: list[Cell]) -> str:
    """The kernel's completion times beside figures that others measured."""
    lines = [
        "## Beside figures of another emulator",
        "",
        "Seconds for 4 MiB. Stated: median (range) of 10, measured with the kernel's TCP over"
        " another TUN emulator with the same rate, delay, queue and loss.",
        "",
        "| path | algorithm | stated | live here | simulated |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        said = STATED.get((row["path"], row["window"]))
        if said and (row["sender"], row["measure"]) == ("kernel", "completion s"):
            cells = (said, interval(row, "live"), interval(row, "simulated"))
            lines.append(f"| {row['path']} | `{row['window']}` | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2], [Path(folder) for folder in sys.argv[3:]])
