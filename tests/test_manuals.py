"""Manual pages and completions that the wheel installs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import manuals
from anabranch.cli import command


def test_manual_pages_are_those_of_the_command_line() -> None:
    pages = manuals.pages()
    assert len(pages) > 20
    there = {path.relative_to(manuals.SHARE).as_posix() for path in manuals.SHARE.rglob("*.1")}
    assert there == pages.keys(), "run `make manuals`"
    for place, text in pages.items():
        written = (manuals.SHARE / place).read_text(encoding="utf-8")
        assert written == text, f"{place} has changed: run `make manuals`"


def test_every_option_says_what_it_is() -> None:
    for context in manuals.contexts(click.Context(command, info_name="anabranch")):
        for each in context.command.params:
            if isinstance(each, click.Option):
                assert each.help, f"{context.command_path}: {each.opts}"


def test_a_page_escapes_what_troff_would_read() -> None:
    assert manuals.escaped(".toml and --set 'a\\b'") == "\\&.toml and \\-\\-set 'a\\eb'"


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    "words", [("anabranch", "ru"), ("anabranch", "run", "--pc"), ("anabranch", "kernel", "st")]
)
def test_bash_completes_commands_and_options(words: tuple[str, ...], tmp_path: Path) -> None:
    """With the script that the wheel installs."""
    program = tmp_path / "anabranch"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{START}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    listed = " ".join(words)
    script = f"""
        complete() {{ :; }}
        source {manuals.SHARE / manuals.SCRIPTS["bash"]}
        COMP_WORDS=({listed}) COMP_CWORD={len(words) - 1} COMPREPLY=()
        _anabranch_completion anabranch
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    expected = {"ru": ["run"], "--pc": ["--pcap", "--pcap-side"], "st": ["status"]}
    assert done.stdout.split() == expected[words[-1]], done.stderr


START = "import sys; sys.argv[0] = 'anabranch'; from anabranch.cli import main; main()"


def test_zsh_and_fish_find_their_scripts() -> None:
    zsh, fish = (
        (manuals.SHARE / manuals.SCRIPTS[shell]).read_text(encoding="utf-8")
        for shell in ("zsh", "fish")
    )
    assert zsh.startswith("#compdef anabranch\n")
    assert "--command anabranch" in fish
    assert manuals.completions().keys() == set(manuals.SCRIPTS.values())
