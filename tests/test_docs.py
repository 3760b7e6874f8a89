"""What the documents show is run as they show it."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import readme
import studies_page
import validation_page
from anabranch import Scenario, studies
from conftest import Command, Quick

ROOT = Path(__file__).parents[1]
OVERVIEW = ROOT / "docs" / "overview.md"
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "python").rglob("README.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document: Path, language: str) -> list[str]:
    text = document.read_text(encoding="utf-8")
    return [body for kind, body in BLOCK.findall(text) if kind == language]


def commands() -> list[str]:
    lines = [line for body in blocks(OVERVIEW, "sh") for line in body.splitlines()]
    told = [line.split("#")[0].strip() for line in lines if line.startswith("anabranch")]
    return [line for line in told if not line.startswith("anabranch view")]  # opens a browser


def test_the_scenario_of_the_overview_is_the_example() -> None:
    (scenario,) = blocks(OVERVIEW, "toml")
    example = ROOT / scenario.splitlines()[0].removeprefix("# ")
    assert tomllib.loads(scenario) == tomllib.loads(example.read_text(encoding="utf-8"))


def test_the_readme_fits_one_screen() -> None:
    """Its commands are few, and those that CI begins with are among them."""
    lines = readme.README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    commands = [line for body in blocks(readme.README, "sh") for line in body.splitlines()]
    assert [line.split("#")[0].split() for line in commands] == [
        ["pip", "install", "anabranch-*.whl"],
        ["anabranch", "play"],
        ["anabranch", "reproduce"],
        ["make", "reproduce"],
        ["make", "test"],
    ]


def test_the_overview_counts_claims_as_the_page_of_studies_does() -> None:
    text, page = (path.read_text(encoding="utf-8") for path in (readme.OVERVIEW, readme.STUDIES))
    assert readme.with_studies(text, page) == text, "the page has changed: run `make studies`"
    counts = readme.claims(page)
    assert {row[1] for row in readme.STUDY.findall(text)} == counts.keys()
    assert all(sum(each.values()) >= 2 for each in counts.values())
    assert readme.with_studies(text, page.replace("| holds |", "| undecided |")) != text
    assert doctest.testmod(readme).failed == 0


def test_the_page_of_studies_is_made_of_its_sections() -> None:
    page = readme.STUDIES.read_text(encoding="utf-8")
    parts = studies_page.sections(page)
    assert parts.keys() == studies.ALL.keys()
    assert "\n".join([studies_page.HEAD, *parts.values()]) == page
    assert doctest.testmod(studies_page).failed == 0


def test_marks_of_some_tests_take_their_lines_of_the_page(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert validation_page.page(validation_page.written(text)) == text
    marks = tmp_path / "marks.tsv"
    old = "| scalable: average window, p = 1e-3 | 74.9 | 75.0 | 1 % | test |\n"
    for quantity, line in [
        ("scalable: average window, p = 1e-3", old.replace("75.0", "75.1")),
        ("scalable: another", "| scalable: another | 74.9 | 75.1 | 1 % | test |\n" + old),
    ]:
        marks.write_text(f"T7\t{quantity}\t74.9\t75.1\t1 %\n", encoding="utf-8")
        assert validation_page.with_marks(text, marks) == text.replace(old, line)


def test_whole_scenarios_in_documents_run() -> None:
    whole = [
        body
        for document in DOCUMENTS
        for body in blocks(document, "toml")
        if "hosts" in body and "[[flows]]" in body
        if "coming-from" not in document.parts  # tests/test_coming_from.py has what these need
    ]
    assert len(whole) >= 2
    for body in whole:
        assert Scenario(body).run().flows


def test_programs_in_documents_run(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    programs = [
        body
        for document in DOCUMENTS
        for body in blocks(document, "python")
        if any(part in body for part in ("Network(", "Sweep(", "library.", "paper.save("))
    ]
    assert len(programs) >= 3
    for body in programs:
        command = [sys.executable, "-W", "error", "-c", body]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", commands())
def test_commands_of_the_overview(
    anabranch: Command, quick: Quick, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, command, *arguments = shlex.split(line)
    if command == "reproduce":
        # Runs that another test has computed from nothing are not computed again.
        study = arguments[0]
        runs = quick(study) / study / "runs"
        shutil.copytree(runs, tmp_path / "results" / study / "runs")
    for folder in ("examples", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for body in blocks(OVERVIEW, "python"):
        if name := re.match(r"# (\S+\.py)\n", body):
            (tmp_path / name[1]).write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = anabranch(command, *arguments)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("page", "outputs", "figure"),
    [("howto/failover.md", 5, "failover.pdf"), ("tutorial.md", 3, "first.pdf")],
)
def test_a_page_shows_what_its_programs_print(
    page: str, outputs: int, figure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the page: a block of text is the output of the program or command before."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("BROWSER", "true")  # which `view` would open
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    printed, compared = "", 0
    for kind, body in BLOCK.findall(text):
        if kind == "text":
            assert _without_ends(body) == _without_ends(printed)
            compared += 1
            continue
        command = ["sh", "-e", "-c", body]
        if name := re.match(r"# (\S+\.(?:py|toml))\n", body):
            (tmp_path / name[1]).write_text(body, encoding="utf-8")
        if kind == "toml":
            continue
        if kind == "python":
            command = [sys.executable, "-W", "error", "-c", body]
            if "sys.argv" in body:  # the commands below give it its arguments
                continue
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{body}: {done.stderr}"
        printed = done.stdout
    assert compared == outputs
    assert (tmp_path / figure).read_bytes().startswith(b"%PDF")


def test_defaults_of_the_page_of_failover_are_told_where_they_stand() -> None:
    """A row of a standard that is named exists, and one of them has the test that is named."""
    text = (ROOT / "docs/howto/failover.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if "](../standards/" in line]
    assert len(rows) == 11
    for *_, places, test in rows:
        found = ""
        for cell, standard in re.findall(r"\[([^]]+)\]\(\.\./standards/(\w+\.md)", places):
            table = (ROOT / "docs/standards" / standard).read_text(encoding="utf-8")
            for part in cell.split("; "):
                section, numbers = part.removeprefix("§").split(": ")
                below = table.split(f"\n## {section}\n")[1].split("\n## ")[0]
                for number in re.findall(r"\d+", numbers):
                    (row,) = (
                        each for each in below.splitlines() if each.startswith(f"| {number} |")
                    )
                    found += row
        assert (name := re.search(r"`(\w+)`", test)) and f"`{name[1]}`" in found, (places, test)


def _without_ends(text: str) -> list[str]:
    """The lines without blanks at their ends, which tables have."""
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.needs("cargo")
def test_the_rust_example_stands_outside_of_the_workspace(tmp_path: Path) -> None:
    """With the manifest of the page: cargo finds every crate, and the example uses no other."""
    (manifest,) = blocks(ROOT / "docs" / "your-algorithm.md", "toml")
    package = tmp_path / "my-controller"
    shutil.copytree(ROOT / "examples" / "rust-controller" / "src", package / "src")
    (package / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (tmp_path / "anabranch").symlink_to(ROOT)
    shutil.copy(ROOT / "Cargo.lock", package / "Cargo.lock")  # versions that are there
    command = ["cargo", "metadata", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (mine,) = (
        each for each in json.loads(done.stdout)["packages"] if each["name"] == "my-controller"
    )
    named = {each["name"].replace("-", "_") for each in mine["dependencies"]}
    sources = "".join(path.read_text(encoding="utf-8") for path in package.glob("src/*.rs"))
    assert set(re.findall(r"\buse (anabranch_\w+)", sources)) <= named


def test_the_page_of_crates_has_those_that_are_published() -> None:
    """Each once, with the description that a registry shows."""
    page = (ROOT / "docs" / "reference" / "crates.md").read_text(encoding="utf-8")
    texts = [path.read_text("utf-8") for path in ROOT.glob("crates/*/Cargo.toml")]
    manifests = map(tomllib.loads, texts)
    packages = [each["package"] for each in manifests if each["package"].get("publish", True)]
    rows = re.findall(r"^\| \[([\w-]+)\]\(\.\./\.\./crates/(\w+)\) \| (.+) \|$", page, re.MULTILINE)
    assert sorted((name, what) for name, _, what in rows) == sorted(
        (each["name"], each["description"]) for each in packages
    )
    assert all(name == f"anabranch-{folder}" for name, folder, _ in rows)


@pytest.mark.parametrize("is_written", [True, False])
def test_links_to_crates_lead_to_their_pages(
    is_written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rustdoc has written them; else they are texts, and the hook says what is missing."""
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    names = [path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")]
    for name in names if is_written else set(names) - {"wire"}:
        place = tmp_path / "doc" / f"anabranch_{name}" / "index.html"
        place.parent.mkdir(parents=True)
        place.write_text("<title>a crate</title>", encoding="utf-8")
    docs, site = tmp_path / "docs", tmp_path / "site"
    (docs / "reference").mkdir(parents=True)
    text = "# Crates\n\n[the engine](../../crates/tcp), [examples](../../crates/tcp/examples)\n"
    (docs / "reference" / "crates.md").write_text(text, encoding="utf-8")
    config = tmp_path / "mkdocs.yml"
    hook = ROOT / "docs" / "site" / "hooks.py"
    settings = f"site_name: A\nhooks: [{hook}]\ndocs_dir: {docs}\nsite_dir: {site}\nplugins: []\n"
    config.write_text(f"{settings}use_directory_urls: false\n", encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (site / "reference" / "crates.html").read_text(encoding="utf-8")
    link = "../api/anabranch_tcp/index.html"
    assert (f'<a href="{link}">the engine</a>' in page) is is_written
    assert ("no pages of the crates" in done.stderr) is not is_written
    assert (site / "reference" / link).is_file() is is_written


def test_links_between_documents_lead_somewhere() -> None:
    link = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"")
    for document in [*DOCUMENTS, ROOT / "ARCHITECTURE.md"]:
        for match in link.finditer(document.read_text(encoding="utf-8")):
            target = document.parent / (match[1] or match[2])
            assert target.exists(), f"{document.name}: {target}"
