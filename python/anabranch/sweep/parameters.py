"""What a sweep varies: parameters, and the points of their product."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anabranch import si
from anabranch.errors import InputError
from anabranch.inline import toml
from anabranch.nearest import one_of

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
        cases = zip(labels(values), values, strict=True)
        return cls(name, [Case(label, dict.fromkeys(paths, value)) for label, value in cases])


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


def labels(values: Sequence[Any]) -> list[Value]:
    """Values as tables show them: a table by its `kind` or `algorithm` where that tells all values
    apart, else as the text of its TOML, as a list is.

    >>> labels(["droptail", {"kind": "codel", "target": "5 ms"}])
    ['droptail', 'codel']
    >>> labels([{"kind": "codel", "target": "5 ms"}, {"kind": "codel"}])
    ['{kind = "codel", target = "5 ms"}', '{kind = "codel"}']
    """
    for of in (_named, _whole):
        found = [of(value) for value in values]
        if all(each not in found[:index] for index, each in enumerate(found)):
            break
    return found


def _named(value: Any) -> Value:
    if isinstance(value, Mapping):
        name = value.get("kind", value.get("algorithm"))
        return name if isinstance(name, str) else _whole(value)
    return _whole(value)


def _whole(value: Any) -> Value:
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


def baselines(labels: Sequence[Mapping[str, Value]], against: Sequence[str]) -> dict[str, Value]:
    """What is subtracted from the other values of a parameter, by the parameter's name: of those
    named as `NAME=VALUE`, or as a VALUE that one parameter has.

    >>> points = [{"window": "reno", "loss": 0.1}, {"window": "cubic", "loss": 0.1}]
    >>> baselines(points, ["cubic"]), baselines(points, ["loss=0.1"])
    ({'window': 'cubic'}, {'loss': 0.1})
    """
    values = {
        name: list(dict.fromkeys(each[name] for each in labels))
        for name in (labels[0] if labels else ())
    }
    found: dict[str, Value] = {}
    for text in against:
        before, _, value_of_it = (part.strip() for part in text.partition("="))
        named = before in values
        names, wanted = ([before], value_of_it) if named else (list(values), text.strip())
        having = {each: value for each in names for value in values[each] if _text(value) == wanted}
        if len(having) != 1:
            several = [f"{each}={_text(value)}" for each, value in having.items()]
            there = several or [f"{n}={_text(value)}" for n in names for value in values[n]]
            raise InputError.about("command line", "--against", text, one_of(text, there))
        (chosen,) = having
        if chosen in found:
            raise InputError.about("command line", "--against", text, f"one value of {chosen}")
        found |= having
    return found


def _text(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


_NAME = re.compile(r"[^\W\d]\w*([ -]\w+)*")


def check(parameters: Sequence[Parameter], where: str) -> None:
    """Refuses names and labels that a table could not keep apart."""
    seen: set[str] = set()
    for parameter in parameters:
        name = parameter.name
        if not _NAME.fullmatch(name) or name in seen or name in RESERVED:
            allowed = (
                "a letter, then letters, digits, _, - and single blanks, each name once, none of"
                f" {', '.join(sorted(RESERVED))}"
            )
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
