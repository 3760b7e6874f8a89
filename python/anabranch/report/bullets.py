"""A statement as a picture: what its rule allows, and what was measured, on one line.

It is SVG in the page: it prints, scales, and needs no script.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup, escape

from anabranch.verdicts import Statement

WIDTH, HEIGHT = 240, 22
MIDDLE = HEIGHT / 2
AIR = 0.18
"""Of the range that is shown, beside what must be seen."""


@dataclass(frozen=True)
class Line:
    """A range of values on the width of the picture."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Returns the place at which a value is drawn; the edge if it lies beyond."""
        share = (value - self.low) / (self.high - self.low)
        return round(min(max(share, 0.0), 1.0) * WIDTH, 1)


def bullet(statement: Statement) -> Markup:
    """The picture; nothing of a statement that is not judged, or has no number."""
    rule, measured = statement.rule, statement.measured
    if rule is None or statement.verdict is None or not math.isfinite(measured.mean):
        return Markup("")
    line = _line(statement)
    low, high = line.at(rule.low), line.at(rule.high)
    first, last = line.at(measured.ci_low), line.at(measured.ci_high)
    says = f"allowed {rule.text}, measured {measured.text()}: {statement.verdict.value}"
    kind = str(statement.verdict.value).replace(" ", "-")
    return Markup(
        f'<svg class="bullet {kind}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(says)}">'
        f'<rect class="allowed" x="{low}" y="1" width="{max(high - low, 2)}"'
        f' height="{HEIGHT - 2}"/>'
        f'<path class="axis" d="M0 {MIDDLE}H{WIDTH}"/>'
        f'<path class="expected" d="M{line.at(rule.expected)} 1V{HEIGHT - 1}"/>'
        f'<path class="interval" d="M{first} {MIDDLE}H{last}M{first} 5V{HEIGHT - 5}M{last} 5V'
        f'{HEIGHT - 5}"/>'
        f'<circle class="mean" cx="{line.at(measured.mean)}" cy="{MIDDLE}" r="4"/></svg>'
    )


def _line(statement: Statement) -> Line:
    """From the least to the largest of what must be seen, with some air."""
    rule, measured = statement.rule, statement.measured
    assert rule is not None
    seen = [measured.mean, measured.ci_low, measured.ci_high, rule.low, rule.high, rule.expected]
    known = [value for value in seen if math.isfinite(value)]
    low, high = min(known), max(known)
    air = (high - low) * AIR or abs(high) * AIR or 1.0
    return Line(low - air, high + air)
