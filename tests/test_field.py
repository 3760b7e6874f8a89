"""The table of the field: what is kept of each algorithm, verdicts, findings, figures, its page."""

from __future__ import annotations

import doctest
import json
import math
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import field_page
import made
from anabranch import InputError
from anabranch.evaluate import field
from anabranch.evaluate.check import Check, Fixed, Quantity, Scale
from anabranch.evaluate.checks import FIELD
from anabranch.evaluate.checks import field as field_checks
from anabranch.evaluate.field import findings, running, summary
from anabranch.evaluate.field.cards import Card, Kept
from anabranch.evaluate.field.facts import Facts
from anabranch.evaluate.field.summary import Beside
from anabranch.evaluate.field.table import Field
from anabranch.experiment import RunResult, Scenario
from anabranch.stats import Estimate, Looks
from anabranch.verdicts import Verdict
from conftest import Command

ROOT = Path(__file__).parents[1]
CHECKS = ("wired", "random-loss")
"""Short ones, of one quantity and of four."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quick table of two checks and three algorithms."""
    folder = tmp_path_factory.mktemp("field")
    windows = field.contenders(["bbr"], everything=False)
    field.run(windows, field.Settings(folder, quick=True, jobs=2, names=CHECKS))
    return folder


def test_everything_means_every_window_algorithm() -> None:
    """The standards first, then what was given, then the rest; each once."""
    found = list(field.contenders(["examples/algorithms/greedy.py:Greedy", "copa"], True))
    assert found[:4] == ["reno", "cubic", "Greedy", "copa"]
    assert len(set(found)) == len(found) > 25 and "prague" in found
    assert "rack" not in found, "a recovery scheme"
    for window in found[3:]:
        assert FIELD[0].scenarios(window, Scale(quick=True))[0].resolved()
    assert list(field.contenders(["bbr"], everything=False)) == ["reno", "cubic", "bbr"]


def test_two_algorithms_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match=r"different names: a\.py:Mine is Mine, too"):
        field.contenders(["a.py:Mine", "b.py:Mine"], everything=False)


def test_the_table_has_every_number_of_every_algorithm(small: Path) -> None:
    found = Field.load(small)
    assert found.algorithms == ["reno", "cubic", "bbr"] and found.checks == list(CHECKS)
    assert len(found.estimates) == 3 * (1 + len(field_checks.LOSSES))
    kept = {
        each: found.estimates["random-loss", "use at 1 % loss, %", each]
        for each in found.algorithms
    }
    # Random loss is not congestion to BBR; Reno's law gives it about 1.2 / sqrt(p) segments.
    assert kept["bbr"].ci_low > 80 and kept["reno"].ci_high < 60
    assert found.verdict("random-loss", "bbr") is Verdict.HOLDS
    assert {each.n for each in found.estimates.values()} == {3}
    facts = found.facts
    assert facts.strength == "quick" and facts.runs == 3 * 3 * 5 and facts.cpu_s > 0
    cards = [json.loads(path.read_text()) for path in sorted((small / "cards").iterdir())]
    assert [card["algorithm"] for card in cards] == ["bbr", "cubic", "reno"]
    assert {each["runs"] for card in cards for each in card["checks"].values()} == {3, 12}


def test_an_interrupted_run_continues(small: Path, tmp_path: Path) -> None:
    """What a card has is not run again, what it lacks is, and the table comes out the same."""
    folder = tmp_path / "again"
    shutil.copytree(small, folder)
    (folder / "field.csv").unlink()
    path = folder / "cards" / "bbr.json"
    card = json.loads(path.read_text())
    del card["checks"]["wired"]
    card["checks"]["random-loss"]["date"] = "2001-01-01"  # survives unless it is run again
    path.write_text(json.dumps(card))
    told: list[str] = []
    settings = field.Settings(folder, quick=True, names=CHECKS, notice=told.append)
    found = field.run(field.contenders(["bbr"], everything=False), settings)
    assert told == []
    assert (folder / "field.csv").read_bytes() == (small / "field.csv").read_bytes()
    checks = json.loads(path.read_text())["checks"]
    assert checks["random-loss"]["date"] == "2001-01-01" < checks["wired"]["date"]
    assert found.facts.dates[0] == "2001-01-01"


