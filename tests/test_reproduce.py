"""`anabranch reproduce`: from nothing to verdicts, and on after an interruption."""

from __future__ import annotations

import io
import json
import math
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
from rich.console import Console

from anabranch import studies, tables
from anabranch.commands import options
from anabranch.commands.reproduce import _verdicts
from anabranch.stats import Estimate
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Claim, Statement, near
from conftest import Command, Quick

STUDY = "sack-recovery"
VERDICTS = {"holds", "holds in part", "does not hold", "undecided"}
CLAIMS = [f"C{number}" for number in range(1, 9)] + [f"N{number}" for number in range(1, 11)]
FIGURES = ["fig4"] + [f"fig5{x}" for x in "abcd"] + ["fig6"] + [f"fig7{x}" for x in "abcdef"]


@pytest.fixture(scope="module")
def results(quick: Quick) -> Path:
    out = quick(STUDY)
    told = (out / "stdout").read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert claim in told
    return out


def test_the_summary_says_what_is_claimed() -> None:
    statement = Statement.of("rounds", Estimate(7.0, 6.9, 7.1, 3), near(6, 0.5))
    claim = Claim("C1", "It takes [six] rounds.", [statement], "", [statement])
    facts = ("a", "A study", "Somebody 2001", "Is it?", "")
    result = StudyResult(*facts, "quick", [claim], [], [], [], "")
    console = Console(file=io.StringIO(), width=80)
    console.print(_verdicts(result))
    assert console.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "A study",
        "Quick grid: it judges fewer conditions with fewer replications, so verdicts may ",
        "differ from the published ones (docs/studies.md).",
        "C1 does not hold: It takes [six] rounds.",
        "    rounds: 7.00 (6.90 to 7.10, n = 3), expected 6 ± 0.5",
        "    over our grid: does not hold",
    ]
    console = Console(file=io.StringIO(), width=80)
    console.print(_verdicts(replace(result, strength="full")))
    assert "Quick" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_no_line_is_cut_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """What is expected stands at the end of a line, however long the quantity's name is."""
    quantity = "rounds of " + "a very long name, " * 20
    statement = Statement.of(quantity, Estimate(7.0, 6.9, 7.1, 3), near(6, 0.5))
    claim = Claim("C1", "It takes six rounds.", [statement], "", [statement])
    result = StudyResult("a", "A study", "", "", "", "full", [claim], [], [], [], "")
    options.console().print(_verdicts(result))
    assert f"    {statement.text()}" in capsys.readouterr().out.splitlines()


def test_claims_with_their_columns(results: Path) -> None:
    claims = tables.read_csv(results / "claims.csv")
    assert tuple(claims[0])[: len(tables.CLAIM_COLUMNS)] == tables.CLAIM_COLUMNS
    assert [row["claim"] for row in claims] == CLAIMS
    for row in claims:
        assert row["study"] == STUDY
        assert row["verdict"] in VERDICTS
        assert float(row["ci_low"]) <= float(row["measured"]) <= float(row["ci_high"])
        assert int(row["n"]) > 0


