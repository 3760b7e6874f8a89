"""Window algorithms in Rust as plug-ins: the folder of the command, built and run as users do.

Cargo works offline throughout: the folder needs nothing that is not in it.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from anabranch import AlgorithmError, InputError, Network, Scenario
from anabranch import cargo as about_cargo
from anabranch.algorithms import check, plugin
from anabranch.library.needs import needs
from anabranch.native import core
from conftest import Command

ROOT = Path(__file__).parents[1]
AIMD = f"{ROOT / 'examples' / 'algorithms' / 'aimd.py'}:Aimd"
"""The law of the template, in Python."""

cargo_needed = pytest.mark.needs("cargo", "cc")


def cargo(folder: Path, *arguments: str) -> None:
    """Cargo in the folder, with what it says where it fails."""
    done = subprocess.run(
        ["cargo", *arguments, "--offline", "--quiet"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(anabranch: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the command, its library built."""
    folder = tmp_path_factory.mktemp("outside") / "my-aimd"
    done = anabranch("new", "algorithm", "my-aimd", "--out", folder)
    assert done.returncode == 0, done.stderr
    cargo(folder, "build", "--release")
    return folder


@pytest.fixture(scope="module")
def library(folder: Path) -> str:
    """The library that the folder makes."""
    return str(folder / "target" / "release" / "libmy_aimd.so")


def lossy(window: Any, size: str = "3 MB", **flow: Any) -> Network:
    net = Network("lossy", seed=7)
    a, b = net.host("a"), net.host("b")
    loses = [{"kind": "bernoulli", "rate": 0.01}]
    net.link(a, b, rate="10 Mbit/s", delay="20 ms", impairments=loses)
    net.flow(a, b, size=size, tcp={"window": window}, **flow)
    return net


def trace(window: Any) -> str:
    return str(lossy(window).scenario().run(trace_hash=True).run["trace_hash"])


@cargo_needed
def test_the_folder_is_tested_and_documented_without_a_network(folder: Path) -> None:
    cargo(folder, "test")
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"Cargo.toml", "src/lib.rs", "README.md", "scenario.toml", ".gitignore"} <= names
    assert {f"anabranch-algorithm/{path}" for path, _ in core.ALGORITHM_CRATE} <= names
    texts = [
        path.read_text(encoding="utf-8")
        for path in folder.glob("*")
        if path.suffix in (".toml", ".md")
    ]
    assert not any("my-law" in text or "my_law" in text for text in texts)
    manifest = tomllib.loads((folder / "anabranch-algorithm" / "Cargo.toml").read_text("utf-8"))
    assert manifest["package"]["version"] == core.__version__


@cargo_needed
def test_its_tests_hold_for_other_defaults(folder: Path) -> None:
    """Which are the first that an author changes."""
    law = folder / "src" / "lib.rs"
    text = law.read_text(encoding="utf-8")
    defaults = {'"increase", 1.0,': '"increase", 3.0,', '"decrease", 0.5,': '"decrease", 0.8,'}
    assert all(text.count(default) == 1 for default in defaults)
    changed = text
    for default, other in defaults.items():
        changed = changed.replace(default, other)
    try:
        law.write_text(changed, encoding="utf-8")
        cargo(folder, "test")
    finally:
        law.write_text(text, encoding="utf-8")


