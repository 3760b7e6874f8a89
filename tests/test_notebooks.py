"""The notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.needs("nbclient")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
# A kernel's client warns of event loops that are none of ours.
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = import_module("nbclient"), import_module("nbformat")
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    document = nbformat.read(notebook, as_version=4)
    client = nbclient.NotebookClient(
        document, timeout=120, resources={"metadata": {"path": str(notebook.parent)}}
    )
    client.execute()
    assert any(cell.get("outputs") for cell in document.cells)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_stay_out_of_the_repository(notebook: Path) -> None:
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3
