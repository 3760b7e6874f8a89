"""The table of the field in a few sentences, each computed from the numbers.

A sentence says of an algorithm only what its whole interval says; where an interval does not
decide, the algorithm is named as undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from anabranch.evaluate.checks import ALL
from anabranch.evaluate.checks.field import BUFFERS, LOSSES, STARVED
from anabranch.evaluate.field import summary
from anabranch.evaluate.field.summary import Beside, shares
from anabranch.evaluate.field.table import Field
from anabranch.stats import Estimate
from anabranch.verdicts import Verdict

COUNT = 3
"""Algorithms that are named of a ranking."""
SHORT = 10.0
"""Milliseconds of a queue that is called short, where the buffer holds 200."""
KEPT = 80.0
"""Percent of a link that an algorithm keeps which bears a loss rate."""
INDEPENDENT, STEEP = 0.25, 0.75
"""Exponents of 1/RTT^a: below the first the round trip hardly counts; of Reno's law it is 1, less
what queues add to all round trips alike."""
NAMES = {"cubic": "CUBIC", "reno": "Reno"}

Named = Callable[[str], str]
"""How a text writes an algorithm's name."""


def findings(field: Field, named: Named = str) -> list[str]:
    """What a reader wants to know first."""
    parts: list[Iterator[str]] = [
        *(_beside(field, standard, named) for standard in summary.SHARES),
        _round_trips(field, named),
        _losses(field, named),
        _alone(field, named),
        _judged(field, named),
    ]
    return [sentence for part in parts for sentence in part]


