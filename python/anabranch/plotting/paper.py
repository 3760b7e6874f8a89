"""Figures as papers take them: the width of a column, fonts inside, the same octets every time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from anabranch.errors import InputError
from anabranch.files import write_bytes

COLUMN = 3.4
"""Inches of a column of a paper in two columns, less than which IEEE, ACM and USENIX give."""
GUTTER = 0.2
"""Inches between two columns."""
FORMATS = ("pdf", "svg", "png")
DPI = 300


def size(columns: float, height: float | None) -> tuple[float, float]:
    """Width and height in inches of a figure that spans so many columns."""
    if not 0.5 <= columns <= 4:
        raise InputError.about("plot", "--columns", f"{columns:g}", "0.5 to 4 columns")
    if height is not None and not 0.5 <= height <= 20:
        raise InputError.about("plot", "--height", f"{height:g}", "0.5 to 20 inches")
    width = COLUMN * columns + GUTTER * max(columns - 1, 0)
    return width, height or min(0.66 * width, 3.6)


def checked(path: Path) -> str:
    """The format that a file's name asks for."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        allowed = f"a name that ends in {', '.join(f'.{each}' for each in FORMATS)}"
        raise InputError.about("command line", "--out", str(path), allowed)
    return kind


def save(figure: Figure, path: Path) -> None:
    """Writes a figure as PDF or SVG with its fonts inside, or as PNG; whole, or not at all.

    No date is written: the same figure is the same file.
    """
    kind = checked(path)
    facts = {
        "pdf": {"Creator": "Anabranch", "CreationDate": None, "ModDate": None},
        "svg": {"Creator": "Anabranch", "Date": None},
        "png": {"Software": "Anabranch"},
    }
    octets = io.BytesIO()
    # 42 embeds TrueType, which publishers take; letters of an SVG become paths.
    fonts: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": path.stem}
    with mpl.rc_context(fonts):
        figure.savefig(octets, format=kind, dpi=DPI, metadata=facts[kind])
    write_bytes(path, octets.getvalue())
