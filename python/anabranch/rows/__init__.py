"""The rows of results: a class for each table, a field for each column.

`result.flows[0].goodput_bps` is what an editor completes and what a type checker checks. A row is
also a read-only mapping from the names of its columns, so that `row["goodput_bps"]`, `dict(row)`
and whatever takes a mapping go on to work: a program that is given the name of a column (a metric
of a sweep, the header of a CSV file) needs that, and so does the column `from`, which as an
attribute is `from_`. Rows are frozen; `dataclasses.replace` makes a changed one.

Fields that end in `_s` are seconds, in `_bps` bits per second; `bytes` are octets.
"""

from __future__ import annotations

from anabranch.rows.facts import Capture, Facts, Interface, Run
from anabranch.rows.flows import CapturedFlow, Flow, FlowEvent, Path, Transfer
from anabranch.rows.hosts import Attack, Listener, Memory
from anabranch.rows.live import Control, Lateness, LiveFacts, Port, Program, Script
from anabranch.rows.network import Line, Link, Regulator
from anabranch.rows.row import Cell, CsvRow, Row, plain
from anabranch.rows.traffic import Call, Datagrams, Load, Message, Ping, Video

__all__ = [
    "Attack",
    "Call",
    "Capture",
    "CapturedFlow",
    "Cell",
    "Control",
    "CsvRow",
    "Datagrams",
    "Facts",
    "Flow",
    "FlowEvent",
    "Interface",
    "Lateness",
    "Line",
    "Link",
    "Listener",
    "LiveFacts",
    "Load",
    "Memory",
    "Message",
    "Path",
    "Ping",
    "Port",
    "Program",
    "Regulator",
    "Row",
    "Run",
    "Script",
    "Transfer",
    "Video",
    "plain",
]
