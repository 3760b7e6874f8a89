"""The timeline as a chart: a lane for each link, flow and path."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from anabranch.errors import InputError
from anabranch.nearest import one_of
from anabranch.report.charts import Chart, Kind, Trace
from anabranch.timeline import Event, lanes

MOST = 40
"""Lanes of a chart."""


@dataclass(frozen=True)
class Form:
    """How events of one kind are drawn."""

    kind: str
    name: str
    form: Kind
    colour: int
    mark: int = 0
    width: float = 0.0
    """Of a span, as a share of its lane."""
    opacity: float = 1.0
    detail: str = ""
    """Of states: which."""

    def shows(self, event: Event) -> bool:
        """Whether an event is drawn in this form."""
        return event.kind == self.kind and self.detail in ("", event.detail)


FORMS = (
    Form("flow", "flow lasts", "spans", 6, width=0.84, opacity=0.18),
    Form("data", "new data sent", "spans", 0, width=0.36, opacity=0.9),
    Form("outage", "outage", "spans", 1, width=0.68, opacity=0.55),
    Form("state", "potentially failed", "spans", 4, width=0.5, detail="potentially failed"),
    Form("state", "inactive", "spans", 3, width=0.5, detail="inactive"),
    Form("heartbeat", "heartbeat", "ticks", 2),
    Form("handshake", "handshake", "marks", 2),
    Form("close", "end of the connection", "marks", 2, 1),
    Form("address", "addresses", "marks", 4, 2),
    Form("timeout", "timeout", "marks", 6, 3),
    Form("fast-retransmit", "fast retransmit", "marks", 6, 2),
    Form("ecn", "window reduced for marks", "marks", 3, 2),
    Form("mark", "CE marks received", "marks", 3),
    Form("probe", "tail loss probe", "marks", 0, 1),
    Form("undo", "reduction undone", "marks", 0, 2),
    Form("loss", "lost", "crosses", 6),
    Form("retransmission", "sent again", "dots", 1),
)
"""In the order in which they are drawn, the last above the others."""
KINDS = tuple(dict.fromkeys(form.kind for form in FORMS))
"""Kinds of events."""


def kinds_of(text: str | None) -> Sequence[str]:
    """The kinds of events that a comma parts, or all of them; an `InputError` of one that is
    none."""
    kinds = [kind.strip() for kind in text.split(",")] if text else KINDS
    for kind in kinds:
        if kind not in KINDS:
            raise InputError.about("command line", "--events", kind, one_of(kind, KINDS))
    return kinds


def timeline_chart(
    every: Sequence[Event], end_s: float, link: str, kinds: Collection[str] = KINDS
) -> Chart | None:
    """Charts the events of a run over time, those of some kinds or all; nothing of a run of which
    only flows are known."""
    if not any(event.kind != "flow" for event in every) or not end_s > 0:
        return None
    chosen = [
        event for event in every
        if event.kind in kinds and any(form.shows(event) for form in FORMS)
    ]  # fmt: skip
    names = lanes(chosen)
    shown = names[:MOST]
    lane = {name: float(at) for at, name in enumerate(reversed(shown))}
    traces = []
    for form in FORMS:
        mine = [event for event in chosen if event.lane in lane and form.shows(event)]
        if mine:
            traces.append(_trace(form, mine, lane))
    more = len(names) - len(shown)
    notes = [f"{more} more flows and paths are in the table."] if more > 0 else []
    return Chart(
        "Timeline", "time (s)", "", traces, link=link, xlim=(0.0, end_s), tall=len(shown) > 6,
        ynames=list(reversed(shown)), notes=notes,
    )  # fmt: skip


def _trace(form: Form, events: Sequence[Event], lane: dict[str, float]) -> Trace:
    x, y = [event.time_s for event in events], [lane[event.lane] for event in events]
    ends = [event.time_s if event.until_s is None else event.until_s for event in events]
    return Trace(
        form.name, form.form, x, y, high=ends if form.form == "spans" else None,
        colour=form.colour, mark=form.mark, width=form.width, opacity=form.opacity,
        texts=[_told(event) for event in events],
    )  # fmt: skip


def _told(event: Event) -> str:
    """What is said of an event beside its name: what happened, where the name does not say it, and
    why."""
    detail = "" if event.kind in ("outage", "state", "timeout") else event.detail
    return ", ".join(filter(None, (detail, event.cause)))
