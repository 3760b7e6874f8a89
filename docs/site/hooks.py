"""Takes into the site what is documentation but lies outside docs/.

The front page is README.md, a study's page is the README.md in its folder, and
the examples are pages and files of their own. Links are written for a plain
view of the repository; here they are turned to where the site has their
targets.
"""

from __future__ import annotations

import os
import re
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


OUTSIDE = outside()
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
            inside = OUTSIDE.get(target) or OUTSIDE.get(folder)
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
    for name in REPOSITORY_ONLY:
        text = re.sub(rf"\[([^\]]*)\]\((?:\.\./)*{re.escape(name)}\)", r"\1", text)
    return text
