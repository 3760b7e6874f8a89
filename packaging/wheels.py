"""Builds wheels and the source distribution: `make wheels`, and the hosted workflow of a release.

    python packaging/wheels.py [--guided] [--out DIR] [TARGET]...

Without TARGET, the source distribution is built, and wheels of those of this system's targets whose
standard library rustup has installed; the others are named. With TARGET, its wheel is built, and
nothing else. On Linux zig links,
from the package `ziglang`, so that a wheel runs on every distribution that is not older than its
tag says, whatever the machine that builds it has. With --guided the wheel of the system that runs
this is compiled by a profile of workloads (guided.py); the others are as without. Needs maturin, in
the environment of the Python that runs this.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import guided

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 15_000_000
"""Octets that a wheel may have."""
LINUX = {
    "x86_64-unknown-linux-gnu": "manylinux2014",
    "aarch64-unknown-linux-gnu": "manylinux2014",
    "x86_64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-unknown-linux-musl": "musllinux_1_2",
}
"""Targets, and the oldest systems that their wheels are for."""
TARGETS = {
    "Linux": list(LINUX),
    "Darwin": ["aarch64-apple-darwin", "x86_64-apple-darwin"],
    "Windows": ["x86_64-pc-windows-msvc"],
}


def main() -> None:
    """Builds, checks, and tells what was built and what was not."""
    parser = argparse.ArgumentParser(description="Builds wheels and the source distribution.")
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "wheels")
    parser.add_argument("target", nargs="*")
    arguments = parser.parse_args()
    known = TARGETS[platform.system()]
    if unknown := set(arguments.target) - set(known):
        parser.error(f"target {min(unknown)}: known are {', '.join(known)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    asked = arguments.target or known
    lacking = [target for target in asked if not installed(target)]
    for target in asked:
        if target not in lacking:
            told(build(target, arguments.out, arguments.guided and target == guided.host()))
    if not arguments.target:
        told(maturin("sdist", arguments.out))
    for target in lacking:
        print(f"NOT BUILT: {target}: rustup target add {target}", file=sys.stderr)
    if arguments.target and lacking:
        sys.exit(1)


def installed(target: str) -> bool:
    """Whether rustc has the target's standard library."""
    command = ["rustc", "--print", "target-libdir", "--target", target]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return any(Path(found.stdout.strip()).glob("libstd-*.rlib"))


def build(target: str, out: Path, by_profile: bool) -> Path:
    """The wheel of one target."""
    options = ["--release", "--quiet", "--target", target]
    if tag := LINUX.get(target):
        options += ["--zig", "--compatibility", tag]
    begun = time.monotonic()
    environment = guided.flags(guided.profile(target)) if by_profile else {}
    wheel = maturin("build", out, *options, environment=environment)
    check(wheel)
    how = ", by a profile" if by_profile else ""
    print(f"{target}{how}: {time.monotonic() - begun:.0f} s", flush=True)
    return wheel


def maturin(
    command: str, out: Path, *options: str, environment: dict[str, str] | None = None
) -> Path:
    """Runs maturin, with what is set besides in its environment, and finds what it wrote."""
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    scripts = sysconfig.get_path("scripts")
    # maturin finds zig as `python3 -m ziglang`.
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, **(environment or {}), "PATH": path}
    program = str(Path(scripts) / "maturin")
    line = [program, command, *options, "--out", str(out)]
    subprocess.run(line, cwd=ROOT, env=settings, check=True)
    (written,) = (path for path in out.iterdir() if before.get(path) != path.stat().st_mtime_ns)
    return written


def check(wheel: Path) -> None:
    """Ends with a message if the wheel is not as a wheel of ours is."""
    size = wheel.stat().st_size
    if size > LARGEST:
        sys.exit(f"{wheel}: {size} octets: allowed: {LARGEST}")
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        text = opened.read(metadata).decode()
    if "Requires-Python: >=3.11" not in text.splitlines():
        sys.exit(f"{wheel}: METADATA does not ask for Python 3.11")
    for part in ("/anabranch.1", "/_anabranch", "LICENSE-MIT", "LICENSE-APACHE", "/run.html.j2"):
        if not any(name.endswith(part) for name in names):
            sys.exit(f"{wheel}: has no {part.removeprefix('/')}")


def told(file: Path) -> None:
    """Says what was written."""
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
