"""Laws of flow sizes: what the field `sizes` takes, published distributions, and their means.

>>> mean(pareto("100 kB", 1.5)), mean(empirical([("0 B", 0.0), ("10 kB", 1.0)]))
(100000.0, 5000.0)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from anabranch.errors import InputError
from anabranch.files import read_text
from anabranch.library.quantities import octets
from anabranch.nearest import one_of

Law = dict[str, Any]
"""The table `sizes` of a flow, see docs/scenario.md."""

PUBLISHED = {
    "web-search": "Alizadeh et al., SIGCOMM 2010 (DCTCP)",
    "data-mining": "Greenberg et al., SIGCOMM 2009 (VL2)",
}
"""Distributions that were published as points, and where."""


def constant(size: str) -> Law:
    """Makes the law by which every flow is as large."""
    return {"law": "constant", "mean": size}


def exponential(mean: str) -> Law:
    """Makes the exponential law of sizes."""
    return {"law": "exponential", "mean": mean}


def pareto(mean: str, shape: float) -> Law:
    """Pareto sizes of this mean; the shape is above 1, infinite variance up to 2."""
    return {"law": "pareto", "mean": mean, "shape": shape}


def bounded_pareto(least: str, most: str, shape: float) -> Law:
    """Pareto sizes between two bounds."""
    return {"law": "pareto", "min": least, "max": most, "shape": shape}


def lognormal(mean: str, sigma: float) -> Law:
    """Log-normal sizes; `sigma` is the standard deviation of the logarithm."""
    return {"law": "lognormal", "mean": mean, "sigma": sigma}


def empirical(points: Sequence[tuple[str, float]]) -> Law:
    """Points of a distribution function, size and share of flows up to it; linear in between."""
    return {"law": "empirical", "cdf": [[size, float(share)] for size, share in points]}


def from_file(path: str | Path) -> Law:
    """The distribution of a file: an octet count and a share on each line, see docs/library.md."""
    return _read(read_text(Path(path)), str(path))


def published(name: str) -> Law:
    """A published distribution by its name, one of `PUBLISHED`."""
    if name not in PUBLISHED:
        raise InputError.about("library", "sizes", name, one_of(name, PUBLISHED))
    file = resources.files("anabranch.library") / "data" / f"{name}.cdf"
    return _read(file.read_text(encoding="utf-8"), name)


def named(text: str) -> Law:
    """What a parameter of a scenario says: a published name, or a size that all flows have."""
    return published(text) if text in PUBLISHED or " " not in text else constant(text)


def mean(law: Mapping[str, Any]) -> float:
    """The mean of a law in octets, exact: of an empirical one that of its line segments."""
    if law["law"] == "empirical":
        points = [(octets(size), float(share)) for size, share in law["cdf"]]
        first, below = points[0]
        total = first * below
        for (low, p), (high, q) in itertools.pairwise(points):
            total += (low + high) / 2 * (q - p)
        return total
    if "min" in law:
        low, high, a = octets(law["min"]), octets(law["max"]), float(law["shape"])
        scale = low**a / (1 - (low / high) ** a)
        if a == 1.0:
            return float(scale * math.log(high / low))
        return float(scale * a / (a - 1) * (low ** (1 - a) - high ** (1 - a)))
    return float(octets(law["mean"]))


def _read(text: str, file: str) -> Law:
    points: list[tuple[int, float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.replace(",", " ").split()
        if not cells or cells[0].startswith("#"):
            continue
        try:
            size, share = (float(cell) for cell in cells)
        except ValueError:
            raise _wrong(file, number, line, "a size in octets and a share") from None
        before = points[-1] if points else (0, 0.0)
        if not (size >= before[0] and share >= before[1]):
            raise _wrong(file, number, line, "sizes and shares that ascend from 0")
        points.append((round(size), share))
    whole = points[-1][1] if points else 0.0
    if whole not in (1.0, 100.0):
        raise InputError.about(file, "last share", f"{whole:g}", "1, or 100 of percentages")
    return empirical([(f"{size} B", share / whole) for size, share in points])


def _wrong(file: str, number: int, line: str, allowed: str) -> InputError:
    return InputError.about(file, f"line {number}", line.strip(), allowed)
