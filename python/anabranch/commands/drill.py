"""`anabranch drill`: packetdrill scripts against our stacks, the kernel or usrsctp."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import click

from anabranch.commands.namespace import become_root_of_a_namespace
from anabranch.commands.options import PATH, console, jobs_option
from anabranch.errors import InputError, RunError
from anabranch.experiment import drill as run_scripts
from anabranch.files import output_directory, write_text
from anabranch.native import interruptible
from anabranch.rows import Script

BAD = ("failed", "unreadable")


@click.command()
@click.argument("scripts", nargs=-1, required=True, type=PATH, metavar="SCRIPT.pkt...")
@click.option(
    "--against",
    type=click.Choice(["ours", "kernel", "usrsctp"]),
    default="ours",
    show_default=True,
    help="ours: our stacks, in virtual time. kernel: the TCP of the running kernel, in real time "
    "and in namespaces of its own; needs root, or a kernel that gives users their own. usrsctp: "
    "the SCTP of that library, in virtual time; needs libusrsctp-dev and a C compiler.",
)
@click.option(
    "--ip-version",
    type=click.Choice(["ipv4", "ipv6", "ipv4-mapped-ipv6"]),
    default="ipv4",
    show_default=True,
    help="Sockets and packets of scripts that do not say.",
)
@click.option(
    "--profile",
    type=click.Choice(["auto", "linux", "rfc", "freebsd"]),
    default="auto",
    show_default=True,
    help="Defaults of the stack; also the symbol that #ifdef tests. auto: freebsd for SCTP, "
    "linux for all others, and the other one for a script that has variants and fails.",
)
@click.option(
    "-D",
    "--define",
    "definitions",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Defines a symbol of the scripts; may be repeated.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A sysctl before the scripts' own, e.g. net.ipv4.tcp_ecn=1; may be repeated.",
)
@click.option("--pcap", type=PATH, metavar="DIR", help="Write each script's packets as pcapng.")
@click.option("--junit", type=PATH, metavar="FILE", help="Write the verdicts as JUnit XML.")
@click.option("--quiet", is_flag=True, help="Tell failures and the counts alone.")
@jobs_option
def drill(
    *,
    scripts: tuple[Path, ...],
    against: str,
    ip_version: str,
    profile: str,
    definitions: tuple[str, ...],
    assignments: tuple[str, ...],
    pcap: Path | None,
    junit: Path | None,
    quiet: bool,
    jobs: int,
) -> None:
    """Runs packetdrill scripts against our TCP and SCTP, or other stacks, and tells which pass.

    SCRIPT may also be a folder, or an index of suites. The exit status is 1 if any failed.
    """
    if against == "kernel":
        become_root_of_a_namespace()
        profile = "linux"
    folder = output_directory(pcap) if pcap is not None else None
    if junit is not None:
        output_directory(junit.parent)
    symbols = [_pair(text, "--define", required=False) for text in definitions]
    settings = [_pair(text, "--set", required=True) for text in assignments]
    begun = time.perf_counter()
    results = interruptible(
        lambda: run_scripts(
            scripts,
            profile=profile,
            definitions=symbols,
            settings=settings,
            jobs=jobs,
            traces=folder,
            against=against,
            ip_version=ip_version,
        )
    )
    elapsed = time.perf_counter() - begun
    terminal = console()
    for result in results:
        if result.verdict in BAD or not quiet:
            terminal.print(result.report, markup=False)
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _ORDER if counts[verdict])
    count = f"{len(results)} script{'' if len(results) == 1 else 's'}"
    terminal.print(f"{count} in {elapsed:.2f} s: {told}")
    if junit is not None:
        write_text(junit, _junit(results))
    bad = sum(counts[verdict] for verdict in BAD)
    if bad:
        raise RunError(f"{bad} of {count} failed")


_ORDER = ("passed", "failed", "unreadable", "not applicable")


def _pair(text: str, option: str, required: bool) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or (required and not equals):
        allowed = "NAME=VALUE" if required else "NAME or NAME=VALUE"
        raise InputError.about("command line", option, text, allowed)
    return name.strip(), value


def _junit(results: list[Script]) -> str:
    """The verdicts as continuous integration reads them."""
    counts = Counter(result.verdict for result in results)
    suite = ET.Element(
        "testsuite",
        name="packetdrill",
        tests=str(len(results)),
        failures=str(counts["failed"]),
        errors=str(counts["unreadable"]),
        skipped=str(counts["not applicable"]),
    )
    for result in results:
        classname = ".".join(part for part in (result.suite, result.category) if part)
        case = ET.SubElement(suite, "testcase", name=result.script, classname=classname)
        if (kind := _KINDS.get(result.verdict)) is not None:
            report = result.report
            ET.SubElement(case, kind, message=report.splitlines()[0]).text = report
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


_KINDS = {"failed": "failure", "unreadable": "error", "not applicable": "skipped"}
