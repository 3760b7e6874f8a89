"""Ends with a message unless a tag is that of the version: `version.py v0.1.0`.

The version is that of the workspace in Cargo.toml, from where maturin takes it. The crates must be
asked for in the same version, and CHANGELOG.md must have its heading.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(tag: str) -> None:
    """Compares the tag with the version, and looks for the version where it must be, too."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"]["package"]["version"]
    if tag != f"v{version}":
        sys.exit(f"tag {tag}: allowed: v{version}, as Cargo.toml has it")
    for name, crate in manifest["workspace"]["dependencies"].items():
        if crate.get("version", version) != version:
            sys.exit(f"Cargo.toml: {name}: version {crate['version']}: allowed: {version}")
    if f"\n## [{version}]" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        sys.exit(f"CHANGELOG.md: has no heading `## [{version}]`")


if __name__ == "__main__":
    main(sys.argv[1])
