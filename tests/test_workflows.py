"""The hosted workflows: by the schema of their language, and by what of this project they name.

The schema is the one that check-jsonschema carries. `actionlint`, which knows expressions too, runs
in the workflow `ci` itself: its package for Python fetches a program at installation.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def judged(path: Path) -> subprocess.CompletedProcess[str]:
    """What the schema says of a workflow."""
    command = [sys.executable, "-m", "check_jsonschema"]
    options = ["--builtin-schema", "vendor.github-workflows", str(path)]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


def workflow(path: Path) -> dict[Any, Any]:
    """A workflow; its key `on` is a truth value to YAML."""
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps(path: Path) -> list[str]:
    """The commands of all jobs."""
    jobs = workflow(path)["jobs"].values()
    return [step["run"] for job in jobs for step in job.get("steps", ()) if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_keeps_to_its_schema(path: Path, tmp_path: Path) -> None:
    done = judged(path)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / path.name
    text = path.read_text(encoding="utf-8").replace("runs-on:", "run-on:", 1)
    broken.write_text(text, encoding="utf-8")
    assert judged(broken).returncode == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_names_is_there(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    commands = steps(path)
    assert commands
    for command in commands:
        for target in re.findall(r"\bmake ([\w-]+)", command):
            assert target in targets, command
        for file in re.findall(r"(?<!\S)((?:\.ci|packaging|tests|examples)/[\w./-]+)", command):
            assert (ROOT / file).is_file(), command


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_wait_for_jobs_that_are_there_and_end(path: Path) -> None:
    jobs = workflow(path)["jobs"]
    for name, job in jobs.items():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= jobs.keys(), name
        assert "timeout-minutes" in job or "uses" in job, f"{name} has no bound of time"


def test_only_a_tag_publishes() -> None:
    """Whatever may write anywhere waits for `attest`, which runs for tags alone."""
    jobs = workflow(ROOT / ".github" / "workflows" / "release.yml")["jobs"]

    def waits(name: str) -> bool:
        needed = jobs[name].get("needs", [])
        names = [needed] if isinstance(needed, str) else needed
        return name == "attest" or any(waits(each) for each in names)

    assert jobs["attest"]["if"] == "github.ref_type == 'tag'"
    writers = {name for name, job in jobs.items() if "write" in job.get("permissions", {}).values()}
    assert {"pypi", "crates", "pages", "files"} <= writers
    assert all(map(waits, writers))
