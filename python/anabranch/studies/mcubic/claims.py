"""The paper's claims C1 to C6, and what hangs on the choices that it leaves open."""

from __future__ import annotations

from dataclasses import replace

from anabranch import stats
from anabranch.stats import Estimate
from anabranch.studies.mcubic import conditions, formula
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import Run, Size, part
from anabranch.verdicts import Claim, Statement, at_least, at_most, near

OURS, UNCOUPLED = "mcubic", "cubic"
OTHERS = ("lia", "olia", "wvegas")
VARIANT = "mcubic-share"


def judge(results: m.Results, quick: bool) -> list[Claim]:
    """All claims of the paper, in order."""
    return [*judge_six(results, quick), Judge(results, quick).open_choices()]


def judge_six(results: m.Results, size: Size) -> list[Claim]:
    """Those about the paper's own tables."""
    judged = Judge(results, size)
    return [
        judged.leaves_most(),
        judged.fairest(),
        judged.equal_delay(),
        judged.unequal_delay(),
        judged.at_least_one_tcp(),
        judged.traffic_shift(),
    ]


class Judge:
    """The runs, and what is asked of them."""

    def __init__(self, results: m.Results, quick: Size) -> None:
        self.results = results
        self.quick = quick

    def mean(self, run: Run, metric: m.Metric) -> Estimate:
        """Over replications."""
        return m.mean(self.results, run, metric)

    def more(self, ours: Run, theirs: Run, metric: m.Metric) -> Estimate:
        """Difference, replication by replication."""
        return stats.mean(m.more(self.results, ours, theirs, metric))

    def leaves_most(self) -> Claim:
        """C1."""
        seconds = part("distinct", self.quick)["second"]

        def left_more(ours: str, theirs: str) -> Estimate:
            return stats.mean(
                value
                for second in seconds
                for value in m.more(
                    self.results,
                    conditions.distinct(ours, second, self.quick),
                    conditions.distinct(theirs, second, self.quick),
                    m.singles,
                )
            )

        pairs = [(OURS, theirs) for theirs in (UNCOUPLED, *OTHERS)]
        pairs += [(other, UNCOUPLED) for other in OTHERS]
        return Claim(
            "C1",
            "Distinct bottlenecks: MCubic leaves the most to the two single-path flows, uncoupled"
            " CUBIC the least.",
            [
                Statement.of(
                    f"Mbit/s that {ours} leaves more than {theirs}",
                    left_more(ours, theirs),
                    at_least(0),
                )
                for ours, theirs in pairs
            ],
            "Both single-path flows together, over all rates of the second path.",
        )

    def fairest(self) -> Claim:
        """C2."""
        found = []
        for second in part("distinct", self.quick)["second"]:
            ours = conditions.distinct(OURS, second, self.quick)
            rivals = [ours.with_scheme(scheme) for scheme in (*OTHERS, UNCOUPLED)]
            best = max(rivals, key=lambda run: self.mean(run, m.fairness).mean)
            text = f"Jain's index less that of {best.scheme}, the best other, {second} Mbit/s"
            found.append(Statement.of(text, self.more(ours, best, m.fairness), at_least(0)))
        return Claim(
            "C2",
            "MCubic's Jain index is the highest, or equal highest, in every cell of table 1.",
            found,
            "Over the goodputs of the connection and both single-path flows, n = 3.",
        )

    def equal_delay(self) -> Claim:
        """C3."""
        trips = part("equal", self.quick)["round_trip"]
        found = [
            Statement.of(
                f"ratio of {OURS}, {trip} ms",
                self.mean(conditions.equal(OURS, trip, self.quick), m.ratio),
                at_least(1),
            )
            for trip in trips
        ]
        found += [
            Statement.of(
                f"ratio of {scheme}, {trip} ms",
                self.mean(conditions.equal(scheme, trip, self.quick), m.ratio),
                at_most(1),
            )
            for scheme in OTHERS
            for trip in trips
            if trip >= 200
        ]
        for run in conditions.test_bed(self.quick):
            if run.scheme in (OURS, UNCOUPLED):
                at = f"{run.round_trips[0]:g} ms, window {run.window} MiB"
                queue = f", queue of {run.queue} packets" if run.queue else ""
                text = f"ratio of {run.scheme}, {at}{queue}"
                found.append(Statement.of(text, self.mean(run, m.ratio)))
        return Claim(
            "C3",
            "Equal delays: MCubic's ratio is at least 1 at every delay; LIA, OLIA and wVegas fall"
            " below 1 from 200 ms on.",
            found,
            "Goodput of the connection over that of the single-path CUBIC flow. Not judged: the"
            " defaults of the test bed's tools, half of 6 MiB as receive window and dummynet's"
            " queue.",
        )

    def unequal_delay(self) -> Claim:
        """C4."""
        p = part("unequal", self.quick)
        cell = conditions.unequal
        last = p["second"][-1]
        found = [
            Statement.of(
                f"ratio of {scheme}, 100:{last} ms",
                self.mean(cell(scheme, last, self.quick), m.ratio),
                at_most(1),
            )
            for scheme in (*OTHERS, OURS, UNCOUPLED)
        ]
        found += [
            Statement.of(
                f"ratio less that of {scheme}, 100:{second} ms",
                self.more(
                    cell(OURS, second, self.quick), cell(scheme, second, self.quick), m.ratio
                ),
                at_least(0),
            )
            for scheme in OTHERS
            for second in p["second"]
        ]
        plain = conditions.cells(self.quick)[2]
        for receive in part("conditions", self.quick)["receive"]:
            smaller = replace(plain, receive=receive)
            lost = stats.mean(m.change(self.results, smaller, plain, m.goodput))
            text = f"change of its goodput with {receive / plain.receive:g} of the receive buffer"
            found.append(Statement.of(f"{text}, 100:{plain.round_trips[1]:g} ms", lost))
        return Claim(
            "C4",
            "Unequal delays: every scheme falls below 1 as the difference grows, by reordering in"
            " the shared receive buffer; MCubic stays above LIA, OLIA and wVegas.",
            found,
            "Judged with a receive buffer of twice what both paths hold with full queues, where"
            " reordering blocks nothing.",
        )

    def at_least_one_tcp(self) -> Claim:
        """C5."""
        found = [
            Statement.of("sum of 1/K' over 1/K, two equal paths", _exact([8, 8]), near(1, 1e-9)),
            Statement.of(
                "the same over the best path's 1/K, if K is twice as long on the other",
                _exact([8, 16]),
            ),
        ]
        for trip in part("equal", self.quick)["round_trip"]:
            ours = conditions.equal(OURS, trip, self.quick)
            alone = ours.with_scheme("path1")
            gain = stats.mean(m.change(self.results, ours, alone, m.goodput))
            text = f"share by which it carries more than one TCP in its place, {trip} ms"
            found.append(Statement.of(text, gain, at_least(0)))
        return Claim(
            "C5",
            "The sum of 1/K' is at least 1/K for equal subflows, so that MPTCP does at least as"
            " well as one TCP.",
            found,
            "By the formula it is a mean of the paths' 1/K weighted by 1/K: that of one TCP if all"
            " are equal, below that of the best path else.",
        )

    def traffic_shift(self) -> Claim:
        """C6."""
        p = part("shift", self.quick)
        half = formula.shifted(0.5)[0] - 1
        text = "change of K' when the other path's Wmax falls to half, by the formula"
        found = [Statement.of(text, stats.mean([half]), at_most(0))]
        none, some = p["flows"]
        for scheme in [OURS, *(s for s in p["schemes"] if s != OURS)]:
            ours = conditions.shift(scheme, some, self.quick)
            before = conditions.shift(scheme, none, self.quick)
            moved = stats.mean(
                m.change(self.results, ours, before, lambda _run, result: m.sent(result, 0))
            )
            text = f"change of what {scheme} sends on the other path, in runs"
            judged = Statement.of(text, moved, at_least(0))
            found.append(judged if scheme == OURS else Statement.of(text, moved))
        share = formula.shifted_by_shares(0.5)[0] - 1
        text = f"change of the time to the plateau in {VARIANT}, by its formula"
        found.append(Statement.of(text, stats.mean([share])))
        return Claim(
            "C6",
            "When one subflow is congested, the others' K' falls at once and they speed up.",
            found,
            f"Formula: two equal paths. Runs: {some} further flows on the second of two paths of"
            f" {p['rate']} Mbit/s, against none.",
        )

    def open_choices(self) -> Claim:
        """How far the verdicts hang on what the text leaves open."""
        distinct, equal, unequal = conditions.cells(self.quick)
        kinds = (
            (equal, "ratio at equal delays", m.ratio),
            (unequal, "ratio at unequal delays", m.ratio),
            (distinct, "Jain's index", m.fairness),
        )
        found = []
        for cell, what, metric in kinds:
            found += [
                Statement.of(f"{what}, {label(run)}", self.mean(run, metric))
                for run in self._variants(cell)
            ]
        ratios = [self.mean(run, m.ratio) for run in self._variants(equal)]
        best = max(ratios, key=lambda each: each.mean)
        head = Statement.of(
            "largest ratio at equal delays under any of the choices", best, at_most(1)
        )
        return Claim(
            "open",
            "No choice among those that the text leaves open lifts MCubic's ratio to that of C3.",
            [head, *found],
            "One at a time: buffer, scheduler, receive buffer, the floor of K in round-trip times,"
            " and the part of Wmax that is left as beta. 100 Mbit/s; 100 ms; 100:300 ms; 20 Mbit/s"
            " on the second path for Jain's index.",
        )

    def _variants(self, cell: Run) -> list[Run]:
        """A cell under every choice, with MCubic."""
        runs = conditions.varied(cell, self.quick)
        return [run for run in runs if run.scheme.startswith(OURS)]


def label(run: Run) -> str:
    """What is varied in a run."""
    plain = Run(run.bed, run.scheme, run.rates, run.round_trips, run.warm_up, run.seconds)
    if run.scheme.startswith("mcubic-floor-"):
        return f"floor of {run.scheme.removeprefix('mcubic-floor-')} round-trip times"
    if run.scheme == "mcubic-left":
        return "beta the part that is left"
    if run.scheme == "mcubic-zero":
        return "K none after a timeout"
    if run.buffer != plain.buffer:
        return f"buffer of {run.buffer:g} BDP"
    if run.scheduler != plain.scheduler:
        return run.scheduler
    if run.receive != plain.receive:
        return f"{run.receive / plain.receive:g} of the receive buffer"
    return "as judged"


def _exact(ks: list[float]) -> Estimate:
    return stats.mean([formula.rate(ks)])