def test_a_card_of_other_code_is_told_and_run_again(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    shutil.copytree(small, folder)
    path = folder / "cards" / "bbr.json"
    card = json.loads(path.read_text())
    card["checks"]["wired"] |= {"key": "of other code", "values": {"use, %": [1.0, 1.0, 1.0]}}
    path.write_text(json.dumps(card))
    told: list[str] = []
    settings = field.Settings(folder, quick=True, names=CHECKS, notice=told.append)
    found = field.run(field.contenders(["bbr"], everything=False), settings)
    assert told == ["bbr: of other code or options, so run again: wired"]
    assert found.estimates["wired", "use, %", "bbr"].mean > 80


def test_a_quick_run_does_not_overwrite_a_full_one(small: Path) -> None:
    settings = field.Settings(small, quick=False, names=CHECKS)
    with pytest.raises(
        InputError, match="a folder of its own for a full run: this one has a quick"
    ):
        field.run(field.contenders([], everything=False), settings)


def test_a_damaged_card_counts_as_none(tmp_path: Path) -> None:
    card = Card(tmp_path, "bbr", "quick")
    card.put("wired", Kept("key", {"use, %": [1.0, None]}, runs=2))
    again = Card(tmp_path, "bbr", "quick")
    stored = again.get("wired", "key")
    assert stored is not None and stored.replications == 2
    assert again.get("wired", "another") is None and again.stale({"wired": "another"}) == ["wired"]
    (tmp_path / "bbr.json").write_text('{"format": 1, "checks": {"wir')
    assert Card(tmp_path, "bbr", "full").get("wired", "key") is None


def test_names_that_files_cannot_have_have_cards_of_their_own(tmp_path: Path) -> None:
    for label in ("a/b", "a:b", "a b"):
        Card(tmp_path, label, "quick").put("wired", Kept(label))
    assert len(list(tmp_path.iterdir())) == 3
    assert all(Card(tmp_path, each, "quick").get("wired", each) for each in ("a/b", "a:b", "a b"))


class Numbers(Scenario):
    """A scenario whose replications end at these dates, in order."""

    def __init__(self, ends: Sequence[float]) -> None:
        super().__init__("")
        object.__setattr__(self, "ends", ends)

    def run_batch(self, replications: int, *, first: int = 0, **_: Any) -> list[RunResult]:
        """Replications `first` to `first + n - 1`."""
        ends: Sequence[float] = vars(self)["ends"]
        return [made.result(end_s=end) for end in ends[first : first + replications]]


@pytest.mark.parametrize(
    ("ends", "replications"),
    [
        ([0.5, 0.51] + [0.5] * 6, 2),  # far from 0.8
        ([0.7, 0.75, 0.7, 0.72] + [0.5] * 4, 4),
        ([0.5, 1.0, 0.6, 0.9, 0.7, 0.9, 0.8, 0.8], 8),  # never decided
    ],
)
def test_replications_stop_when_they_decide(
    tmp_path: Path, ends: Sequence[float], replications: int
) -> None:
    looks = Looks(2, 3)
    quantity = Quantity("end", lambda runs: runs[0].run.end_s, Fixed("at most", 0.8))
    check = Check("made", "", "", "", lambda _window, _scale: [], [quantity])
    task = running.Task("mine", check, [Numbers(ends)], "key")
    bounds = {("made", "end"): [Estimate(0.5, 0.5, 0.5, 8)] * 2}
    card = Card(tmp_path, "mine", "full")
    for size in looks.sizes:
        kept = running._look(task, card, bounds, looks, size)
    assert kept.replications == replications == kept.runs
    assert kept.values == {"end": ends[:replications]}
    # The standards, from which bounds come, have the whole budget.
    assert running._look(task, Card(tmp_path, "it", "full"), {}, looks, 8).replications == 8
    # What is there already counts.
    assert card.get("made", "key") == kept


def test_a_replication_without_a_value_is_none(tmp_path: Path) -> None:
    quantity = Quantity("end", lambda runs: runs[0].run.end_s, Fixed("at most", 0.8), 1.0, 0.0)
    check = Check("made", "", "", "", lambda _window, _scale: [], [quantity])
    task = running.Task("mine", check, [Numbers([0.1, math.nan, 0.2])], "key")
    card = Card(tmp_path, "mine", "quick")
    kept = running._look(task, card, {}, Looks(3, 1), 3)
    assert kept.values == {"end": [0.1, None, 0.2]}
    found = kept.estimate(quantity, Looks(3, 1))
    assert found.mean == pytest.approx(0.15) and (found.n, found.ci_low) == (2, 0.0)


def share(mean: float, half: float = 0.02) -> Estimate:
    return Estimate(mean, mean - half, mean + half, 8)


def told(shares: Mapping[str, Sequence[Estimate]], **checks: dict[str, Estimate]) -> str:
    """The findings of a table with these shares beside CUBIC by algorithm."""
    estimates = {
        ("share-beside-cubic", field_checks.share_name(buffer), each): of[n]
        for each, of in shares.items()
        for n, buffer in enumerate(field_checks.BUFFERS)
    }
    for check, of in checks.items():
        name, quantity = {"exponent": summary.EXPONENT, "delay": summary.DELAY}[check]
        estimates |= {(name, quantity, each): number for each, number in of.items()}
    names = list(dict.fromkeys(key[0] for key in estimates))
    judged = dict.fromkeys(estimates, Verdict.HOLDS)
    bounds = dict.fromkeys(estimates, 0.8)
    facts = Facts("full", [5], 0.95, "1", [], ["2026-01-01"], 1, 1.0, "a machine")
    table = Field(list(shares), names, estimates, judged, bounds, facts)
    return "\n".join(findings.findings(table))


def test_findings_say_who_starves_whom_and_where_it_is_open() -> None:
    text = told(
        {
            "cubic": [share(0.5)] * 6,
            "bold": [share(0.9)] * 3 + [share(0.5)] * 3,
            "meek": [share(0.5), *[share(0.1)] * 5],
            "open": [share(0.81)] + [share(0.6)] * 4 + [share(0.19)],
            "fair": [share(0.45)] * 6,
            "last": [share(0.95)] * 6,
        }
    )
    takes, leaves, nearest = (line for line in text.splitlines() if "CUBIC" in line)
    assert "deliver): in all buffers last; in 0.5 to 2 BDP bold." in takes
    assert takes.endswith("Undecided: in 0.5 BDP open.")
    assert "less than 20 %): in 1 to 16 BDP meek. 1 of 30 pairs of algorithm and" in leaves
    assert nearest.endswith(
        "buffers: fair (0.45 to 0.45), open (0.19 to 0.81) and bold (0.50 to 0.90)."
    )


def test_findings_say_only_what_whole_intervals_say() -> None:
    shares = {each: [share(0.5)] * 6 for each in ("cubic", "a", "b", "c")}
    text = told(
        shares,
        exponent={"a": share(0.1), "b": share(0.24, 0.1), "c": share(1.5)},
        delay={"a": share(5), "b": share(9, 3), "c": share(150)},
    )
    assert "a power below 0.25) with a; to a power above 0.75 it does with c." in text
    assert "less than 10 ms is kept by a; the longest by c (150 ms), b (9 ms) and a (5 ms)." in text


def test_a_share_is_classed_by_its_whole_interval() -> None:
    assert Beside.of(Estimate(0.95, 0.95, 0.95, 1)) is Beside.UNDECIDED  # one run has no interval
    assert Beside.of(share(0.95)) is Beside.STARVES
    for module in (findings, summary):
        assert doctest.testmod(module).failed == 0 < doctest.testmod(module).attempted


def test_the_page_is_made_of_stored_results(small: Path, tmp_path: Path) -> None:
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "algorithms" / "bbr.md").touch()
    page = tmp_path / "field.md"
    field_page.main(small, page)
    text = page.read_text(encoding="utf-8")
    assert "**A quick run**" in text and "45 runs of version" in text
    number = Field.load(small).estimates["wired", "use, %", "bbr"]
    row = next(
        line for line in text.splitlines() if line.startswith("| [`bbr`](algorithms/bbr.md)")
    )
    assert summary.interval(number, 1) in row
    assert "| `reno` |" in text, "what has no page is no link"
    images = sorted(path.name for path in (tmp_path / "images" / "field").iterdir())
    assert images == ["alone.png", "losses.png", "verdicts.png"]
    assert all(f"(images/field/{name})" in text for name in images)
    field_page.main(small, page)
    assert page.read_text(encoding="utf-8") == text
    with pytest.raises(SystemExit, match="make field"):
        field_page.main(tmp_path, page)


