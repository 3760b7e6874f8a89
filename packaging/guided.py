"""Profile-guided builds: an instrumented build runs workloads, whose profile guides the compiler.

    python packaging/guided.py [TARGET]

The compiler uses the profile where `RUSTFLAGS` has `-Cprofile-use=FILE`: `make guided` installs the
package so, and `wheels.py --guided` builds wheels. A profile is of one target, by whose name the
functions in it are called, and of one version of the code: what has changed since is compiled
without. Needs `llvm-profdata`: the one in `LLVM_PROFDATA`, that of the toolchain
(`rustup component add llvm-tools`), or one on the path, such as Debian's in llvm-19, whose version
can read what the compiler writes.

The workloads are those of `anabranch bench` and the scenarios in examples that run in virtual time.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import types
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "target" / "guided"
"""What is built and measured on the way."""
WORKLOADS = (
    "long-flow",
    "dumbbell-100",
    "fat-tree",
    "replications",
    "sctp-bulk",
    "sctp-multihomed",
    "ack-regulator",
    "mptcp-2",
)
REAL_TIME = ("live", "kernel")
"""How names of examples begin that need a network of the machine."""
TRAIN = "--train"
"""Runs the workloads with the module that follows: what the instrumented process is told."""


def main(arguments: list[str]) -> None:
    """Prints where the profile is."""
    if arguments[:1] == [TRAIN]:
        train(Path(arguments[1]))
    else:
        print(profile(arguments[0] if arguments else host()))


def host() -> str:
    """The target that the compiler builds for by itself."""
    told = subprocess.run(["rustc", "-vV"], cwd=ROOT, capture_output=True, text=True, check=True)
    return next(line[6:] for line in told.stdout.splitlines() if line.startswith("host: "))


def profile(target: str) -> Path:
    """Builds with instruments for a target that runs here, runs the workloads, and writes the
    profile."""
    merge = profdata()
    raw = FOLDER / target / "raw"
    shutil.rmtree(FOLDER / target, ignore_errors=True)
    raw.mkdir(parents=True)
    module = instrumented(target)
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(raw / "%p.profraw")}
    command = [sys.executable, str(Path(__file__)), TRAIN, str(module)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    written = FOLDER / f"{target}.profdata"
    subprocess.run([merge, "merge", "-o", str(written), *map(str, raw.iterdir())], check=True)
    return written


def flags(written: Path) -> dict[str, str]:
    """What the environment has where the compiler uses a profile."""
    return {"RUSTFLAGS": f"-Cprofile-use={written}"}


def instrumented(target: str) -> Path:
    """The native module, built with instruments."""
    out = FOLDER / target
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(FOLDER / "build"),
        # Programs of the build write too, which nobody asks about.
        "LLVM_PROFILE_FILE": str(out / "build-%p.profraw"),
        "RUSTFLAGS": "-Cprofile-generate",
    }
    maturin = str(Path(sysconfig.get_path("scripts")) / "maturin")
    line = [maturin, "build", "--release", "--quiet", "--target", target, "--out", str(out)]
    subprocess.run(line, cwd=ROOT, env=environment, check=True)
    (wheel,) = out.glob("*.whl")
    return unpacked(wheel)


def unpacked(wheel: Path) -> Path:
    """The native module of a wheel, in a file beside it."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith((".so", ".pyd")))
        return Path(opened.extract(name, wheel.parent))


def train(module: Path) -> None:
    """Runs the workloads, in the process whose profile is written at its end."""
    core = load(module)
    for workload in WORKLOADS:
        core.bench(workload)
    once = types.SimpleNamespace(seed=None, replications=1, first=0, jobs=1, trace_hash=False)
    for file in sorted((ROOT / "examples").glob("*.toml")):
        if not file.name.startswith(REAL_TIME):
            core.run_batch(core.load(file), str(file), [], once)


def load(module: Path) -> types.ModuleType:
    """The native module without the package, which is not installed where wheels are built."""
    spec = importlib.util.spec_from_file_location("_core", module)
    if spec is None or spec.loader is None:
        sys.exit(f"{module}: is no module of Python")
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    return core


def profdata() -> str:
    """The program that merges profiles."""
    if named := os.environ.get("LLVM_PROFDATA"):
        if found := shutil.which(named):
            return found
        sys.exit(f"LLVM_PROFDATA: value {named!r}: allowed: a program")
    told = ["rustc", "--print", "sysroot"]
    sysroot = subprocess.run(told, cwd=ROOT, capture_output=True, text=True, check=True)
    for tool in Path(sysroot.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata*"):
        return str(tool)
    for version in range(30, 18, -1):
        if found := shutil.which(f"llvm-profdata-{version}"):
            return found
    sys.exit(
        "llvm-profdata is needed: rustup component add llvm-tools, or a package of LLVM 19 or newer"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
