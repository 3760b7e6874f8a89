"""How the files of the package depend on each other, and on the native module."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "anabranch"

UNGUARDED = {"ALGORITHM_CRATE", "__file__", "__version__", "CallTooLong", "limits_passed"}
"""What cannot fail in the native module, once that is loaded."""


def modules() -> dict[str, ast.Module]:
    """Every file of the package, parsed, by the name of its module."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["anabranch", *path.relative_to(PACKAGE).with_suffix("").parts]
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def imported(tree: ast.Module, known: Mapping[str, object]) -> Iterator[str]:
    """Modules of the package that a file imports, wherever in it and however: at the top, in a
    function, for types alone, or by `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield inner if inner in known else str(node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(each.value) for each in node.args if isinstance(each, ast.Constant))


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle; none if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_of_imports() -> None:
    known = modules()
    graph = {name: set(imported(tree, known)) & known.keys() for name, tree in known.items()}
    assert sum(map(len, graph.values())) > 800, "imports are seen"
    assert circle(graph) == []


@pytest.mark.parametrize(
    "text",
    [
        "import b",
        "from b import c",
        "def f():\n    from b import c",
        "if TYPE_CHECKING:\n    import b",
        "importlib.import_module('b')",
    ],
)
def test_every_way_to_import_is_an_edge(text: str) -> None:
    known = {"a": ast.parse(text), "b": ast.parse("import a")}
    graph = {name: set(imported(tree, known)) & known.keys() for name, tree in known.items()}
    assert set(circle(graph)) == {"a", "b"}


def uses(tree: ast.AST, guarded: bool = False) -> Iterator[tuple[ast.Attribute, bool]]:
    """Every `core.NAME`, and whether it stands within `with guarded(...)`."""
    for node in ast.iter_child_nodes(tree):
        inside = guarded
        if isinstance(node, ast.With):
            inside |= any(ast.unparse(each).startswith("guarded(") for each in node.items)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "core":
            yield node, inside
        yield from uses(node, inside)


def test_every_call_of_the_core_is_guarded() -> None:
    known = modules()
    del known["anabranch.native"]  # the guard itself
    found = []
    for name, tree in known.items():
        if any(ast.unparse(node).startswith("from anabranch.native") for node in ast.walk(tree)):
            found += [(name, node, inside) for node, inside in uses(tree)]
    assert len(found) > 10, "uses are seen"
    bare = [
        f"{name}:{node.lineno}: core.{node.attr}"
        for name, node, inside in found
        if not inside and node.attr not in UNGUARDED
    ]
    assert bare == []


def test_nothing_calls_the_core_past_its_one_door() -> None:
    """Algorithms import classes of the native module, and nothing else of it."""
    names = {
        each.name
        for name, tree in modules().items()
        if name != "anabranch.native"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("anabranch._core", "anabranch")
        for each in node.names
        if node.module == "anabranch._core" or each.name == "_core"
    }
    assert names and all(name[0].isupper() for name in names), names
