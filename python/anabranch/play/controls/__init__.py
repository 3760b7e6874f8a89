"""What of a scenario can be turned.

Controls are made one after the other over the scenario as it stands, so that one sees what those
before it changed: a flow that was turned to SCTP has SCTP's controls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.errors import InputError
from anabranch.play.controls import flows, library, links, whole
from anabranch.play.controls.control import Control, ControlError
from anabranch.play.document import Opened, Table
from anabranch.play.limits import MOST_CHANGES

HEADS = ("library.", "links.", "flows.")
"""What ids of controls that come and go begin with."""


@dataclass
class Turned:
    """A scenario after its controls were turned."""

    document: Table
    controls: list[Control] = field(default_factory=list)
    errors: list[ControlError] = field(default_factory=list)
    """Values that controls did not take; those controls stand as they were."""
    ignored: list[str] = field(default_factory=list)
    """Controls that the scenario does not have, such as SCTP's of a flow of TCP."""

    def values(self, resolved: Table) -> list[Table]:
        """All controls for the page, with the values in force."""
        return [control.described(control.read(resolved)) for control in self.controls]

    def beside(self, message: str) -> str:
        """The id of the control that writes the field which a message of the core is about;
        empty if there is none."""
        if "field `" not in message:
            return ""
        named = message.split("field `", 1)[1].split("`", 1)[0]
        written = [(field, control.id) for control in self.controls for field in control.fields]
        within = [each for each in written if named.startswith(each[0])]
        if within:
            return max(within, key=lambda each: len(each[0]))[1]
        return next((id for field, id in written if field.startswith(f"{named}.")), "")


def turn(opened: Opened, changes: Mapping[str, Any]) -> Turned:
    """The scenario with these values by the id of their control."""
    if len(changes) > MOST_CHANGES:
        allowed = f"at most {MOST_CHANGES}"
        raise InputError.about("playground", "changes", str(len(changes)), allowed)
    turned = Turned({})
    left = dict(changes)
    given = dict(opened.given)
    if opened.entry is not None:
        _take(turned, library.controls(opened.entry, given), left)
    turned.document = opened.document(given)
    for part in (links, flows, whole):
        _take(turned, part.controls(turned.document), left)
    for name in left:
        if not name.startswith(HEADS) and name != "duration":
            known = ", ".join(control.id for control in turned.controls)
            message = InputError.about("playground", "control", name[:80], known)
            turned.errors.append(ControlError("", str(message)))
        else:
            turned.ignored.append(name)
    return turned


def _take(turned: Turned, controls: Iterator[Control], left: dict[str, Any]) -> None:
    """Turns each control as it is made, before the next one is."""
    for control in controls:
        turned.controls.append(control)
        if control.id in left:
            try:
                control.put(control.checked(left.pop(control.id)))
            except ControlError as error:
                turned.errors.append(error)


__all__ = ["Control", "ControlError", "Turned", "turn"]
