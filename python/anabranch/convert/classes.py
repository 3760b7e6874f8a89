"""Classes of Linux's htb, as tc(8) adds them one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anabranch.convert.link import Way, second_queue


@dataclass
class Tree:
    """The classes of one device: their numbers, as `1:10`, with the fields of each."""

    classes: dict[str, dict[str, Any]] = field(default_factory=dict)
    default: str | None = None
    """The class of packets that no filter names."""

    def add(self, number: str, parent: str, fields: dict[str, Any]) -> None:
        """Adds a class below a parent, which is a class or the discipline itself."""
        below = {"parent": parent} if parent in self.classes else {}
        self.classes[number] = {"name": number, **below, **fields}

    def finish(self, place: str, way: Way, notes: list[str]) -> None:
        """Makes the queue of the link of the classes, or its rate of one that borrows nothing."""
        if not self.classes:
            return
        if way.queue is not None:
            raise second_queue(place, "htb")
        default = self.default if self.default in self.classes else None
        parents = {fields.get("parent") for fields in self.classes.values()}
        leaves = [fields for name, fields in self.classes.items() if name not in parents]
        if default is None and any("dscp" not in fields for fields in leaves):
            notes.append("Classes that neither a filter nor default names have no packets.")
        classes = {"kind": "htb", "classes": list(self.classes.values())}
        way.queue = classes | ({"default": default} if default else {})

    def only(self) -> dict[str, Any] | None:
        """The class, if there is one and it borrows nothing."""
        if len(self.classes) != 1:
            return None
        (only,) = self.classes.values()
        return None if "ceil" in only or "dscp" in only else only
