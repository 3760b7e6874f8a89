"""Values as inline TOML, for assignments to a scenario."""

from __future__ import annotations

import json
from typing import Any


def toml(value: Any) -> str:
    """A value of TOML's types, in one line.

    >>> toml({"kind": "bernoulli", "rate": 0.01, "at": ["x", True]})
    '{kind = "bernoulli", rate = 0.01, at = ["x", true]}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)
