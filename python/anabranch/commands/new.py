"""`anabranch new`: folders to begin with."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from anabranch.commands.options import PATH


@click.group()
def new() -> None:
    """Writes a folder to begin with."""


@new.command()
@click.argument("name")
@click.option(
    "--out",
    type=PATH,
    metavar="DIR",
    show_default="NAME",
    help="The folder to write; it must be new or empty.",
)
def algorithm(name: str, out: Path | None) -> None:
    """A window algorithm in Rust, called NAME: law, tests, scenario.

    The folder builds with `cargo build --release`, without a network, and scenarios name the
    library that it makes as their window algorithm.
    """
    plugin = importlib.import_module("anabranch.algorithms.plugin")
    folder = plugin.write(name, out or Path(name))
    click.echo(f"{folder}: the law is in src/lib.rs, README.md says how to go on")
    click.echo(f"  cargo build --release --manifest-path {folder / 'Cargo.toml'}")
    click.echo(f"  anabranch run {folder / 'scenario.toml'}")
    cargo = importlib.import_module("anabranch.cargo")
    if outer := cargo.taken_in(folder):
        inside = folder.absolute().relative_to(outer.parent).as_posix()
        says = f'exclude = ["{inside}"]'
        click.echo(
            f"{outer} takes the folder for a member of its workspace, and cargo refuses that of a"
            f" folder with a workspace of its own: put `{says}` into its [workspace]",
            err=True,
        )
