"""Writes docs/validation.md: formulas and published figures beside what was measured.

    python tests/validation_page.py MARKS RESULTS PAGE
    python tests/validation_page.py --add MARKS PAGE
    python tests/validation_page.py --check MARKS PAGE

MARKS is what the Rust tests wrote (`ANABRANCH_MARKS`), RESULTS the folder of
`anabranch reproduce`. `make validation` runs all of it. With `--add` the marks are those of some
tests, whose lines are added to the page or take the place of older ones. With `--check` it is only
compared with the marks: it has exactly their lines, and those of the study aside no others.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROWS = {
    "T1": "Macroscopic model: rate = (MSS/R) C/sqrt(p) (Mathis et al. 1997)",
    "T2": "PFTK: Reno with timeouts (Padhye et al. 1998; RFC 5348)",
    "T4": "Window-limited: W per RTT",
    "T6": "CUBIC's response function (RFC 9438)",
    "T7": "HighSpeed's response function (RFC 3649)",
    "T8": "Vegas keeps alpha to beta packets queued (Brakmo and Peterson 1995)",
    "T9": "BBR: gains, ProbeRTT, throughput under loss",
    "T10": "DCTCP: queue and amplitude (Alizadeh et al. 2011)",
    "T11": "Rounds of slow start (Cardwell et al. 2000)",
    "T12": "HyStart++ (RFC 9406)",
    "T13": "RACK-TLP (RFC 8985) and PRR (RFC 6937)",
    "T14": "Retransmission timeout (RFC 6298)",
    "buffer": "utilisation by one Reno flow, by the size of the queue",
    "recovery": "Losses out of one window (Fall and Floyd 1996; Hwang, Yoo and Yoo)",
    "C1": "SCTP over two paths, beside ns-2.35",
    "C4": "SCTP failure detection (RFC 9260 §8.2)",
    "C5": "SCTP over all paths at once, beside ideal striping (Iyengar et al. 2006)",
    "C6": "SCTP: rounds of slow start by initial-window rule",
    "coupled": "windows of subflows on equal paths, and K' of MCubic",
    "bucket": "ACK bucket (Narváez and Siu 1997)",
    "K1": "Two-way traffic: docs/two-way.md (Kalampoukas, Varma and Ramakrishnan 1998)",
    "channel": "Explicit rates: max-min shares of a channel",
    "abr": "ATM's available bit rate: what cells and RM cells leave of a line",
    "Q1": "M/D/1, M/M/1/K, Little's law",
    "Q2": "Gilbert-Elliott loss",
    "Q3": "Bit errors",
    "Q4": "Queue disciplines beside their laws",
    "Q5": "Mahimahi traces",
    "Q6": "Jain's index, RTT fairness",
    "Q7": "Conservation and determinism",
}
STUDY = "response-functions"
CLAIMS = {"T1-periodic": "T1", "T1-random": "T1"}
HEAD = """\
# Validation

Formulas and published figures beside what the code does. Every line was measured: by a test, which
fails when the mark is missed, or by the study `response-functions`, whose verdict stands there.
Known differences are explained in [limitations.md](limitations.md). Written by `make validation`.
"""


def tests(file: Path) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Row name and cells of each line that a test wrote."""
    named: set[tuple[str, str]] = set()
    for line in sorted(set(file.read_text(encoding="utf-8").splitlines())):
        row, quantity, expected, measured, mark = line.split("\t")
        if row not in ROWS:
            sys.exit(f"{row}: no section of this name; of {quantity!r}")
        if (row, quantity) in named:
            sys.exit(f"{row}: two marks are called {quantity!r}")
        named.add((row, quantity))
        yield row, (quantity, expected, measured, mark, "test")


def study(folder: Path) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The same of the study's judged measures."""
    with (folder / STUDY / "measures.csv").open(encoding="utf-8") as handle:
        for line in csv.DictReader(handle):
            if line["verdict"]:
                low, high = float(line["ci_low"]), float(line["ci_high"])
                interval = "" if low == high else f" ({low:.3f} to {high:.3f}, n = {line['n']})"
                row = CLAIMS.get(line["claim"], line["claim"])
                if row not in ROWS:
                    sys.exit(f"{row}: no section of this name; a claim of the study")
                measured = f"{float(line['measured']):.3f}{interval}"
                yield row, (line["quantity"], line["expected"], measured, line["verdict"], "study")


def heading(row: str) -> str:
    """The title of a section."""
    return f"{row.capitalize()}: {ROWS[row]}"


def table_line(cells: tuple[str, ...]) -> str:
    """A line of a section's table."""
    return f"| {' | '.join(cells)} |\n"


def written(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Row name and cells of each line of a page."""
    rows = {heading(row): row for row in ROWS}
    title = ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| quantity |"):
            yield rows[title], tuple(line.removeprefix("| ").removesuffix(" |").split(" | "))


def with_marks(text: str, marks: Path) -> str:
    """The page with the lines of some tests, as they were or new."""
    added = list(tests(marks))
    names = {(row, cells[0]) for row, cells in added}
    old = list(written(text))
    kept = [each for each in old if each[1][-1] == "test" and (each[0], each[1][0]) not in names]
    of_study = [each for each in old if each[1][-1] == "study"]
    return page([*sorted([*kept, *added]), *of_study])


def differences(marks: Path, target: Path) -> list[str]:
    """Lines of tests that the page lacks, or has too many."""
    of_page = written(target.read_text(encoding="utf-8"))
    expected = {(heading(row), table_line(cells)) for row, cells in tests(marks)}
    found = {(heading(row), table_line(cells)) for row, cells in of_page if cells[-1] == "test"}
    missing = [f"- {title}: {line}" for title, line in sorted(expected - found)]
    extra = [f"+ {title}: {line}" for title, line in sorted(found - expected)]
    return missing + extra


def page(lines: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """The page: a table a row."""
    tables: dict[str, list[tuple[str, ...]]] = {}
    for row, cells in lines:
        tables.setdefault(row, []).append(cells)
    parts = [HEAD]
    for row in ROWS:
        if row in tables:
            title = heading(row)
            body = "".join(map(table_line, tables[row]))
            header = (
                "| quantity | expected | measured | mark or verdict | by |\n|---|---|---|---|---|\n"
            )
            parts.append(f"## {title}\n\n{header}{body}")
    return "\n".join(parts)


def main() -> None:
    if sys.argv[1] == "--check":
        found = differences(Path(sys.argv[2]), Path(sys.argv[3]))
        if found:
            sys.exit("docs/validation.md is not what `make validation` writes:\n" + "".join(found))
        return
    if sys.argv[1] == "--add":
        marks, target = Path(sys.argv[2]), Path(sys.argv[3])
        text = target.read_text(encoding="utf-8")
        target.write_text(with_marks(text, marks), encoding="utf-8")
        return
    marks, results, target = (Path(argument) for argument in sys.argv[1:])
    target.write_text(page([*tests(marks), *study(results)]), encoding="utf-8")


if __name__ == "__main__":
    main()
