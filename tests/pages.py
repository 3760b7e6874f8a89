"""Pages whose prose is written by hand, and whose tables are written by a script.

A table stands between the lines `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

PART = re.compile(r"(<!-- ([\w -]+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def fill(page: Path, lines: Callable[[str], Iterable[str]]) -> None:
    """Writes each part of the page anew: `lines` gives those of a name."""

    def filled(match: re.Match[str]) -> str:
        body = "\n".join(lines(match[2])).strip("\n")
        return f"{match[1]}\n{body}\n\n{match[3]}"

    text, count = PART.subn(filled, page.read_text(encoding="utf-8"))
    if not count:
        sys.exit(f"{page}: no lines `<!-- NAME -->` and `<!-- /NAME -->`")
    page.write_text(text, encoding="utf-8")
