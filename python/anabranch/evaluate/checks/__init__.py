"""The checks, in the order of RFC 9743, and those of the table of the field."""

from __future__ import annotations

from anabranch.evaluate.check import Check
from anabranch.evaluate.checks import alone, field, paths, sharing

ALL: tuple[Check, ...] = (*alone.CHECKS, *sharing.CHECKS, *paths.CHECKS)
"""What a report card has unless checks are named."""

FIELD: tuple[Check, ...] = (*ALL, *field.CHECKS)
"""What the table of the field has, and what can be named."""