@cargo_needed
def test_its_scenario_runs_and_its_law_keeps_what_every_one_must(
    anabranch: Command, folder: Path, library: str, tmp_path: Path
) -> None:
    done = anabranch("run", folder / "scenario.toml", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    done = anabranch("check", library, "--option", "decrease=0.7")
    assert done.returncode == 0 and "broke 0" in done.stdout, done.stdout + done.stderr
    # A hundred segments more in a round trip are more than was acknowledged, in small windows.
    assert [broken.invariant for broken in check(library, {"increase": 100})] == ["growth"]


@cargo_needed
def test_the_law_of_the_page_is_half_an_aimd(folder: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "your-algorithm.md").read_text("utf-8")
    law = page.partition("```rust\n")[2].partition("```")[0]
    mine = tmp_path / "mine"
    shutil.copytree(folder, mine, ignore=shutil.ignore_patterns("target"))
    (mine / "src" / "lib.rs").write_text(law, "utf-8")
    cargo(mine, "build")
    window = {"algorithm": str(mine / "target" / "debug" / "libmy_aimd.so"), "decrease": 0.7}
    assert trace(window) == trace({"algorithm": AIMD, "decrease": 0.7})


@cargo_needed
@pytest.mark.parametrize("options", [{}, {"increase": 2, "decrease": 0.7}])
def test_the_same_law_in_python_is_the_same_run(library: str, options: dict[str, Any]) -> None:
    ours, theirs = ({"algorithm": name, **options} for name in (library, AIMD))
    assert trace(ours) == trace(theirs) != trace("reno")


@cargo_needed
def test_it_governs_sctp_and_subflows_too(library: str) -> None:
    net = Network(seed=1)
    a, b = net.host("a"), net.host("b")
    net.link(a, b, rate="10 Mbit/s", delay="5 ms", queue={"limit": "20 packets"})
    net.flow(a, b, size="1 MB", protocol="sctp", sctp={"window": library})
    net.flow(a, b, size="1 MB", protocol="mptcp", tcp={"window": library})
    ours = net.scenario().run(trace_hash=True)
    assert [flow["bytes"] for flow in ours.flows] == [1_000_000, 1_000_000]


@cargo_needed
def test_a_sweep_takes_it_beside_others_and_knows_its_content(
    anabranch: Command, folder: Path, library: str, tmp_path: Path
) -> None:
    copy = tmp_path / "liblaw.so"
    shutil.copy(library, copy)
    (tmp_path / "lossy.toml").write_text(lossy("reno", "300 kB").toml(), "utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "lossy.toml"\nreplications = 2\nseed = 1\n\n'
        '[[parameters]]\nname = "window"\nfield = "flows.0.tcp.window"\n'
        'values = ["reno", "liblaw.so"]\n\n'
        '[[metrics]]\nname = "goodput"\ncolumn = "goodput_bps"\nof = "f0"\n',
        "utf-8",
    )

    def points(*more: str) -> set[str]:
        done = anabranch("sweep", sweep, "--out", tmp_path / "out", "--jobs", "2", *more)
        assert done.returncode == 0, done.stderr
        return {path.name for path in (tmp_path / "out" / "runs").iterdir() if path.is_dir()}

    first = points()
    assert points("--resume") == first, "nothing changed: the runs are there"
    cargo(folder, "build", "--target-dir", str(tmp_path / "debug"))  # other octets
    shutil.copy(tmp_path / "debug" / "debug" / "libmy_aimd.so", copy)
    again = points("--resume")
    assert len(first) == len(again) == 2 and len(first & again) == 1, "Reno's runs stay"


@cargo_needed
def test_a_sweep_of_replications_is_the_same_on_two_processors(library: str) -> None:
    scenario = lossy(library, "300 kB").scenario()
    one, two = (scenario.run_batch(4, jobs=n, trace_hash=True) for n in (1, 2))
    hashes = [result.run["trace_hash"] for result in one]
    assert hashes == [result.run["trace_hash"] for result in two]
    assert len(set(hashes)) == 4


@cargo_needed
def test_a_report_card_calls_it_by_its_name(
    anabranch: Command, library: str, tmp_path: Path
) -> None:
    command = ["evaluate", library, "--quick", "--check", "back-off", "--out", tmp_path / "card"]
    done = anabranch(*command)
    assert done.returncode == 0, done.stderr
    assert "my_aimd" in done.stdout


@cargo_needed
@pytest.mark.needs("live")
def test_both_worlds_have_it(anabranch: Command, library: str, tmp_path: Path) -> None:
    scenario = tmp_path / "two.toml"
    text = lossy(library, "500 kB").scenario().set('hosts.b={ name = "b", external = true }')
    scenario.write_text(text.resolved(), "utf-8")
    done = anabranch("compare", scenario, "--out", tmp_path / "both")
    assert done.returncode == 0, done.stderr


@cargo_needed
def test_a_panic_names_line_hook_time_and_flow(
    anabranch: Command, folder: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(folder, mine, ignore=shutil.ignore_patterns("target"))
    source = (mine / "src" / "lib.rs").read_text("utf-8")
    rule = "window.ssthresh = (window.cwnd * self.decrease).max(2.0 * mss);"
    assert rule in source
    source = source.replace(rule, 'todo!("the rule");')
    options = "    const OPTIONS"
    source = source.replace(
        options, f'    const NEEDS: &\'static str = r#"ecn = "on""#;\n{options}'
    )
    (mine / "src" / "lib.rs").write_text(source, "utf-8")
    cargo(mine, "build")
    window = str(mine / "target" / "debug" / "libmy_aimd.so")
    assert needs(window) == {"ecn": "on"}
    with pytest.raises(AlgorithmError) as caught:
        lossy(window).scenario().run()
    error = caught.value
    assert (error.algorithm, error.place) == (window, "flow f0, client")
    assert error.file == "src/lib.rs" and error.line is not None and error.time_s is not None
    assert "todo!" in (mine / "src" / "lib.rs").read_text("utf-8").splitlines()[error.line - 1]
    scenario = tmp_path / "lossy.toml"
    scenario.write_text(lossy(window).toml(), "utf-8")
    done = anabranch("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "in on_loss: panic: not yet implemented: the rule" in done.stderr


@cargo_needed
def test_a_library_is_a_window_and_nothing_else(library: str) -> None:
    with pytest.raises(InputError, match=r"flows\[0\].tcp.recovery.*FILE.py:CLASS"):
        lossy("reno").scenario().set(f'flows.0.tcp.recovery="{library}"').run()
    with pytest.raises(InputError, match=r"`decrease` from 0\.1 to 0\.9"):
        lossy({"algorithm": library, "decrease": 2}).scenario().run()
    with pytest.raises(InputError, match="there is no `decreese`"):
        lossy({"algorithm": library, "decreese": 0.5}).scenario().run()


def test_files_that_are_no_libraries_are_refused(anabranch: Command, tmp_path: Path) -> None:
    (tmp_path / "libtext.so").write_text("no library", "utf-8")
    (tmp_path / "lossy.toml").write_text(lossy("libtext.so").toml(), "utf-8")
    done = anabranch("run", tmp_path / "lossy.toml", "--out", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert (
        "flows[0].tcp.window" in done.stderr and "a shared library for this machine" in done.stderr
    )
    with pytest.raises(InputError, match=r"there is no nowhere\.so"):
        Scenario(lossy("nowhere.so").toml()).run()


@pytest.mark.parametrize(
    "name", ["MyLaw", "my law", "1law", "fn", "test", "-law", "a--b", "../law", ""]
)
def test_names_that_cargo_would_not_take_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="allowed: lower-case letters"):
        plugin.write(name, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


@pytest.mark.needs("cargo")
def test_the_folder_names_the_library_where_cargo_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "elsewhere"))
    folder = plugin.write("my-aimd", tmp_path / "mine")
    library = tmp_path / "elsewhere" / "release" / "libmy_aimd.so"
    for name in ("README.md", "scenario.toml"):
        text = (folder / name).read_text("utf-8")
        assert str(library) in text and "target/release" not in text
    monkeypatch.setenv("PATH", "")  # without cargo its variables say it
    assert about_cargo.target(folder) == tmp_path / "elsewhere"


def test_a_folder_with_something_in_it_is_left_alone(anabranch: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    done = anabranch("new", "algorithm", "law", "--out", tmp_path)
    assert done.returncode == 2 and "a new or empty folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.needs("cargo")
def test_cargo_s_settings_say_where_the_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / "config.toml").write_text('[build]\ntarget-dir = "built"\n', "utf-8")
    folder = plugin.write("my-aimd", tmp_path / "mine")
    for name in ("README.md", "scenario.toml"):
        assert str(tmp_path / "built" / "release" / "libmy_aimd.so") in (folder / name).read_text()


@pytest.mark.needs("cargo")
def test_a_library_that_is_not_there_is_told_with_where_it_is(
    anabranch: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First how to build it, then where cargo put it: of another profile, or another folder."""
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    folder = plugin.write("my-aimd", tmp_path / "mine")
    run = "run", folder / "scenario.toml", "--out", tmp_path / "out"
    done = anabranch(*run)
    command = f"`cargo build --release --manifest-path {folder / 'Cargo.toml'}`"
    assert done.returncode == 2 and command in done.stderr, done.stderr
    for place in (folder / "target" / "debug", tmp_path / "elsewhere" / "release"):
        place.mkdir(parents=True)
        (place / "libmy_aimd.so").write_text("built", "utf-8")
        done = anabranch(*run)
        assert f"cargo has put it at {place / 'libmy_aimd.so'}: name that" in done.stderr
        monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match=r"there is no libother\.so$"):
        Scenario(lossy("libother.so").toml()).run()


@pytest.mark.needs("cargo")
def test_a_workspace_around_the_folder_is_told_of(anabranch: Command, tmp_path: Path) -> None:
    """Cargo refuses both until that one excludes the folder, as the message says."""
    outer = tmp_path / "Cargo.toml"
    workspace = '[workspace]\nresolver = "2"\nmembers = ["laws/*"]\n'
    outer.write_text(workspace, "utf-8")
    done = anabranch("new", "algorithm", "my-aimd", "--out", tmp_path / "laws" / "my-aimd")
    line = 'exclude = ["laws/my-aimd"]'
    assert done.returncode == 0 and f"{outer} takes" in done.stderr and line in done.stderr
    outer.write_text(f"{workspace}{line}\n", "utf-8")
    done = anabranch("new", "algorithm", "my-law", "--out", tmp_path / "other")
    assert done.returncode == 0 and done.stderr == ""
    cargo(tmp_path / "laws" / "my-aimd", "metadata", "--no-deps", "--format-version", "1")
