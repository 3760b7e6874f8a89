"""A wheel, installed where there is neither Rust nor a compiler, does what the tutorial shows.

    python tests/clean_install.py [WHEEL]

Without WHEEL, one is built as `make setup` builds: the native module is that of target/release and
is not compiled again. The environment is a new one, and PATH has nothing else. Ends with a message
if anything is not as it should be, and with a line of sizes and times otherwise.
"""

from __future__ import annotations

import re
import resource
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LARGEST = 15_000_000
"""Octets that a wheel may have."""
SLOWEST = 0.3
"""Seconds of processor time that `anabranch --help` may take."""


def main() -> None:
    """Everything, in a folder that is removed."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else built(folder / "dist")
        size = wheel.stat().st_size
        require(size <= LARGEST, f"{wheel.name}: {size} octets: allowed: {LARGEST}")
        refused_by_older_python(wheel)
        source_is_whole(folder)
        environment = installed(wheel, folder)
        help_s = tutorial(folder, environment)
        require(help_s <= SLOWEST, f"anabranch --help: {help_s:.2f} s: allowed: {SLOWEST} s")
        manuals(folder / "venv")
    print(
        f"{wheel.name}: {size / 1e6:.1f} MB, --help {help_s:.2f} s,"
        f" tried in {time.monotonic() - begun:.0f} s"
    )


def require(true: bool, otherwise: str) -> None:
    """Ends with a message unless it is true."""
    if not true:
        sys.exit(f"clean install: {otherwise}")


def built(dist: Path) -> Path:
    """A wheel of what `make setup` has compiled."""
    maturin("build", "--release", "--interpreter", sys.executable, "--out", str(dist))
    (wheel,) = dist.glob("*.whl")
    return wheel


def maturin(*arguments: str) -> None:
    """Runs maturin; what it says is shown if it fails."""
    program = str(Path(sys.executable).parent / "maturin")
    done = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    require(done.returncode == 0, done.stderr)


def refused_by_older_python(wheel: Path) -> None:
    """pip for Python 3.10 does not take it, and says why."""
    options = ["--python-version", "3.10", "--only-binary=:all:", "--no-deps", "--dry-run"]
    target = ["--target", str(wheel.parent / "no")]
    command = [sys.executable, "-m", "pip", "install", *options, *target, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    require(done.returncode != 0, "pip for Python 3.10 takes the wheel")
    require("3.10" in done.stderr or "not a supported wheel" in done.stderr, done.stderr)


def source_is_whole(folder: Path) -> None:
    """cargo finds every crate of the source distribution, and the versions of the lock file."""
    maturin("sdist", "--out", str(folder / "sdist"))
    (archive,) = (folder / "sdist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"the source distribution lacks something: {done.stderr}")
    for needed in ("README.md", "LICENSE-MIT", "packaging/data/data/share/man/man1/anabranch.1"):
        require((source / needed).is_file(), f"the source distribution lacks {needed}")


def installed(wheel: Path, folder: Path) -> dict[str, str]:
    """A new environment with the wheel, and the variables of a process in it."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(command, cwd=folder, check=True)
    return {"PATH": str(programs), "HOME": str(folder), "MPLBACKEND": "agg"}


def tutorial(folder: Path, environment: dict[str, str]) -> float:
    """Runs what the tutorial shows; returns the processor time of `anabranch --help`."""
    files = folder / "tutorial"
    files.mkdir()
    programs = Path(environment["PATH"])
    ran = 0
    for language, body in BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")):
        if language == "toml":
            name = body.splitlines()[0].removeprefix("# ")
            (files / name).write_text(body, encoding="utf-8")
        elif language == "python":
            run([programs / "python", "-W", "error", "-c", body], files, environment)
            ran += 1
        for line in body.splitlines() if language == "sh" else ():
            first, *rest = shlex.split(line)
            if rest[0] != "view":  # opens a browser
                run([programs / first, *rest], files, environment)
                ran += 1
    require(ran >= 4, f"{TUTORIAL.name}: {ran} commands were found")
    for result in ("first/report.html", "first/capture.pcapng", "windows/report.html"):
        require((files / "results" / result).is_file(), f"the tutorial wrote no {result}")
    return min(helped(programs, files, environment) for _ in range(5))


def helped(programs: Path, folder: Path, environment: dict[str, str]) -> float:
    """Processor time of `anabranch --help`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run([programs / "anabranch", "--help"], folder, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(command: list[str | Path], folder: Path, environment: dict[str, str]) -> None:
    """Runs a command, which must succeed."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    line = " ".join(map(str, command))
    require(done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}")


def manuals(place: Path) -> None:
    """Manual pages and completions are where programs look for them."""
    for file in (
        "man/man1/anabranch.1",
        "man/man1/anabranch-run.1",
        "bash-completion/completions/anabranch",
        "zsh/site-functions/_anabranch",
        "fish/vendor_completions.d/anabranch.fish",
    ):
        require((place / "share" / file).is_file(), f"the wheel installs no share/{file}")


if __name__ == "__main__":
    main()
