"""The checks, in the order of RFC 9743."""

from __future__ import annotations

from anabranch.evaluate.check import Check
from anabranch.evaluate.checks import alone, paths, sharing

ALL: tuple[Check, ...] = (*alone.CHECKS, *sharing.CHECKS, *paths.CHECKS)
