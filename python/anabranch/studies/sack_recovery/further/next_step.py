"""What the paper asks for next (section 4): its rule on a detection that reordering does not fool.

`decoupled-rack` beside RACK-TLP with PRR, in every kind of condition in which `decoupled` is
compared with it (N9), under the same draws.
"""

from __future__ import annotations

from anabranch.stats import Exact, Sample
from anabranch.studies.sack_recovery.further import measures as m
from anabranch.studies.sack_recovery.further.conditions import Batch, plan
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
    return Statement.of(f"{text}: change against {TODAY}", measured, rule)


def _change(batches: m.Batches, part: str, level: float, metric: m.Metric) -> Sample | Exact:
    """Share by which ours is more: the mean over the part's conditions in each replication; where
    nothing is random, over the conditions."""
    samples = [
        _sample(batches, batch, OURS, metric).change_from(_sample(batches, batch, TODAY, metric))
        for batch in sorted(batches)
        if (batch.part, batch.scheme, batch.level) == (part, OURS, level)
    ]
    if all(len(sample.values) == 1 for sample in samples):
        return Exact.mean_of(float(sample.values[0]) for sample in samples)
    return Sample.across(samples)


def _sample(batches: m.Batches, of: Batch, scheme: str, metric: m.Metric) -> Sample:
    batch = Batch(of.part, scheme, of.x, of.level)
    return Sample.of((metric(run) for run in batches[batch]), [batch])