def test_figures_stand_beside_their_data(results: Path) -> None:
    for stem in FIGURES:
        rows = tables.read_csv(results / STUDY / f"{stem}.csv")
        assert tuple(rows[0]) == tables.TIME_COLUMNS
        assert (results / STUDY / f"{stem}.svg").read_bytes().startswith(b"<?xml")
        assert (results / STUDY / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    for stem in ("lead_by_drops", "reordering_spurious", "fairness"):
        points = tables.read_csv(results / STUDY / f"{stem}.csv")
        assert tuple(points[0]) == tables.POINT_COLUMNS


def test_every_study_has_a_figure_beside_its_abstract() -> None:
    for name, study in studies.ALL.items():
        assert study.headline, name
        assert study.abstract, name


def test_figures_name_the_claims_that_they_show(results: Path) -> None:
    found = StudyResult.load(results / STUDY)
    assert found is not None
    claims = {claim.claim for claim in found.claims}
    for pattern, named in studies.ALL[STUDY].shows.items():
        mine = [each for each in found.figures if fnmatch(each.stem, pattern)]
        assert mine and all(set(named) <= set(each.claims) <= claims for each in mine), pattern


def test_the_report_holds_everything(results: Path) -> None:
    pages = {
        place: (place / "report.html").read_text("utf-8") for place in (results, results / STUDY)
    }
    for place, page in pages.items():
        assert 'src="' not in page
        assert "default-src 'none'" in page
        links = set(re.findall(r'href="([^"#]+)', page)) - {"data:,"}
        for link in links:
            assert (place / link).exists(), link
    assert f"{STUDY}/report.html" in links or {"scenario.toml", "example/capture.pcapng"} <= links
    assert pages[results / STUDY].count('<figure data-chart="') >= len(FIGURES)
    assert pages[results].count('<figure data-chart="') == 1
    example = (results / STUDY / "example" / "report.html").read_text(encoding="utf-8")
    assert "Time-sequence" in example
    assert json.loads((results / STUDY / "result.json").read_text())["strength"] == "quick"


def test_an_interrupted_run_continues(results: Path, anabranch: Command, tmp_path: Path) -> None:
    """Killed half way, what is finished is whole; the rerun ends with the same verdicts."""
    runs = tmp_path / STUDY / "runs"
    command = [sys.executable, "-m", "anabranch", "reproduce", STUDY, "--quick", "--jobs", "1"]
    with subprocess.Popen([*command, "--out", str(tmp_path)]) as process:
        deadline = time.monotonic() + 60
        while len(list(runs.glob("*.npz"))) < 5 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in runs.iterdir() if path.suffix != ".part"}
    assert 5 <= len(kept) < len(list((results / STUDY / "runs").glob("*.npz")))
    assert not (tmp_path / "claims.csv").exists()
    # Most of what is missing is there already, computed from nothing; some is computed here.
    missing = sorted(
        path for path in (results / STUDY / "runs").iterdir() if runs / path.name not in kept
    )
    for path in missing[len(missing) // 10 :]:
        shutil.copy2(path, runs / path.name)
    result = anabranch("reproduce", STUDY, "--quick", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    for name in ("claims.csv", f"{STUDY}/fig6.csv", f"{STUDY}/fig6.svg"):
        assert (tmp_path / name).read_bytes() == (results / name).read_bytes()


def test_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anabranch", "reproduce", STUDY, "--jobs", "1"]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.rglob("*.npz")) and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        message = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    first, last = filter(None, message.splitlines())
    assert re.fullmatch(rf"{STUDY}: about \d+ s to go", first)
    assert last == "anabranch: interrupted; what is finished is in its folder"


@pytest.mark.parametrize("name", [STUDY, "sctp-slow-start"])
def test_an_abstract_is_filled_from_the_claims(name: str, quick: Quick) -> None:
    """A quick run keeps none, but these studies' small grids have all of its numbers."""
    found = StudyResult.load(quick(name) / name)
    assert found is not None
    assert found.abstract == ""
    told = studies.ALL[name].told(found.claims)
    assert "{" not in told
    assert len(re.findall(r"[.](?: |$)", told)) >= 5
    number = f"{found.claims[0].statements[0].measured.mean:.0%}"
    assert name != "sctp-slow-start" or number in told


def test_closed_forms_hold(quick: Quick) -> None:
    name = "response-functions"
    results = quick(name)
    verdicts = {row["claim"]: row["verdict"] for row in tables.read_csv(results / "claims.csv")}
    for exact in ("T4", "T6", "T7", "T11", "buffer"):
        assert verdicts[exact] == "holds", verdicts
    measures = tables.read_csv(results / name / "measures.csv")
    quantity = "average window divided by Mathis's formula with recovery at"
    corrected = [row for row in measures if row["quantity"].startswith(quantity)]
    assert corrected
    for row in corrected:
        if not row["quantity"].endswith("0.01"):
            assert abs(float(row["measured"]) - 1) < 0.02
    assert (results / name / "window_by_periodic_loss.png").stat().st_size


def test_slow_start_follows_its_closed_form(quick: Quick) -> None:
    name = "sctp-slow-start"
    results = quick(name)
    verdicts = {row["claim"]: row["verdict"] for row in tables.read_csv(results / "claims.csv")}
    assert verdicts["model"] == "holds", verdicts
    cells = tables.read_csv(results / name / "cells.csv")
    assert len(cells) == 9 * 2 * 12, "nothing is lost"
    # RFC 4960 §7.2.1, RFC 2581 §3.1, RFC 6928 §2; three packets of 4 kB fill no window of ten.
    opened = tables.read_csv(results / name / "window_by_size.csv")
    found = {(row["series"], row["x"]): float(row["mean"]) for row in opened}
    assert {sender: found[sender, "128"] for sender, _ in found} == {
        "sctp-rfc4960": 3,
        "sctp-rfc9260": 3,
        "tcp-rfc2581": 2,
        "tcp-rfc6928": 10,
    }
    assert found["tcp-rfc6928", "4"] == math.ceil(4000 / 1460)
    # A mean time by the rate is that of the cells, less the handshake: two RTTs of SCTP.
    chosen = [
        float(row["seconds"]) - 2 * float(row["rtt_ms"]) / 1000
        for row in cells
        if (row["sender"], row["delayed_acks"], row["rate_mbps"]) == ("sctp-rfc4960", "0", "10")
    ]
    drawn = tables.read_csv(results / name / "time_by_rate.csv")
    (point,) = [
        row
        for row in drawn
        if (row["series"], row["x"]) == ("sctp-rfc4960, an ACK for each packet", "10")
    ]
    assert len(chosen) == int(point["n"]) == 6
    assert float(point["mean"]) == pytest.approx(sum(chosen) / 6)
    for stem in ("time_by_rate", "time_by_rtt", "time_by_window", "window_by_size"):
        assert (results / name / f"{stem}.png").stat().st_size
    # Without delayed ACKs there is nothing that the model does not know.
    prompt = [abs(float(row["model_error"])) for row in cells if row["delayed_acks"] == "0"]
    assert max(prompt) < 0.03
