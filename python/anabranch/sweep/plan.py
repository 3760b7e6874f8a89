"""A sweep as a TOML file: see docs/sweep.md for every field."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anabranch import library
from anabranch.errors import InputError
from anabranch.experiment import LIBRARY
from anabranch.files import read_text
from anabranch.nearest import one_of
from anabranch.sweep.metrics import REDUCTIONS, TABLES, Metric, Replications
from anabranch.sweep.parameters import Case, Parameter
from anabranch.sweep.sweep import DEFAULT_METRICS, Sweep

MOST = 10_000_000
"""More replications of one point than anybody can mean."""


def load(path: Path) -> Sweep:
    """Reads the file; the scenario's own errors come when the sweep resolves it."""
    text = read_text(path)
    try:
        table = Fields(str(path), "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError.about(str(path), "TOML", str(error), "a TOML document") from None
    if "scenario" not in table.table and "hosts" in table.table:
        raise InputError.about(
            str(path),
            "scenario",
            "(missing)",
            "a sweep's file; this is a scenario, for `anabranch run`",
        )
    named = table.text("scenario")
    scenario = named if named.startswith(LIBRARY) else path.parent / named
    return Sweep(
        scenario=library.load(scenario).set(*table.texts("set")),
        parameters=[_parameter(each) for each in table.tables("parameters")],
        replications=_replications(table),
        metrics=[_metric(each) for each in table.tables("metrics")] or list(DEFAULT_METRICS),
        seed=table.integer("seed", 0, 2**63 - 1, default=None),
        series=table.truth("series"),
        source=str(path),
    ).checked(table.finish)


class Fields:
    """A table that is read field by field; what nobody asked for is wrong."""

    def __init__(self, file: str, path: str, table: Mapping[str, Any]) -> None:
        self.file = file
        self.path = path
        self.table = table
        self.read: set[str] = set()

    def wrong(self, name: str, allowed: str) -> InputError:
        """The error about one field of this table."""
        value = str(self.table.get(name, "(missing)"))
        return InputError.about(self.file, self.path + name, value, allowed)

    def get(self, name: str) -> Any:
        """The value as TOML has it, `None` when it is not there."""
        self.read.add(name)
        return self.table.get(name)

    def text(self, name: str) -> str:
        """Reads a text that must be there."""
        value = self.get(name)
        if not isinstance(value, str) or not value:
            raise self.wrong(name, "a text")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts, empty when it is not there."""
        value = self.get(name)
        value = [] if value is None else value
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(name, "a list of texts")
        return list(value)

    def truth(self, name: str) -> bool:
        """True or false, false when it is not there."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return bool(value)

    def integer(self, name: str, least: int, most: int, default: int | None) -> int | None:
        """Reads a whole number within bounds."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(name, f"a whole number from {least} to {most}")
        return value

    def positive(self, name: str) -> float | None:
        """A number above zero, or nothing."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not value > 0:
            raise self.wrong(name, "a number above 0")
        return float(value)

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        """Reads one of some texts."""
        value = self.get(name)
        if value is None:
            return default
        if value not in allowed:
            raise self.wrong(name, ", ".join(allowed))
        return str(value)

    def tables(self, name: str) -> list[Fields]:
        """A list of tables, empty when it is not there."""
        value = self.get(name)
        value = [] if value is None else value
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(name, f"a list of tables, [[{name}]]")
        path = f"{self.path}{name}"
        return [Fields(self.file, f"{path}.{n}.", each) for n, each in enumerate(value)]

    def finish(self) -> None:
        """Refuses a field that has no meaning."""
        for name in self.table:
            if name not in self.read:
                told = f"{self.file}: there is no field `{self.path}{name}`"
                raise InputError(f"{told}; the fields are {one_of(name, sorted(self.read))}")


def _parameter(fields: Fields) -> Parameter:
    name = fields.text("name")
    cases = fields.tables("cases")
    values = fields.get("values")
    field = fields.get("field")
    if cases:
        if values is not None or field is not None:
            raise fields.wrong("cases", "either `cases`, or `field` and `values`")
        parameter = Parameter(name, [_case(each) for each in cases])
    else:
        if not isinstance(values, list) or not values:
            raise fields.wrong("values", "a list of values, or [[parameters.cases]]")
        paths = [field] if isinstance(field, str) else field
        if not isinstance(paths, list) or not all(isinstance(each, str) for each in paths):
            raise fields.wrong("field", "the path of a field of the scenario, or a list of them")
        if not paths:
            raise fields.wrong("field", "the path of a field of the scenario, or a list of them")
        parameter = Parameter.of(name, paths, values)
    fields.finish()
    return parameter


def _case(fields: Fields) -> Case:
    settings = fields.get("set")
    if not isinstance(settings, dict):
        raise fields.wrong("set", 'a table such as { "links.0.rate" = "10 Mbit/s" }')
    label = fields.get("label")
    if not isinstance(label, (str, int, float)):
        raise fields.wrong("label", "a text or a number")
    fields.finish()
    return Case(label, settings)


def _metric(fields: Fields) -> Metric:
    of = fields.get("of")
    names = [of] if isinstance(of, str) else of
    if names is not None and not (
        isinstance(names, list) and names and all(isinstance(each, str) for each in names)
    ):
        raise fields.wrong("of", "the name of a flow, link, ..., a pattern, or a list of them")
    path = fields.get("path")
    if path is not None and not isinstance(path, str):
        raise fields.wrong("path", "an interface, or FROM>TO")
    metric = Metric(
        name=fields.text("name"),
        column=fields.text("column"),
        table=fields.choice("table", tuple(TABLES), "flows"),
        of=of,
        reduce=fields.choice("reduce", REDUCTIONS, "mean"),
        path=path,
    )
    fields.finish()
    return metric


def _replications(table: Fields) -> Replications:
    value = table.get("replications")
    if not isinstance(value, dict):
        count = table.integer("replications", 1, MOST, default=1)
        return Replications.exactly(count or 1)
    fields = Fields(table.file, "replications.", value)
    least = fields.integer("least", 2, MOST, default=10) or 10
    most = fields.integer("most", least, MOST, default=max(1000, least)) or least
    relative, absolute = fields.positive("relative"), fields.positive("absolute")
    if relative is None and absolute is None:
        allowed = "a share of the mean; or `absolute`, in the metric's unit"
        raise fields.wrong("relative", allowed)
    confidence = fields.positive("confidence") or 0.95
    if confidence >= 1:
        raise fields.wrong("confidence", "between 0 and 1")
    metric = fields.text("metric")
    fields.finish()
    return Replications(least, most, metric, relative, absolute, confidence)
