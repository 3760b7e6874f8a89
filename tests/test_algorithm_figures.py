"""What algorithms do lies on the curves of their sources, as far as their pages say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import figures_page
import judged_page
from algorithm_figures import FIGURES, response
from algorithm_figures.chart import Chart, Series
from anabranch.evaluate.field.running import built_in_windows

DOCS = Path(__file__).parents[1] / "docs"
LARGEST = 60_000
"""Octets of a figure."""
QUICK = [
    "reno",
    "scalable",
    "bic",
    "htcp",
    "hybla",
    "illinois",
    "cdg",
    "ledbat",
    "ledbat++",
    "vegas",
    "bbr",
    "bbr3",
    "dctcp",
    "mcubic-share",
]
"""Figures that take a second; `make algorithm-figures` judges all."""


@pytest.mark.parametrize("name", QUICK)
def test_points_lie_on_the_curve_of_the_source(name: str) -> None:
    chart = FIGURES[name]()
    assert chart.deviation <= chart.tolerance, chart.caption()
    page = DOCS / "algorithms" / f"{figures_page.page_of(name)}.md"
    section = figures_page.section(name, chart)
    assert section in page.read_text(encoding="utf-8"), f"make algorithm-figures NAMES={name}"


def test_every_algorithm_has_its_figure() -> None:
    assert sorted(FIGURES) == sorted(built_in_windows())
    for name in FIGURES:
        stem = figures_page.page_of(name)
        text = (DOCS / "algorithms" / f"{stem}.md").read_text(encoding="utf-8")
        assert text.count(figures_page.HEADING) == 1
        assert f"(../{figures_page.IMAGES}/{stem}.svg)" in text
        assert 1000 < (DOCS / figures_page.IMAGES / f"{stem}.svg").stat().st_size < LARGEST


def test_the_table_of_what_was_judged_is_of_these_pages() -> None:
    text = (DOCS / judged_page.PAGE).read_text(encoding="utf-8")
    assert text == judged_page.page(DOCS), "python tests/judged_page.py docs"
    assert all(f"| [`{name}`](" in text for name in FIGURES)


def chart(*points: tuple[float, float], unit: str = "") -> Chart:
    return Chart("x", "y", [Series("law", lambda x: 2 * x, points)], "y = 2 x", "tried", 0.1, unit)


def test_the_deviation_is_that_of_the_farthest_point() -> None:
    assert chart((1, 2.0), (2, 4.4), (3, 6.0)).deviation == pytest.approx(0.1)
    assert chart((1, 2.5), (10, 20.4), unit="segments").deviation == pytest.approx(0.5)
    assert "deviation: 25 % (allowed: 10 %)." in chart((1, 2.5)).caption()
    assert "0.5 segments (allowed: 0.1 segments)" in chart((1, 2.5), unit="segments").caption()


def test_no_line_of_a_caption_begins_with_a_sign() -> None:
    for width in range(40):  # the signs come to any place of a line
        odd = Chart("x", "y", chart((1, 2)).series, "w" * width + " + 1 - 2" * 40, "", 0.1)
        lines = figures_page.section("odd", odd).splitlines()
        assert not [line for line in lines if line.startswith(("+", "-", "*"))]


def test_the_closed_forms() -> None:
    assert doctest.testmod(response).failed == 0
    assert doctest.testmod(figures_page).failed == 0
    assert response.RENO.with_recovery(1e-4) / response.RENO.mean(1e-4) == pytest.approx(
        0.99, abs=0.01
    )


def test_a_figure_is_drawn_and_one_off_the_curve_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tmp_path / "algorithms"
    pages.mkdir()
    (pages / "reno.md").write_text("# Reno\n\n## Choices\n\n- none\n", encoding="utf-8")
    monkeypatch.setitem(FIGURES, "reno", lambda: chart((1, 2.0), (2, 4.1)))
    figures_page.main(tmp_path, ["reno"])
    text = (pages / "reno.md").read_text(encoding="utf-8")
    assert "Largest deviation: 2.5 %" in text
    assert (tmp_path / figures_page.IMAGES / "reno.svg").read_bytes().startswith(b"<?xml")
    figures_page.main(tmp_path, ["reno"])
    assert (pages / "reno.md").read_text(encoding="utf-8") == text
    monkeypatch.setitem(FIGURES, "reno", lambda: chart((1, 3.0)))
    with pytest.raises(SystemExit, match=r"too far from the source's curve.*50 %"):
        figures_page.main(tmp_path, ["reno"])
    with pytest.raises(SystemExit, match=r"renoo: no figure of this name.* reno"):
        figures_page.main(tmp_path, ["renoo"])
