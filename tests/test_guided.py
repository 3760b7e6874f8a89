"""Profile-guided builds: what they need, and that the workloads run. The builds themselves take
minutes and are made with a release."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from anabranch import _core
from anabranch.commands.bench import WORKLOADS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def guided(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """packaging/guided.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("guided", ROOT / "packaging" / "guided.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "guided", module)
    spec.loader.exec_module(module)
    return module


def test_training_runs_workloads_and_examples(
    guided: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert set(guided.WORKLOADS) <= set(WORKLOADS)
    ran = []
    monkeypatch.setattr(guided, "WORKLOADS", ("sctp-multihomed",))
    (tmp_path / "examples").mkdir()
    for name in ("lossy.toml", "live-bulk.toml"):
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        (tmp_path / "examples" / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(guided, "ROOT", tmp_path)
    loaded = guided.load(Path(_core.__file__))

    class Heard:
        def __getattr__(self, name: str) -> object:
            def call(*arguments: object) -> object:
                ran.append((name, str(arguments[0 if name == "bench" else -3])))
                return getattr(loaded, name)(*arguments)

            return loaded.load if name == "load" else call

    monkeypatch.setattr(guided, "load", lambda _module: Heard())
    guided.train(Path("module"))
    scenario = str(tmp_path / "examples" / "lossy.toml")
    assert ran == [("bench", "sctp-multihomed"), ("run_batch", scenario)]


def test_what_merges_profiles_is_asked_for(
    guided: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LLVM_PROFDATA", "no-such-program")
    with pytest.raises(SystemExit, match=r"LLVM_PROFDATA: value 'no-such-program': allowed"):
        guided.profdata()
    monkeypatch.setenv("LLVM_PROFDATA", sys.executable)
    assert guided.profdata() == sys.executable

    monkeypatch.delenv("LLVM_PROFDATA")
    told = type("Done", (), {"stdout": f"{tmp_path}\n"})
    monkeypatch.setattr(guided.subprocess, "run", lambda *_arguments, **_options: told)
    monkeypatch.setattr(guided.shutil, "which", lambda _name: None)
    with pytest.raises(SystemExit, match=r"rustup component add llvm-tools"):
        guided.profdata()
    tool = tmp_path / "lib" / "rustlib" / "x86_64-unknown-linux-gnu" / "bin" / "llvm-profdata"
    tool.parent.mkdir(parents=True)
    tool.touch()
    assert guided.profdata() == str(tool)


def test_the_module_of_a_wheel_stands_beside_its_stub(guided: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "anabranch.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        for name in ("__init__.py", "_core.pyi", "_core.abi3.so"):
            made.writestr(f"anabranch/{name}", name)
    assert guided.unpacked(wheel).read_text(encoding="utf-8") == "_core.abi3.so"


def test_a_module_that_is_none_is_named(guided: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"nothing\.txt: is no module"):
        guided.load(Path("nothing.txt"))
