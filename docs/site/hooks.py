"""Takes into the site what is documentation but lies outside docs/.

The front page is README.md, a study's page is the README.md in its folder, and
the examples are pages and files of their own. The pages of the published crates
are rustdoc's, in `api/`, where `make api` has written them. Links are written
for a plain view of the repository; here they are turned to where the site has
their targets: a link to a crate's folder leads to its pages.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r'(\]\(|(?:src|href)=")(?!\w+:|#|/)([^)"#\s]+)(#[^)"\s]*)?')


def outside() -> dict[str, str]:
    """Places in the repository, and those of the same files in the site."""
    found = {"README.md": "index.md"}
    for study in sorted(ROOT.glob("python/anabranch/studies/*/README.md")):
        found[study.relative_to(ROOT).as_posix()] = f"studies/{study.parent.name}.md"
    for file in sorted(ROOT.glob("examples/**/*")):
        if file.is_file() and file.suffix in (".toml", ".py", ".md", ".ipynb", ".rs"):
            place = file.relative_to(ROOT).as_posix()
            found[place] = place
    return found


def published() -> list[str]:
    """The folders in crates/ of the crates that are published."""
    manifests = sorted(ROOT.glob("crates/*/Cargo.toml"))
    packages = {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in manifests}
    return [name for name, each in packages.items() if each["package"].get("publish", True)]


def api() -> dict[str, str]:
    """The first page in the site of each crate, by its folder; none where rustdoc's pages of one
    are missing."""
    pages = {f"crates/{name}": f"anabranch_{name}/index.html" for name in published()}
    if not all((RUSTDOC / page).is_file() for page in pages.values()):
        return {}
    return {folder: f"api/{page}" for folder, page in pages.items()}


OUTSIDE = outside()
RUSTDOC = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
API = api()
OVERVIEW = '<meta http-equiv="refresh" content="0; url=../reference/crates.html">\n'
"""The page of the folder of all crates, of which rustdoc writes none."""
REPOSITORY_ONLY = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
)
"""Links to these stay texts: they are for those who have the repository."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the files; pages are read from where they are."""
    for place, target in OUTSIDE.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / place)))
    if not API:
        logging.getLogger("mkdocs.hooks").warning("%s: no pages of the crates: make api", RUSTDOC)
        return files
    files.append(File.generated(config, "api/index.html", content=OVERVIEW))
    for path in sorted(RUSTDOC.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            place = f"api/{path.relative_to(RUSTDOC).as_posix()}"
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turns links that leave a page's folder to where the site has their targets."""
    origins = {target: place for place, target in OUTSIDE.items()}
    here = page.file.src_uri
    origin = origins.get(here, f"docs/{here}")

    def turned(match: re.Match[str]) -> str:
        opening, link, anchor = match.group(1), match.group(2), match.group(3) or ""
        target = os.path.normpath(Path(origin).parent / link)
        inside = target.removeprefix("docs/") if target.startswith("docs/") else None
        if inside is None:
            folder = f"{target}/README.md"
            inside = OUTSIDE.get(target) or OUTSIDE.get(folder) or API.get(target)
            if inside is None and target.startswith("examples"):
                inside = "examples/README.md"
        if inside is None:
            return match.group(0)
        if inside.endswith("/") or (ROOT / "docs" / inside).is_dir():
            inside = f"{inside.rstrip('/')}/README.md"
        if opening != "](" and inside.endswith(".md"):
            inside = inside.removesuffix(".md") + ".html"
        return f"{opening}{os.path.relpath(inside, Path(here).parent)}{anchor}"

    text = LINK.sub(turned, markdown)
    for name in (*map(re.escape, REPOSITORY_ONLY), r"crates/\w+"):
        text = re.sub(rf"\[([^\]]*)\]\((?:\.\./)*{name}\)", r"\1", text)
    return text