def listed(names: Iterable[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed([])
    ('a', 'a, b and c', 'nobody')
    """
    *most, last = [*names] or ["nobody"]
    return f"{', '.join(most)} and {last}" if most else last


def buffers(found: Sequence[float]) -> str:
    """Buffers in words.

    >>> buffers([0.5, 1.0, 2.0]), buffers(BUFFERS), buffers([0.5, 4.0])
    ('0.5 to 2 BDP', 'all buffers', '0.5 and 4 BDP')
    """
    if list(found) == list(BUFFERS):
        return "all buffers"
    indices = [BUFFERS.index(buffer) for buffer in found]
    if len(found) > 2 and indices == list(range(indices[0], indices[-1] + 1)):
        return f"{found[0]:g} to {found[-1]:g} BDP"
    return f"{listed(f'{buffer:g}' for buffer in found)} BDP"


def _beside(field: Field, standard: str, named: Named) -> Iterator[str]:
    """Who starves whom, where it is undecided, and who shares."""
    if summary.SHARES[standard] not in field.checks:
        return
    found = {each: shares(field, standard, each) for each in field.algorithms if each != standard}
    name, most = NAMES[standard], 1 - STARVED
    takes = _by_buffers(found, lambda share: Beside.of(share) is Beside.STARVES, named)
    leaves = _by_buffers(found, lambda share: Beside.of(share) is Beside.STARVED, named)
    above = _by_buffers(found, lambda share: not Beside.decided(share, most), named)
    pairs = [share for of in found.values() for share in of.values()]
    below = sum(not Beside.decided(share, STARVED) for share in pairs)
    yield (
        f"**Who starves {name}** (one flow beside one takes more than {100 * most:g} % of what both"
        f" deliver): {takes}.{_open(above)}"
    )
    yield (
        f"**Whom {name} starves** (it leaves less than {100 * STARVED:g} %): {leaves}."
        f" {below} of {len(pairs)} pairs of algorithm and buffer are undecided."
    )
    if standard == "reno":
        return  # the nearest are those that are Reno over one path
    off = {each: max(abs(share.mean - 0.5) for share in of.values()) for each, of in found.items()}
    nearest = sorted(off, key=lambda each: off[each])[:COUNT]
    yield (
        f"**Nearest to an equal share with {name}** over all buffers:"
        f" {listed(f'{named(each)} ({_range(found[each].values())})' for each in nearest)}."
    )


def _by_buffers(
    found: Mapping[str, Mapping[float, Estimate]], which: Callable[[Estimate], bool], named: Named
) -> str:
    """The algorithms of which something is so, grouped by the buffers in which it is."""
    groups: dict[tuple[float, ...], list[str]] = {}
    for each, of in found.items():
        if at := tuple(buffer for buffer, share in of.items() if which(share)):
            groups.setdefault(at, []).append(named(each))
    ordered = sorted(groups, key=lambda at: (-len(at), at))
    return "; ".join(f"in {buffers(at)} {listed(groups[at])}" for at in ordered) or "nobody"


def _range(found: Iterable[Estimate]) -> str:
    means = [share.mean for share in found]
    return f"{min(means):.2f} to {max(means):.2f}"


def _open(names: str) -> str:
    return "" if names == "nobody" else f" Undecided: {names}."


def _round_trips(field: Field, named: Named) -> Iterator[str]:
    known = _known(field, *summary.EXPONENT)
    if known:
        low = [each for each, a in known.items() if a.ci_high < INDEPENDENT]
        high = [each for each, a in known.items() if a.ci_low > STEEP]
        yield (
            "**Round-trip times**: among four flows of 20 to 160 ms the share hardly depends on the"
            f" round trip (as 1/RTT to a power below {INDEPENDENT:g}) with {_names(low, named)}; to"
            f" a power above {STEEP:g} it does with {_names(high, named)}."
        )


def _losses(field: Field, named: Named) -> Iterator[str]:
    if "random-loss" not in field.checks:
        return
    parts = []
    for percent in LOSSES:
        kept = [
            each
            for each in field.algorithms
            if summary.losses(field, each)[percent].ci_low > KEPT * (1 - percent / 100)
        ]
        parts.append(f"at {percent} % by {_names(kept, named)}")
    yield f"**Random loss**: {KEPT:g} % of what is not lost is kept {', '.join(parts)}."


def _alone(field: Field, named: Named) -> Iterator[str]:
    delays, uses = _known(field, *summary.DELAY), _known(field, *summary.USE)
    if delays:
        short = [each for each, d in delays.items() if d.ci_high < SHORT]
        yield (
            "**Latency**: alone in a buffer of five BDP, which holds 200 ms, a mean queue of less"
            f" than {SHORT:g} ms is kept by {_names(short, named)}; the longest by"
            f" {_extremes(delays, named)}."
        )
    if uses:
        least = sorted(uses, key=lambda each: uses[each].mean)[:COUNT]
        yield (
            "**Use**: alone with a buffer of one BDP, the least of the link is used by "
            + listed(f"{named(each)} ({uses[each].mean:.0f} %)" for each in least)
            + "; 97 % is all of it."
        )


def _extremes(known: Mapping[str, Estimate], named: Named) -> str:
    """The largest, each with its number."""
    largest = sorted(known, key=lambda each: -known[each].mean)[:COUNT]
    return listed(f"{named(each)} ({known[each].mean:.0f} ms)" for each in largest)


def _judged(field: Field, named: Named) -> Iterator[str]:
    """Of the checks of RFC 9743: who is within all bounds, and who beyond most."""
    asked = [check.name for check in ALL if check.name in field.checks]
    if not asked:
        return
    counts = {each: [field.verdict(check, each) for check in asked] for each in field.algorithms}
    beyond = {
        each: sum(verdict in (Verdict.FAILS, Verdict.PARTLY) for verdict in verdicts)
        for each, verdicts in counts.items()
    }
    none = [each for each in beyond if not beyond[each]]
    most = sorted(beyond, key=lambda each: -beyond[each])[:COUNT]
    open_ = sum(verdict is Verdict.UNDECIDED for each in counts.values() for verdict in each)
    named_most = listed(f"{named(each)} ({beyond[each]})" for each in most if beyond[each])
    yield (
        f"**RFC 9743**: of its {len(asked)} questions {_names(none, named)} are beyond a bound in"
        f" none, {named_most} in most. {open_} of {len(asked) * len(counts)} answers are undecided."
    )


def _known(field: Field, check: str, quantity: str) -> dict[str, Estimate]:
    found = {each: field.estimate(check, quantity, each) for each in field.algorithms}
    return {each: number for each, number in found.items() if number is not None and number.n > 1}


def _names(names: Sequence[str], named: Named) -> str:
    return listed(map(named, names))
