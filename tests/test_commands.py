"""The commands as a whole: the help, names that are none, the page that lists them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from anabranch.cli import COMMANDS, command

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"


def test_the_help_has_whole_sentences() -> None:
    shown = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    for name, entry in COMMANDS.items():
        assert f"{name} {entry.summary}" in shown


def test_the_help_imports_no_command() -> None:
    program = (
        "import sys, anabranch.cli\n"
        "try: anabranch.cli.command(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = ('numpy', 'polars', 'matplotlib', 'anabranch.studies', 'anabranch.commands')\n"
        "print('imported:', [name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("imported: []\n")


@pytest.mark.parametrize("name", ["run", "view"])
def test_a_commands_help_waits_for_no_library(name: str) -> None:
    """SciPy, pandas and matplotlib take a second: what needs them imports them then."""
    program = (
        "import sys, anabranch.cli\n"
        f"try: anabranch.cli.command(['{name}', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = ('scipy', 'pandas', 'matplotlib', 'plotnine', 'jinja2', 'anabranch.studies')\n"
        "print('imported:', [name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("imported: []\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_own_help_and_its_row(name: str) -> None:
    found = CliRunner().invoke(command, [name, "--help"])
    assert found.exit_code == 0
    assert f"| `anabranch {name}" in PAGE.read_text()


@pytest.mark.parametrize(("typed", "meant"), [("reproduec", "reproduce"), ("swep", "sweep")])
def test_the_nearest_command_is_told(typed: str, meant: str) -> None:
    found = CliRunner().invoke(command, [typed])
    assert found.exit_code == 2
    assert f"did you mean '{meant}'?" in found.output


def test_what_is_near_nothing_is_refused_as_ever() -> None:
    found = CliRunner().invoke(command, ["colour"])
    assert found.exit_code == 2
    assert "No such command 'colour'" in found.output
