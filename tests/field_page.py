"""Writes docs/field.md: every window algorithm in one table, with findings and figures.

    python tests/field_page.py RESULTS PAGE

RESULTS is the folder of `anabranch evaluate --all`; a quick run will do, and the page then says so.
The figures are drawn from its table into `images/field` beside PAGE. `make field` runs both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.errors import InputError
from anabranch.evaluate.checks import FIELD
from anabranch.evaluate.checks.field import BUFFERS, LOSSES, share_name
from anabranch.evaluate.field import drawings, summary
from anabranch.evaluate.field.findings import Named, findings
from anabranch.evaluate.field.table import Field, Key
from anabranch.verdicts import Verdict

HEAD = """\
# The field in one table

    anabranch evaluate --all

Every window algorithm of `anabranch list algorithms` in the same scenarios, under the same seeds:
the questions of RFC 9743 ([evaluate.md](evaluate.md) has each with its scenario), its share beside
one flow of CUBIC and of Reno over buffers of 0.5 to 16 BDP, and random loss. `anabranch evaluate
--all mine.py:Mine` puts a row of your own into it.
"""

READING = """\
Numbers are means with intervals over replications, and the sentences above say only what whole
intervals say. All flows are TCP with RACK-TLP over drop-tail queues on 20 Mbit/s and 40 ms where
nothing else is said. So the table is about these paths, not about an algorithm's merits elsewhere:

- `dctcp` and `prague` are made for queues that mark. Only `ecn` and `codel` have another queue than
  drop-tail of theirs, and none marks at a short queue; beside drop-tail they are what they are on
  the Internet of today.
- `lia`, `olia`, `balia`, `wvegas`, `mcubic`, `mcubic-share`, `coupled-bbr` and `d-lia` are coupled
  windows of Multipath TCP. Over one path the first three are Reno, `d-lia` is Reno with smaller
  reductions, `wvegas` is near to Vegas, `coupled-bbr` is BBR, and the two others are CUBIC without
  its Reno-friendly region, which is what they lack under random loss.
- `ledbat` and `ledbat++` are to give way: that CUBIC starves them is their purpose. In buffers that
  are shorter than their target delay they cannot tell that they should.
- `westwood`, `vegas`, `wvegas`, `cdg` and `ledbat++` leave slow start early or late on long paths,
  as their pages say; `large-bdp` and `high-delay` show it.
- A flow of two minutes is not at its end in a buffer of 8 or 16 BDP, where a round trip takes up to
  0.7 s: [bbr.md](algorithms/bbr.md) has runs of ten.