def test_the_page_in_the_documents_has_every_algorithm() -> None:
    text = (ROOT / "docs" / "field.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| \[`(\S+)`\]\(algorithms/", text, re.MULTILINE))
    known = set(running.built_in_windows())
    assert len(rows) >= 27 and rows <= known
    assert all((ROOT / "docs" / "algorithms" / field_page.page_of(name)).exists() for name in known)
    assert "**A quick run**" not in text
    assert all(f"<summary>{check.name}: " in text for check in FIELD)


def test_the_model_of_bbr_beside_others() -> None:
    """Three quarters in a buffer of 2 BDP of many packets, half of the link in the limit."""
    assert field_page.model(2, bdp=1e9) == pytest.approx(0.75)
    assert field_page.model(1000) == pytest.approx(0.5, abs=1e-3)


def test_the_command_writes_table_figures_and_progress(
    anabranch: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that docs/evaluate.md shows, started twice."""
    page = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^```sh\nanabranch (.*)\n```", page, re.MULTILINE)
    arguments = [*shlex.split(line), "--jobs", "2"]
    monkeypatch.chdir(ROOT)
    done = anabranch(*arguments, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    found = Field.load(tmp_path)
    assert found.algorithms == ["reno", "cubic", "Greedy", "bbr"]
    takes = {
        each: Beside.of(summary.shares(found, "reno", each)[4.0]) for each in ("Greedy", "bbr")
    }
    assert takes["Greedy"] is Beside.STARVES and takes["bbr"] is not Beside.STARVES
    rows = [line.split() for line in done.stdout.splitlines()]
    assert any(row[:1] == ["Greedy"] for row in rows) and "8 of 8 looks" in done.stderr
    assert "Who starves Reno (one flow beside one takes" in done.stdout
    written = {path.name for path in tmp_path.iterdir()}
    assert {"field.csv", "field.json", "shares.svg", "shares.png", "alone.svg"} <= written
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cards").iterdir()}
    assert anabranch(*arguments, "--out", tmp_path).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cards").iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "field `ALGORITHM`: value `(missing)`: allowed: an algorithm, such as cubic"),
        (["--all", "--check", "lss"], "did you mean `loss`?"),
        (["--all", "cubik"], "value `cubik`"),
        (["--all", "mine.py:Aimd"], "there is no mine.py"),
        (["reno", "bbr", "--label", "x"], "field `--label`: value `x`: allowed: with one ALGO"),
        (["--all", "--against", "bbr"], "field `--against`: value `bbr`: allowed: with one ALGO"),
        (["--all", "--jobs", "0"], "--jobs"),
        (["bbr", "--first-look"], "field `--first-look`: value `given`: allowed: with several"),
    ],
)
def test_wrong_input_is_told_before_anything_runs(
    forked: Command, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    done = forked("evaluate", *arguments, "--quick", "--out", tmp_path / "out")
    assert done.returncode == 2 and expected in done.stderr, done.stderr
    assert not (tmp_path / "out" / "cards").exists()


def test_every_check_of_the_field_is_on_the_page() -> None:
    page = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    for check in field_checks.CHECKS:
        for scenario in check.scenarios("reno", Scale(quick=True)):
            assert scenario.resolved() and not scenario.warnings()
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{check.name}` |")]
        for quantity in check.quantities:
            assert quantity.rule.text().replace(" of reno and cubic", "") in row, quantity.name
