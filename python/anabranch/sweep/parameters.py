"""What a sweep varies: parameters, and the points of their product."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anabranch import si
from anabranch.errors import InputError
from anabranch.inline import toml

Value = str | int | float | bool


@dataclass(frozen=True)
class Case:
    """One value of a parameter: what tables call it, and the fields that it sets."""

    label: Value
    settings: Mapping[str, Any]
    """Dotted paths of the scenario, as `--set` takes them, with values of TOML's types."""

    def assignments(self) -> list[str]:
        """The settings as overrides of a scenario."""
        return [f"{key}={toml(value)}" for key, value in self.settings.items()]


@dataclass(frozen=True)
class Parameter:
    """A parameter that is varied, by its name and its cases."""

    name: str
    cases: Sequence[Case]

    @classmethod
    def of(cls, name: str, fields: str | Sequence[str], values: Sequence[Any]) -> Parameter:
        """Each value in turn is given to every one of the fields.

        >>> Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"]).cases[1].assignments()
        ['flows.*.tcp.window="cubic"']
        """
        paths = [fields] if isinstance(fields, str) else list(fields)
        return cls(name, [Case(label(value), dict.fromkeys(paths, value)) for value in values])


@dataclass(frozen=True)
class Combination:
    """A combination of one case of every parameter."""

    cases: Mapping[str, Case]

    def labels(self) -> dict[str, Value]:
        """Returns the label of each parameter's case, as tables show it."""
        return {name: case.label for name, case in self.cases.items()}

    def assignments(self) -> list[str]:
        """All overrides, in the order of the parameters."""
        return [text for case in self.cases.values() for text in case.assignments()]


def label(value: Any) -> Value:
    """A value as tables show it: a list or a table as the text of its TOML."""
    return value if isinstance(value, (str, int, float, bool)) else toml(value)


def combinations(parameters: Sequence[Parameter]) -> list[Combination]:
    """The product of all cases; the last parameter varies fastest."""
    names = [parameter.name for parameter in parameters]
    return [
        Combination(dict(zip(names, cases, strict=True)))
        for cases in itertools.product(*map(_of_one_type, parameters))
    ]


def _of_one_type(parameter: Parameter) -> list[Case]:
    """The cases with labels that fit one column: texts where numbers and texts are mixed."""
    kinds = {type(case.label) for case in parameter.cases}
    if len(kinds) == 1:
        return list(parameter.cases)
    common: type[float] | type[str] = float if kinds == {int, float} else str
    return [replace(case, label=common(case.label)) for case in parameter.cases]


def categorical(labels: Sequence[Mapping[str, Value]]) -> list[str]:
    """The parameters of some points that have several values, which are names and no quantities.

    >>> categorical([{"window": "reno", "buffer": "5 kB"}, {"window": "cubic", "buffer": "9 kB"}])
    ['window']
    """
    found = []
    for name in labels[0] if labels else ():
        values = {each[name] for each in labels}
        names = all(isinstance(value, str) for value in values)
        if len(values) > 1 and names and not all(si.quantity(str(value)) for value in values):
            found.append(name)
    return found


def check(parameters: Sequence[Parameter], where: str) -> None:
    """Refuses names and labels that a table could not keep apart."""
    seen: set[str] = set()
    for parameter in parameters:
        name = parameter.name
        if not name.isidentifier() or name in seen or name in RESERVED:
            allowed = f"letters, digits and _, each once, none of {', '.join(sorted(RESERVED))}"
            raise InputError.about(where, "parameters.name", name, allowed)
        seen.add(name)
        labels = [case.label for case in parameter.cases]
        if not labels:
            raise InputError.about(where, f"parameters.{name}.values", "[]", "one value or more")
        for index, each in enumerate(labels):
            if each in labels[:index]:
                raise InputError.about(
                    where, f"parameters.{name}.values", str(each), "every value once"
                )


RESERVED = frozenset(
    {
        "code",
        "point",
        "first",
        "replication",
        "seed",
        "version",
        "metric",
        "parameter",
        "value",
        "against",
        "difference",
    }
)
"""Names of columns that a sweep writes beside the parameters."""
