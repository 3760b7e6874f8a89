"""The recipe for conda asks for what pyproject.toml does, and rattler-build can read it.

rattler-build's library parses and renders here, offline, as conda-forge does; to build it would
need conda-forge's packages.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
NAMES = {"matplotlib": "matplotlib-base"}
"""Packages that conda-forge has under another name: that one comes without a window system."""


def recipe() -> Any:
    return yaml.safe_load(RECIPE.read_text(encoding="utf-8"))


def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def as_conda_has_it(requirement: str) -> str:
    """
    >>> as_conda_has_it("matplotlib>=3.8")
    'matplotlib-base >=3.8'
    """
    found = re.fullmatch(r"([\w.-]+)([<>=!~].+)", requirement)
    assert found, f"{requirement}: not a name with a bound, so the recipe cannot have the same"
    return f"{NAMES.get(found[1], found[1])} {found[2]}"


def test_the_recipe_has_the_version_of_the_workspace() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert recipe()["context"]["version"] == manifest["workspace"]["package"]["version"]


def test_the_recipe_asks_for_what_the_package_does() -> None:
    metadata, build = project()["project"], project()["build-system"]
    python = metadata["requires-python"]
    needed = [f"python {python}", *map(as_conda_has_it, metadata["dependencies"])]
    asked = recipe()["requirements"]
    assert sorted(asked["run"]) == sorted(needed)
    assert recipe()["build"]["skip"] == f'match(python, "<{python.removeprefix(">=")}")'
    backend = set(map(as_conda_has_it, build["requires"]))
    assert backend < set(asked["host"])
    (across,) = (each["then"] for each in asked["build"] if isinstance(each, dict))
    assert backend < set(across)


def test_the_recipe_describes_the_package_as_its_metadata_do() -> None:
    about, metadata = recipe()["about"], project()["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    assert about["summary"] == metadata["description"]
    assert about["license"] == metadata["license"]["text"]
    assert about["repository"] == about["homepage"] == workspace["package"]["repository"]
    for name in set(about["license_file"]) - {"THIRDPARTY.yml"}:  # which the build writes
        assert (ROOT / name).is_file(), name
    (contents,) = (each for each in recipe()["tests"] if "package_contents" in each)
    packed = contents["package_contents"]
    for name in packed["site_packages"]:
        assert (ROOT / "python" / name).is_file(), name
    for name in packed["files"]:
        assert (ROOT / "packaging" / "data" / "data" / name).is_file(), name
    assert packed["bin"] == list(metadata["scripts"])


VARIANTS = {
    "python": ["3.11.* *_cpython", "3.13.* *_cp313"],
    "c_compiler": ["gcc"],
    "rust_compiler": ["rust"],
    "c_stdlib": ["sysroot"],
    "c_stdlib_version": ["2.17"],
}
"""What conda-forge pins, in short."""


@pytest.mark.needs("rattler-build")
@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64", "osx-arm64", "win-64"])
def test_rattler_build_renders_the_recipe(platform: str) -> None:
    """One build for each Python, and what a cross build needs where it is one."""
    from rattler_build import Stage0Recipe, VariantConfig  # noqa: PLC0415 (no other test needs it)
    from rattler_build.render import RenderConfig  # noqa: PLC0415
    from rattler_build.tool_config import PlatformConfig  # noqa: PLC0415

    here = PlatformConfig(
        target_platform=platform, build_platform="linux-64", host_platform=platform
    )
    made = Stage0Recipe.from_file(RECIPE).render(VariantConfig(VARIANTS), RenderConfig(here))
    assert [each.recipe.build.string[:5] for each in made] == ["py311", "py313"]
    for each in made:
        assert each.recipe.package.name == "anabranch"
        asked = each.recipe.requirements.to_dict()
        assert asked["run"] == recipe()["requirements"]["run"]
        assert f"rust_{platform}" in asked["build"]
        assert (f"cross-python_{platform}" in asked["build"]) == (platform != "linux-64")


@pytest.mark.needs("rattler-build")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("schema_version: 1", "schema_version: 2"),
        ("  number: 0", "  numbr: 0"),
        ("    - maturin >=1.9.4,<2", "    - maturin >>1.9.4"),
        ("  license: MIT OR", "  license: MIX OR"),
        ("if: build_platform !=", "if: build_platform !!="),
    ],
)
def test_rattler_build_refuses_a_wrong_recipe(right: str, wrong: str) -> None:
    """So that what it takes is not just anything."""
    from rattler_build import RecipeParseError, Stage0Recipe  # noqa: PLC0415

    text = RECIPE.read_text(encoding="utf-8")
    assert right in text
    with pytest.raises(RecipeParseError):
        Stage0Recipe.from_yaml(text.replace(right, wrong))
