"""The checks of RFC 9743 for a window algorithm, as a report card beside the standards.

RFC 9743 (BCP 133) says what a proposal for congestion control is to be examined
for; docs/evaluate.md has every check, its scenario and its rule.
"""

from __future__ import annotations

from anabranch.evaluate.card import Card
from anabranch.evaluate.evaluating import BASELINES, evaluate, label_of, with_earlier

__all__ = ["BASELINES", "Card", "evaluate", "label_of", "with_earlier"]
