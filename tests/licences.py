"""Whether dependencies of the Rust workspaces keep to `deny.toml`: licences and sources.

    python tests/licences.py        what does not, of every workspace; nothing if all do

`cargo deny` (`make deny`) reads the same file and checks more. This needs `cargo` alone and takes a
second, so that every run of the tests has it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WORKSPACES = (".", "fuzz", "bench/tcp-peers")
"""Those of which all sources can be had; bench/sctp-peers fetches what it compares."""
TESTED = WORKSPACES[:2]
"""Those whose packages are here anyway once the tests have been built."""
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
TOKEN = re.compile(r"[()/]|[A-Za-z0-9.+-]+")


@dataclass(frozen=True)
class Rules:
    """What `deny.toml` allows."""

    allow: frozenset[str]
    """Licences of SPDX, `ID` or `ID WITH EXCEPTION`."""
    exceptions: dict[str, frozenset[str]] = field(default_factory=dict)
    """Further ones of single packages."""

    @classmethod
    def read(cls, file: Path) -> Rules:
        """Those of a file."""
        licences = tomllib.loads(file.read_text(encoding="utf-8"))["licenses"]
        exceptions = {
            each["crate"]: frozenset(each["allow"]) for each in licences.get("exceptions", [])
        }
        return cls(frozenset(licences["allow"]), exceptions)


def satisfied(expression: str, allowed: frozenset[str]) -> bool:
    """Whether an expression of SPDX (annex D of its specification 2.3) can be met with licences
    that are allowed. A slash is how packages wrote `OR` once. Raises `ValueError` for what is no
    expression."""
    tokens = ["OR" if token == "/" else token for token in TOKEN.findall(expression)]
    good = _either(tokens, allowed)
    if tokens:
        raise ValueError(f"licence {expression!r}: {tokens[0]!r} was not expected")
    return good


def _either(tokens: list[str], allowed: frozenset[str]) -> bool:
    good = _both(tokens, allowed)
    while tokens and tokens[0] == "OR":
        tokens.pop(0)
        other = _both(tokens, allowed)
        good = good or other
    return good


def _both(tokens: list[str], allowed: frozenset[str]) -> bool:
    good = _one(tokens, allowed)
    while tokens and tokens[0] == "AND":
        tokens.pop(0)
        other = _one(tokens, allowed)
        good = good and other
    return good


def _one(tokens: list[str], allowed: frozenset[str]) -> bool:
    if not tokens or tokens[0] in {")", "AND", "OR", "WITH"}:
        raise ValueError(f"a licence was expected before {tokens[:1]}")
    name = tokens.pop(0)
    if name == "(":
        good = _either(tokens, allowed)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a parenthesis is not closed")
        return good
    if tokens and tokens[0] == "WITH":
        tokens.pop(0)
        name += f" WITH {tokens.pop(0) if tokens else ''}"
    return name in allowed


def faults(metadata: dict[str, Any], rules: Rules) -> Iterator[str]:
    """What packages of a workspace, as `cargo metadata` tells them, do not keep to."""
    for package in metadata["packages"]:
        name, source = package["name"], package["source"]
        if source is None:
            yield from _wildcards(package)
            continue
        who = f"{name} {package['version']}"
        if source != CRATES_IO:
            yield f"{who}: comes from {source}; allowed: {CRATES_IO}"
        licence = package["license"]
        if licence is None:
            yield f"{who}: names no licence"
        elif not satisfied(licence, rules.allow | rules.exceptions.get(name, frozenset())):
            yield f"{who}: licence {licence}; allowed: {', '.join(sorted(rules.allow))}"


def _wildcards(package: dict[str, Any]) -> Iterator[str]:
    """A dependency of ours says which versions will do, unless it is ours."""
    for dependency in package["dependencies"]:
        if dependency["req"] == "*" and dependency.get("path") is None:
            yield f"{package['name']}: any version of {dependency['name']} would do"


def metadata(workspace: str) -> dict[str, Any]:
    """All packages that a workspace's lock file names, on any platform. Raises `RuntimeError` where
    the lock file is not that of the manifests, or packages cannot be had."""
    manifest = ROOT / workspace / "Cargo.toml"
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--all-features"]
    done = subprocess.run(
        [*command, "--manifest-path", manifest], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{manifest}: {done.stderr}")
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def main() -> int:
    """Says what is wrong."""
    rules = Rules.read(ROOT / "deny.toml")
    wrong = [fault for workspace in WORKSPACES for fault in faults(metadata(workspace), rules)]
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
