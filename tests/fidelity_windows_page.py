"""Writes the last section of docs/fidelity.md: our windows in the kernel and in virtual time.

    python tests/fidelity_windows_page.py PAGE RUN RESULTS

RESULTS has the folders of `anabranch compare examples/sweeps/fidelity-windows.toml` (`windows`), of
`fidelity-paths.toml` (`paths`) and of `fidelity-shares.toml` (`shares`); RUN says where and when
they ran. `make fidelity-windows` runs all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from anabranch import tables

TITLE = "## Our windows in the kernel\n"
HEAD = """
    make fidelity-windows

Kernels at both ends with each of [our window algorithms](kernel.md), and with the kernel's own
`reno` and `cubic` (uncoupled over two paths), beside the same in virtual time: 20 Mbit/s, 40 ms, a
bandwidth-delay product of queue, 3 MB over one path and 6 MB over two; random loss takes the same
packets of each link in both worlds. Our Multipath TCP has the
[scheduler `linux`](algorithms/schedulers/linux.md). *Met*: the mean difference of copies in pairs
is at most 2 % of the completion time, 3 % of the mean window (over two paths of the sum), 5 % of
the connection's goodput at a bottleneck that it shares. Beside it stands its interval of 95 %;
*met?* and *not met?* where that has the bound within.
"""
BOUNDS = {"completion s": 0.02, "mean cwnd kB": 0.03}
SHARE = 0.05
SWEEPS = {"windows": "One path", "paths": "Two paths"}

Cell = dict[str, str]


def main(page: Path, run: str, results: Path) -> None:
    """Replaces the section, or appends it."""
    try:
        found = {
            name: tables.read_csv(results / name / "compare.csv") for name in (*SWEEPS, "shares")
        }
        timings = [row for name in found for row in tables.read_csv(results / name / "timing.csv")]
    except OSError as error:
        sys.exit(f"{error}; run `make fidelity-windows`")
    sections = [TITLE, HEAD, *([f"\n{run}\n"] if run else []), timing(timings)]
    sections += [transfers(title, found[name]) for name, title in SWEEPS.items()]
    sections.append(shares(found["shares"]))
    text = page.read_text(encoding="utf-8")
    before, _, _ = text.partition(TITLE)
    page.write_text(before.rstrip() + "\n\n" + "".join(sections), encoding="utf-8")


def timing(timings: list[Cell]) -> str:
    """How precise the live runs were."""
    trials = sum(int(row["trials"]) for row in timings)
    p99, most = (max(float(row[name]) for row in timings) for name in ("p99_s", "max_s"))
    left_out = [row for row in timings if "left out" in row["doubts"]]
    doubtful = sum(bool(row["doubts"]) for row in timings) - len(left_out)
    without = sum(int(row["doubtful"]) for row in left_out)
    return (
        f"\n{trials} copies live in {len(timings)} batches; packets left late by at most"
        f" {p99 * 1e6:.0f} us (p99) and {most * 1e3:.1f} ms (maximum); the timing of {doubtful}"
        f" batches is in doubt.\n{without} copies are left out, since they lacked a path or did not"
        " end: where the third ACK and the first\nsegments are lost, a kernel goes on as TCP"
        " (RFC 8684 §3.7).\n"
    )


def transfers(title: str, rows: Sequence[Cell]) -> str:
    """A row for each window and loss: difference of completion and window, and the verdicts."""
    text = f"\n### {title}\n\n| window | losses | completion: simulated, kernel, difference | |"
    text += " mean window kB: simulated, kernel, difference | |\n|---|---|---|---|---|---|\n"
    wanted = [row for row in rows if row["measure"] in BOUNDS]
    wanted.sort(key=lambda row: row["window"])
    for window, of in groupby(wanted, key=lambda row: row["window"]):
        by_losses: dict[str, dict[str, Cell]] = {}
        for row in of:
            by_losses.setdefault(row["losses"], {})[row["measure"]] = row
        for losses, measures in by_losses.items():
            cells = [cell for name in BOUNDS for cell in judged(measures.get(name), BOUNDS[name])]
            text += f"| `{window}` | {losses} | " + " | ".join(cells) + " |\n"
    return text


def judged(row: Cell | None, bound: float) -> Iterator[str]:
    """Both means with their difference in per cent, and the verdict."""
    if row is None:
        yield from ("", "")
        return
    simulated, live = float(row["simulated"]), float(row["live"])
    found = parts(row)
    mean, low, high = (100 * part for part in found)
    yield f"{simulated:.2f}, {live:.2f}, {mean:+.1f} % ({low:+.1f} to {high:+.1f})"
    yield verdict(*found, bound)


def parts(row: Cell) -> tuple[float, float, float]:
    """The mean difference of copies in pairs and its interval, as parts of what is simulated."""
    simulated = float(row["simulated"])
    mean, low, high = (float(row[f"difference{end}"]) / simulated for end in ("", "_low", "_high"))
    return mean, low, high


def verdict(mean: float, low: float, high: float, bound: float) -> str:
    """Whether a difference is within a bound; with a question mark where its interval is not."""
    if abs(mean) <= bound:
        return "met" if -bound <= low and high <= bound else "met?"
    return "**not met**" if low > bound or high < -bound else "not met?"


def shares(rows: Sequence[Cell]) -> str:
    """The connection's part of the goodput of both flows, by the queue of the bottleneck."""
    text = "\n### Shares of a bottleneck\n\nOf 20 Mbit/s beside one TCP (`reno`), 20 s.\n\n"
    text += "| queue | window | share: simulated, kernel | goodput: difference | |\n"
    text += "|---|---|---|---|---|\n"
    by_case: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        if row["measure"] == "goodput Mbit/s":
            by_case.setdefault((row["queue"], row["window"]), {})[row["flow"]] = row
    for (queue, window), by_flow in by_case.items():
        found = []
        for world in ("simulated", "live"):
            ours, theirs = (float(by_flow[flow][world]) for flow in ("multipath", "tcp"))
            found.append(ours / (ours + theirs))
        mean, low, high = parts(by_flow["multipath"])
        met = verdict(mean, low, high, SHARE)
        apart = f"{100 * mean:+.1f} % ({100 * low:+.1f} to {100 * high:+.1f})"
        text += f"| {queue} | `{window}` | {found[0]:.3f}, {found[1]:.3f} | {apart} | {met} |\n"
    return text


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