- Options of algorithms are at their defaults.
"""

FIGURES = {
    "shares": "Share of what two flows deliver that an algorithm takes beside one flow of a"
    " standard, by the buffer: orange takes, purple gives way; `?` where the interval crosses 0.2"
    " or 0.8.",
    "losses": "Use of a link of 20 Mbit/s that loses packets at random, in percent.",
    "alone": "What one flow does alone, and how its share depends on the round trip among four of"
    " its kind; bars are intervals.",
    "verdicts": "The verdict of every check: does it as well as Reno or CUBIC, within the"
    " allowance?",
}
"""Captions by the stem of the figure."""
IMAGES = Path("images/field")
WARE = "bbr"
"""BBR version 1, of which a model of its share is published."""

WARE_TEXT = """\
R. Ware et al. ("Modeling BBR's interactions with loss-based congestion control", IMC 2019) give the
share of BBR version 1 beside loss-based flows in a queue that is always full. Ours has less, the
more so the longer the buffer. In the longest most of that is time: runs of ten minutes end much
nearer to the model ([bbr.md](algorithms/bbr.md) has them, and what is open). So the shares of two
minutes in buffers of 8 and 16 BDP are of flows that are still on their way.
"""


def main(results: Path, page: Path) -> None:
    """Writes the page and its figures; ends with a message if there is no result."""
    try:
        field = Field.load(results)
    except InputError as error:
        sys.exit(f"{error}; run `make field`")
    (page.parent / IMAGES).mkdir(parents=True, exist_ok=True)
    drawn = drawings.draw(page.parent / IMAGES, field)
    for stem in drawn:
        (page.parent / IMAGES / f"{stem}.svg").unlink()  # the page has one form of each
    text = "\n".join(lines(field, drawn, page.parent))
    page.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def lines(field: Field, drawn: Sequence[str], docs: Path) -> Iterator[str]:
    """The lines of the page."""

    def named(algorithm: str) -> str:
        return linked(algorithm, docs)

    yield HEAD
    yield f"{facts(field)} Written by `make field`; do not edit.\n"
    yield "## What it says\n"
    yield from (f"- {sentence}" for sentence in findings(field, lambda each: f"`{each}`"))
    yield f"\n{READING}"
    yield "## Figures\n"
    for stem in drawn:
        yield f"![{FIGURES[stem]}]({IMAGES / stem}.png)\n\n*{FIGURES[stem]}*\n"
    yield "## The table\n"
    yield from short_table(field, named)
    for standard, check in summary.SHARES.items():
        if check in field.checks:
            yield f"\n### Beside {standard}\n"
            yield from quantities(field, check, named, heads=[f"{b:g} BDP" for b in BUFFERS])
    if WARE in field.algorithms and summary.SHARES["cubic"] in field.checks:
        yield from ware(field)
    if "random-loss" in field.checks:
        yield "\n### Random loss: use of the link, %\n"
        yield from quantities(
            field, "random-loss", named, heads=[f"{each} %" for each in LOSSES], digits=0
        )
    yield "\n## Every check\n"
    yield from every_check(field, named)


def facts(field: Field) -> str:
    """What the numbers are of."""
    found = field.facts
    dates = " to ".join(dict.fromkeys((found.dates[0], found.dates[-1])))
    commits = f", commit {', '.join(found.commits)}" if found.commits else ""
    first, *further = found.looks
    then = f", {further[0]} where a verdict is not decided by {first}" if further else ""
    quick = (
        " **A quick run**: most runs last a third of the time." if found.strength == "quick" else ""
    )
    return (
        f"{found.runs} runs of version {found.version}{commits}, {dates}:"
        f" {found.cpu_s / 60:.0f} min of processor time on {found.machine}. Each scenario"
        f" has {first} replications{then}; Reno and CUBIC, from which bounds come, have the most;"
        f" intervals are of {100 * found.level:g} %, so that all looks at one number together"
        f" have 95 % ([statistics.md](statistics.md)).{quick}"
    )


def linked(algorithm: str, docs: Path) -> str:
    """The name as a link to its page, where it has one."""
    page = Path("algorithms") / page_of(algorithm)
    return f"[`{algorithm}`]({page})" if (docs / page).exists() else f"`{algorithm}`"


def page_of(algorithm: str) -> str:
    """The file that documents an algorithm of ours."""
    return f"{algorithm.replace('++', '-plus-plus')}.md"


def short_table(field: Field, named: Named) -> Iterator[str]:
    """A row for each algorithm: what a reader looks for first."""
    columns = summary.columns(field)
    heads = [column.head for column in columns]
    yield table_row(["", *heads, "within", "in part", "beyond", "undecided"])
    yield "|---|" + "---:|" * (len(heads) + 4)
    for each in field.algorithms:
        counts = field.counts(each)
        cells = [column.text(field, each) for column in columns]
        yield table_row([named(each), *cells, *(str(counts[v]) for v in summary.VERDICTS)])
    yield ""
    yield (
        "*beside*: the share of what both flows deliver; *RTT exponent*: of four flows of 20 to 160"
        " ms; *delay alone*: mean queue in a buffer of five BDP; the last four: checks by verdict."
    )


def quantities(
    field: Field, check: str, named: Named, heads: Sequence[str], digits: int = 2
) -> Iterator[str]:
    """A row for each algorithm, a column for each quantity of a check."""
    yield table_row(["", *heads])
    yield "|---|" + "---:|" * len(heads)
    for each in field.algorithms:
        found = [field.estimates[check, quantity, each] for quantity in field.quantities(check)]
        yield table_row([named(each), *(summary.interval(number, digits) for number in found)])


def ware(field: Field) -> Iterator[str]:
    """BBR version 1 beside CUBIC: the published model and what is measured."""
    shares = [field.estimates[summary.SHARES["cubic"], share_name(b), WARE] for b in BUFFERS]
    yield "\n### BBR version 1 beside the model of Ware et al.\n"
    yield WARE_TEXT
    yield table_row(["buffer, BDP", *(f"{buffer:g}" for buffer in BUFFERS)])
    yield "|---|" + "---:|" * len(BUFFERS)
    yield table_row(["model", *(f"{model(b):.2f}" if b > 1 else "" for b in BUFFERS)])
    yield table_row(["`bbr`", *(summary.interval(share, 2) for share in shares)])


def model(buffer: float, bdp: float = 20e6 * 0.04 / 8 / 1500) -> float:
    """The share of one BBR flow beside loss-based ones in a buffer of so many BDPs.

    The others keep p = 1/2 - 1/(2 X) - 4/q of a queue of q packets, which is always full; at that
    share the window of two estimated BDPs, whose round trip has their queue in it, is what is left.
    """
    return 0.5 + 1 / (2 * buffer) + 4 / (buffer * bdp)


def every_check(field: Field, named: Named) -> Iterator[str]:
    """Of each check a folded table: numbers with their bound and verdict."""
    asked = {check.name: check for check in FIELD}
    for name in field.checks:
        check = asked[name]
        yield f'<details markdown="1"><summary>{name}: {check.question}</summary>\n'
        yield f"{check.reference()}; {check.setting}.\n"
        heads = [f"{quantity.name}: {quantity.rule.text()}" for quantity in check.quantities]
        yield table_row(["", *heads])
        yield "|---|" + "---|" * len(heads)
        for each in field.algorithms:
            keys = [(name, quantity.name, each) for quantity in check.quantities]
            yield table_row([named(each), *(judged(field, key) for key in keys)])
        yield "\n</details>\n"


def judged(field: Field, key: Key) -> str:
    """A number with its interval; bold beyond the bound, italic where it is undecided."""
    text = summary.interval(field.estimates[key], 2)
    marks = {Verdict.FAILS: "**", Verdict.UNDECIDED: "*"}
    mark = marks.get(field.judged[key], "")
    return f"{mark}{text}{mark}"


def table_row(cells: Sequence[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
