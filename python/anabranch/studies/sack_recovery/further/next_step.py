"""What the paper asks for next (section 4): its rule on a detection that reordering does not fool.

`decoupled-rack` beside RACK-TLP with PRR, in every kind of condition in which `decoupled` is
compared with it (N9), under the same draws.
"""

from __future__ import annotations

from anabranch.stats import Exact, Sample
from anabranch.studies.sack_recovery.further import measures as m
from anabranch.studies.sack_recovery.further.conditions import plan
from anabranch.verdicts import Claim, Rule, Statement, at_least, at_most

OURS = "decoupled-rack"
TODAY = "rack"
MARGIN = 0.02
"""Share of goodput or of time that nobody would miss."""


def judge(batches: m.Batches) -> list[Claim]:
    """The one claim."""
    shown = plan()["reordering"]["shown"]
    no_less, no_more = at_least(0, MARGIN), at_most(0, MARGIN)
    statements = [
        _judged(text, _change(batches, part, level, m.goodput), no_less)
        for text, part, level in (
            (f"goodput, {shown:.0%} of packets reordered", "reordering", shown),
            ("goodput, random loss", "random", 0.0),
            ("goodput, loss in bursts", "bursts", 0.0),
        )
    ]
    statements += [
        _judged(text, _change(batches, part, 0.0, m.completion), no_more)
        for text, part in (("time, tail lost", "tail"), ("time, short transfers", "short"))
    ]
    return [
        Claim(
            "N10",
            "On RACK-TLP's detection it is worth deploying: under none of these conditions worse"
            " than RACK-TLP with PRR.",
            statements,
            f"The scheme `{OURS}`, with timestamps, DSACK and undo as RACK-TLP has them here.",
        )
    ]


def _judged(text: str, measured: Sample | Exact, rule: Rule) -> Statement:
    return Statement.of(f"relative change of {text}, against {TODAY}", measured, rule)


def _change(batches: m.Batches, part: str, level: float, metric: m.Metric) -> Sample | Exact:
    ours = m.conditions(batches, part, OURS, level)
    return m.change(batches, ours, TODAY, metric)
