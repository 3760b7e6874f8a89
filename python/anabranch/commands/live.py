"""`anabranch live`: one scenario in real time, between network namespaces."""

from __future__ import annotations

import contextlib
import json
import shlex
from pathlib import Path

import click

from anabranch import measured, report, tables
from anabranch.commands.namespace import become_root_of_a_namespace
from anabranch.commands.options import (
    PATH,
    capture_options,
    checked,
    console,
    explore_option,
    seed_option,
    set_option,
)
from anabranch.commands.run import print_flows
from anabranch.errors import InputError, RunError
from anabranch.experiment import LiveResult
from anabranch.files import output_directory, replacing, write_text
from anabranch.library import load
from anabranch.rows import Port, Program, plain

TAIL = 12
"""Lines of a program's output that are shown at the end."""


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("scenario", type=PATH, metavar="SCENARIO.toml")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@seed_option
@set_option
@click.option(
    "--exec",
    "programs",
    multiple=True,
    metavar="HOST='COMMAND'",
    help="Runs a program on an external host instead of our sender or receiver; {HOST} in it"
    " stands for a host's address; may be repeated.",
)
@capture_options
@explore_option
@click.option(
    "--out",
    type=PATH,
    default=Path("results/live"),
    show_default=True,
    metavar="DIR",
    help="Where the results go.",
)
def live(
    *,
    scenario: Path,
    command: tuple[str, ...],
    seed: int | None,
    assignments: tuple[str, ...],
    programs: tuple[str, ...],
    pcap: bool,
    explore: bool,
    places: tuple[str, ...],
    pcap_side: str,
    snaplen: int | None,
    out: Path,
) -> None:
    """Runs one scenario in real time.

    Hosts with `external = true` become network namespaces; flows that end there are the
    kernel's own TCP. COMMAND runs on the first of them, with the terminal: `-- bash` is a
    shell in the host. Needs root, or a kernel that gives users their own namespaces.
    """
    experiment = load(scenario).set(*assignments)
    pairs = [_pair(text) for text in programs]
    for warning in experiment.warnings():
        click.echo(f"{scenario}: warning: {warning}", err=True)
    become_root_of_a_namespace()
    if explore:
        experiment = experiment.explored()
    directory = output_directory(out)
    for host, _ in pairs:
        (directory / f"{tables.file_name(host)}.log").unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        wanted = pcap or places
        file = stack.enter_context(replacing(directory / "capture.pcapng")) if wanted else None
        result = experiment.live(
            seed=seed,
            pcap=file,
            capture=places,
            capture_end=pcap_side,
            snaplen=snaplen,
            programs=pairs,
            logs=directory,
            command=shlex.join(command) if command else None,
        )
    tables.write_run(directory, result.run)
    facts = {**result.run.run, "live": result.facts}
    write_text(directory / "run.json", json.dumps(facts, indent=2, default=plain) + "\n")
    report.write_run_report(directory, experiment.file, result.run, result.facts)
    _print(result, directory)
    result.raise_interrupt()
    if failed := [told for program in result.facts.programs if (told := _failure(program))]:
        raise RunError("; ".join(failed))


def _failure(program: Program) -> str | None:
    """What is wrong with how a program ended; `None` where nothing is, or the run ended it."""
    where = f"the program `{program.command}` of {program.host}"
    if program.failure:
        return f"{where} could not be started: {program.failure}"
    return f"{where} ended with {program.status}" if program.status else None


def _pair(text: str) -> tuple[str, str]:
    host, _, command = checked(text, "--exec", "HOST='COMMAND'").partition("=")
    if not command.strip():
        raise InputError.about("command line", "--exec", text, "HOST='COMMAND'")
    return host.strip(), command


def _print(result: LiveResult, directory: Path) -> None:
    terminal = console()
    for program in result.facts.programs:
        _print_program(program, directory)
    print_flows(terminal, result.run.flows, directory)
    for table in measured.tables(result.run):
        terminal.print(table)
    late = result.facts.lateness
    times = ", ".join(
        f"{name} {seconds * 1e6:.0f} us"
        for name, seconds in (
            ("median", late.median_s),
            ("p99", late.p99_s),
            ("p99.9", late.p999_s),
            ("max", late.max_s),
        )
    )
    terminal.print(f"{late.packets} packets left late by {times} ({result.facts.scheduling})")
    for port in result.facts.ports:
        if told := _port(port):
            terminal.print(f"{port.name}: {told}")
    for doubt in result.facts.doubts:
        click.echo(f"doubtful: {doubt}", err=True)
    terminal.print(f"results in {directory}")


def _port(port: Port) -> str:
    """What a port lost, and why; nothing when it lost nothing."""
    parts = []
    lost = (
        ("ignored", port.ignored, port.first_ignored),
        ("refused", port.refused, port.first_refused),
    )
    for how, count, why in lost:
        if count:
            first = f" (first: {why})" if why else ""
            parts.append(f"{count} packets {how}{first}")
    if port.overrun:
        parts.append(f"{port.overrun} packets lost in the full queue of the device")
    return ", ".join(parts)


def _print_program(program: Program, directory: Path) -> None:
    """The last lines of what a program wrote."""
    log = directory / f"{program.host}.log"
    if log.is_file():
        text = log.read_text(encoding="utf-8", errors="replace").rstrip()
        for line in text.splitlines()[-TAIL:]:
            click.echo(f"{program.host}: {line}")
