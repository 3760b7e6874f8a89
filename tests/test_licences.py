"""Dependencies in Rust have licences and sources that `deny.toml` allows."""

from __future__ import annotations

import pytest

import licences

ALLOWED = frozenset({"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"})


@pytest.mark.needs("cargo")
@pytest.mark.parametrize("workspace", licences.TESTED)
def test_dependencies_keep_to_the_rules(workspace: str) -> None:
    rules = licences.Rules.read(licences.ROOT / "deny.toml")
    packages = licences.metadata(workspace)
    assert sum(package["source"] is not None for package in packages["packages"]) >= 3
    assert list(licences.faults(packages, rules)) == []


@pytest.mark.parametrize(
    ("expression", "is_met"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT/GPL-3.0-only", True),
        ("GPL-3.0-only / MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("GPL-3.0-only OR MIT AND Unicode-3.0", True),
        ("(GPL-3.0-only OR MIT) AND LGPL-2.1-or-later", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
        ("GPL-2.0-only WITH Classpath-exception-2.0 OR MIT", True),
    ],
)
def test_expressions_are_read_as_spdx_says(expression: str, is_met: bool) -> None:
    assert licences.satisfied(expression, ALLOWED) is is_met


@pytest.mark.parametrize("expression", ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "AND MIT"])
def test_what_is_no_expression_is_an_error(expression: str) -> None:
    with pytest.raises(ValueError):
        licences.satisfied(expression, ALLOWED)


def test_faults_say_what_and_where() -> None:
    def package(name: str, licence: str | None, source: str | None) -> dict[str, object]:
        dependencies = [
            {"name": "left-pad", "req": "*"},
            {"name": "ours", "req": "*", "path": "../ours"},
        ]
        return {
            "name": name,
            "version": "1.0.0",
            "license": licence,
            "source": source,
            "dependencies": dependencies,
        }

    packages = [
        package("ours", None, None),
        package("good", "MIT", licences.CRATES_IO),
        package("viral", "GPL-3.0-only", licences.CRATES_IO),
        package("bare", None, licences.CRATES_IO),
        package("elsewhere", "MIT", "git+https://example.org/it"),
        package("special", "NCSA", licences.CRATES_IO),
    ]
    rules = licences.Rules(frozenset({"MIT"}), {"special": frozenset({"NCSA"})})
    assert list(licences.faults({"packages": packages}, rules)) == [
        "ours: any version of left-pad would do",
        "viral 1.0.0: licence GPL-3.0-only; allowed: MIT",
        "bare 1.0.0: names no licence",
        f"elsewhere 1.0.0: comes from git+https://example.org/it; allowed: {licences.CRATES_IO}",
    ]
