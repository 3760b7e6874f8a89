"""What cargo says of a folder: where it puts what it builds, and which workspace takes it in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

WAIT_S = 20.0
"""Seconds that cargo may take to answer."""
VARIABLES = ("CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR")
"""Variables that name the folder of builds, the first that is set."""
PROFILES = ("release", "debug")
"""Folders of a target folder in which cargo puts libraries."""
_MISSING = re.compile(r"(?P<scenario>.*?): field .*: there is no (?P<name>.+\.(?:so|dylib|dll))")


def target(folder: Path) -> Path:
    """The folder in which cargo puts what it builds of the package in `folder`: by its settings, by
    variables, or by the workspace. Where there is no cargo, by variables alone."""
    done = _asked(folder)
    if done is not None and done.returncode == 0:
        return Path(str(json.loads(done.stdout)["target_directory"]))
    named = next(filter(None, map(os.environ.get, VARIABLES)), None)
    return Path(named).absolute() if named else folder.absolute() / "target"


def taken_in(folder: Path) -> Path | None:
    """The manifest of a workspace further up that takes the package in `folder` for a member, which
    cargo refuses of a package with a workspace of its own; nothing where there is none."""
    for parent in folder.absolute().parents:
        manifest = parent / "Cargo.toml"
        try:
            workspace = "workspace" in tomllib.loads(manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if not workspace:
            continue
        done = _asked(parent)
        refused = done is not None and "multiple workspace roots" in done.stderr
        return manifest if refused else None
    return None


def explained(message: str) -> str:
    """The message that a library is not there, with where cargo has put it, or how to build it; any
    other message as it is."""
    found = _MISSING.fullmatch(message)
    if found is None:
        return message
    name = Path(found["name"])
    package = _package(name, Path(found["scenario"]).parent)
    if package is None:
        return message
    built = target(package)
    there = [built / profile / name.name for profile in PROFILES]
    there += sorted(built.glob(f"*/release/{name.name}"))  # of a target that was asked for by name
    for library in there:
        if library.is_file():
            return f"{message}; cargo has put it at {library}: name that"
    command = f"`cargo build --release --manifest-path {package / 'Cargo.toml'}`"
    return f"{message}; {command} makes {there[0]}"


def _package(library: Path, beside: Path) -> Path | None:
    """The folder of the package that makes the library: above the named file, the scenario or the
    working directory."""
    for start in ((beside / library).parent, beside, Path()):
        for folder in (start.absolute(), *start.absolute().parents):
            if library.stem.removeprefix("lib") == _library(folder / "Cargo.toml"):
                return folder
    return None


def _library(manifest: Path) -> str:
    """The name of the library of a package; empty where there is no such manifest."""
    try:
        facts = tomllib.loads(manifest.read_text(encoding="utf-8"))
        name = facts.get("lib", {}).get("name") or facts["package"]["name"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return ""
    return str(name).replace("-", "_")


def _asked(folder: Path) -> subprocess.CompletedProcess[str] | None:
    """What `cargo metadata` says in a folder; nothing where there is no cargo."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=WAIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
