"""What live trials said of a study's claims, beside the same trials in virtual time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from anabranch.files import write_text
from anabranch.rows import CsvRow
from anabranch.studies.results import MEASURE_COLUMNS, claims_to_file
from anabranch.tables import write_csv
from anabranch.trials.worlds import Timing
from anabranch.verdicts import Claim, claim_from

FILE = "live.json"
FOLDER = "live"
TABLE_COLUMNS = ["table", "series", "x", "world", "mean", "ci_low", "ci_high", "n"]


@dataclass(frozen=True)
class Further:
    """The same trials in a further live world, judged by the same rules."""

    name: str
    setting: str
    claims: list[Claim]
    timings: list[Timing]


@dataclass(frozen=True)
class LiveOutcome:
    """The claims of a study, each judged by the same rules in both worlds."""

    name: str
    quick: bool
    setting: str
    changed: Sequence[str]
    left_out: Mapping[str, str]
    simulated: list[Claim]
    live: list[Claim]
    timings: list[Timing]
    further: list[Further] = field(default_factory=list)
    tables: list[CsvRow] = field(default_factory=list)
    """Numbers beside the claims, a row for each world."""

    @property
    def pairs(self) -> list[tuple[Claim, Claim]]:
        """Each claim in virtual time and live."""
        return list(zip(self.simulated, self.live, strict=True))

    @property
    def doubtful(self) -> list[Timing]:
        """Companies whose timing may have changed an answer."""
        return [timing for timing in self.timings if timing.doubts]

    @property
    def timing(self) -> str:
        """`ok`, or how much of the run is in doubt."""
        late = sum(timing.doubtful for timing in self.timings)
        if not late:
            return "ok"
        return f"doubtful for {late} of {sum(timing.trials for timing in self.timings)} trials"

    @property
    def lateness(self) -> str:
        """Median and 99th percentile of the batch that was the latest, and the maximum."""
        median, p99, most = (
            max(getattr(timing, name) for timing in self.timings)
            for name in ("median_s", "p99_s", "max_s")
        )
        text = f"median {median * 1e6:.0f} us, p99 {p99 * 1e6:.0f} us, maximum {most * 1e3:.1f} ms"
        return f"packets left late by at most: {text} (each the worst of {len(self.timings)} runs)"

    def rows(self) -> list[CsvRow]:
        """Rows of `claims.csv`: the live verdicts, with the simulated ones beside them."""
        rows = []
        for simulated, live in self.pairs:
            head = simulated.head.measured
            rows.append(
                live.row(self.name)
                | {
                    "world": "live",
                    "timing": self.timing,
                    "simulated_verdict": simulated.verdict.value,
                    "simulated_measured": head.mean,
                    "simulated_ci_low": head.ci_low,
                    "simulated_ci_high": head.ci_high,
                }
            )
        return rows

    def _judged(self) -> list[tuple[str, list[Claim]]]:
        """The claims of every world, by its name."""
        further = [(each.name, each.claims) for each in self.further]
        return [("simulated", self.simulated), ("live", self.live), *further]

    def save(self, directory: Path) -> None:
        """Writes `live.json` and `live/measures.csv`, `live/timing.csv` into the study's folder."""
        rows = [
            row | {"world": world}
            for world, claims in self._judged()
            for claim in claims
            for row in claim.measure_rows(self.name)
        ]
        write_csv(directory / FOLDER / "measures.csv", MEASURE_COLUMNS, rows)
        _write_timings(directory / FOLDER / "timing.csv", self.timings)
        for each in self.further:
            _write_timings(directory / FOLDER / each.name / "timing.csv", each.timings)
        if self.tables:
            write_csv(directory / FOLDER / "tables.csv", TABLE_COLUMNS, self.tables)
        shallow = {field.name: getattr(self, field.name) for field in fields(self)}
        worlds = {
            "simulated": claims_to_file(self.simulated),
            "live": claims_to_file(self.live),
        }
        further = [
            {
                "name": each.name,
                "setting": each.setting,
                "claims": claims_to_file(each.claims),
                "timings": [asdict(timing) for timing in each.timings],
            }
            for each in self.further
        ]
        timings = [asdict(timing) for timing in self.timings]
        value = {**shallow, **worlds, "timings": timings, "further": further}
        write_text(directory / FILE, json.dumps(value, indent=1, default=dict) + "\n")

    @classmethod
    def load(cls, directory: Path) -> LiveOutcome | None:
        """Reads it back; `None` when the study has no live result there."""
        try:
            value = json.loads((directory / FILE).read_text(encoding="utf-8"))
            for world in ("simulated", "live"):
                value[world] = [claim_from(claim) for claim in value[world]]
            value["timings"] = _timings(value["timings"])
            value["further"] = [
                Further(
                    each["name"],
                    each["setting"],
                    [claim_from(claim) for claim in each["claims"]],
                    _timings(each["timings"]),
                )
                for each in value.get("further", [])
            ]
            return cls(**value)
        except (OSError, ValueError, TypeError, KeyError):
            return None


def _write_timings(path: Path, timings: Sequence[Timing]) -> None:
    rows = [asdict(timing) | {"doubts": "; ".join(timing.doubts)} for timing in timings]
    write_csv(path, list(rows[0]), rows)


def _timings(rows: Sequence[Mapping[str, Any]]) -> list[Timing]:
    return [Timing(**{**each, "doubts": tuple(each["doubts"])}) for each in rows]
