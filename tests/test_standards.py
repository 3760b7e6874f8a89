"""The tables of requirements: all that rows name exists, and the pages are what the files say."""

from __future__ import annotations

from pathlib import Path

import pytest

import standards
from standards import Requirement, Standard


def test_the_tables_are_sound() -> None:
    tables = standards.everything()
    assert tables
    assert [fault for table in tables for fault in standards.defects(table)] == []


def test_the_pages_are_written_from_the_tables() -> None:
    for path, text in standards.pages(standards.everything()).items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run `make standards`"


@pytest.mark.parametrize(
    ("place", "lacking"),
    [
        ("tests/standards.py::Requirement", None),
        ("tests/standards.py::Requirement::order", None),
        ("crates/units/src/serial.rs::Serial32", None),
        ("crates/units/src/serial.rs::Serial33", "defines no Serial33"),
        ("crates/units/src/serious.rs::Serial32", "there is no file"),
    ],
)
def test_places_are_looked_up(place: str, lacking: str | None) -> None:
    found = standards.lacks(place)
    assert found is None if lacking is None else lacking in (found or "")


def test_what_is_wrong_with_a_row_is_told() -> None:
    def faults(*rows: Requirement) -> list[str]:
        return list(standards.defects(Standard(Path("rfc1.toml"), "RFC 1", list(rows))))

    place = ["tests/standards.py::Requirement"]
    good = Requirement("1.2-1", "MUST", "It is.", "met", place, place)
    assert faults(good) == []
    assert faults(good, Requirement("1.10-1", "MUST", "It is.", "met", place, place)) == []
    assert "out of order" in faults(good, good)[0]
    assert (
        "out of order" in faults(Requirement("A-1", "rule", "It is.", "met", place, place), good)[0]
    )
    assert "level" in faults(Requirement("1-1", "OUGHT", "It is.", "met", place, place))[0]
    assert "without a reason" in faults(Requirement("1-1", "MUST", "It is.", "missing"))[0]


def test_sentences_with_a_keyword_are_counted(tmp_path: Path) -> None:
    plain = tmp_path / "rfc1.txt"
    plain.write_text(
        "1.  First\n\n   A host MUST do it.  It is so.\n\n1.1.  Within\n\n   It MAY\n   rest. It"
        " SHOULD not.\n",
        encoding="utf-8",
    )
    assert standards.sentences(plain) == {"1": 1, "1.1": 2}
    xml = tmp_path / "rfc2.xml"
    xml.write_text(
        "<rfc><middle><section><name>A</name><t>It <bcp14>MUST</bcp14> go.</t>"
        "<section><t>It MAY.</t></section></section></middle></rfc>",
        encoding="utf-8",
    )
    assert standards.sentences(xml) == {"1": 1, "1.1": 1}
    markdown = tmp_path / "rfc3.md"
    markdown.write_text("--- middle\n\n# A\n\nIt MUST.\n\n## B\n\nIt MAY. It SHOULD.\n# C\nIs.\n")
    assert standards.sentences(markdown) == {"1": 1, "1.1": 2, "2": 0}
