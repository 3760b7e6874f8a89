"""The pages for those who come from other tools: every file and command of ours on them runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "coming-from").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:#|//) (\S+)\n")
OURS = ("toml", "python", "text")
"""Languages of blocks that are files, by the name in their first line."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_snippet_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the page, in one folder: files are written, programs and commands run."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("BROWSER", "true")  # which `view` would open
    ran = 0
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        found = NAME.match(body)
        name = found[1] if found else ""
        if kind in OURS:
            assert name, f"{page.name}: a block without the name of its file:\n{body}"
            (tmp_path / name).write_text(body, encoding="utf-8")
        if kind == "toml" and not _is_run_below(page, body):
            ran += _runs(
                [sys.executable, "-m", "anabranch", "run", name, "--out", "alone"], tmp_path
            )
        elif kind == "python":
            ran += _runs([sys.executable, "-W", "error", name], tmp_path)
        elif kind == "sh":
            ran += _runs(["sh", "-e", "-c", body], tmp_path)
    assert ran >= 1


def _is_run_below(page: Path, body: str) -> bool:
    """A command of the page runs the file."""
    name = NAME.match(body)
    commands = "\n".join(
        block for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == "sh"
    )
    return name is not None and name[1] in commands


def _runs(command: list[str], folder: Path) -> bool:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return True


def test_every_page_is_in_the_index_and_says_what_is_lacking() -> None:
    index = (ROOT / "docs" / "coming-from" / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        if page.stem != "README":
            assert f"]({page.name})" in index
            assert "\n## What we have not\n" in page.read_text(encoding="utf-8")
