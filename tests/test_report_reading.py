"""Reports as people read them: every width, light, dark, on paper, and with a screen reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from anabranch import comparison, report, tables
from anabranch.experiment import Scenario
from anabranch.looks import Plot
from anabranch.report.overlay import write_overlay
from anabranch.report.study import write_study_report
from anabranch.rows import plain
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.live import Further, LiveOutcome
from anabranch.studies.results import StudyResult
from anabranch.sweep import Parameter, Replications, Sweep
from anabranch.trials.worlds import Timing
from anabranch.verdicts import Claim, Statement, near
from browser import browser
from conftest import TWO_HOSTS

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    yield from browser()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of each kind, two runs over each other among them."""
    place = tmp_path_factory.mktemp("pages")
    (place / "run").mkdir()
    scenario = Scenario(TWO_HOSTS)
    run = scenario.explored().run(seed=3)
    report.write_run_report(place / "run", "two hosts", run)
    windows = Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"])
    sizes = Parameter.of("size", "flows.f.size", ["20 kB", "40 kB"])
    swept = Sweep(scenario, [windows, sizes], Replications.exactly(3)).run(place / "sweep")
    report.write_sweep_report(place / "sweep", "windows", swept)
    rows = comparison.compared({"delay": "2 ms"}, [run, run], [run, run])
    (place / "compare").mkdir()
    found = comparison.Comparison(rows, [], [], 0)
    report.write_comparison_report(place / "compare", "a", found, 2)
    _study(place / "studies")
    for seed, folder in enumerate((place / "a", place / "b")):
        folder.mkdir()
        other = scenario.explored().run(seed=seed)
        tables.write_run(folder, other)
        facts = json.dumps(other.run, default=plain)
        (folder / "run.json").write_text(facts, encoding="utf-8")
    write_overlay(place / "overlay", [place / "a", place / "b"])
    return {
        "overlay": place / "overlay/report.html",
        "run": place / "run/report.html",
        "sweep": place / "sweep/report.html",
        "compare": place / "compare/report.html",
        "overview": place / "studies/report.html",
        "study": place / "studies/mcubic/report.html",
    }


def _study(place: Path) -> None:
    points = [
        {"series": name, "x": x, "mean": x, "ci_low": x - 0.5, "ci_high": x + 0.5, "n": 5}
        for name in ("one", "two")
        for x in (1, 2, 3)
    ]
    figures = [
        drawing.points(place / "mcubic", stem, points, Plot(stem, "x", "y"), f"{stem}.")
        for stem in ("first", "second", "third")
    ]
    figures[1] = replace(figures[1], claims=("C1",))
    measured = Estimate(6.0, 5.75, 6.25, 3)
    statements = [Statement.of(f"rounds of {n}", measured, near(n, 0.5)) for n in (6, 7, 6.6)]
    claims = [Claim(f"C{n}", "It is six.", statements, "A note.") for n in (1, 2)]
    StudyResult(
        "mcubic", "A study", "Somebody 2001", "Is it?", "It is.", "quick", claims, figures,
        ["a choice"], ["a finding"], "hosts = []", {"seed": 1}, "first",
    ).save(place / "mcubic")  # fmt: skip
    timing = Timing("batch-00", 3, 1, 1000, 3e-5, 1e-4, 1e-3, 1e-3, ("one was late",))
    LiveOutcome(
        "mcubic", True, "Ours to a kernel's.", ["A tenth of the rates."], {"R": "too long"},
        claims, claims, [timing],
        [Further("kernel", "Kernels at both ends.", claims, [timing])],
    ).save(place / "mcubic")  # fmt: skip
    write_study_report(place)


KINDS = ("run", "overlay", "sweep", "compare", "overview", "study")
WIDTHS = (390, 768, 1400)
NARROW = 320
BROKEN = """() => [...document.querySelectorAll('[data-chart]')].filter((figure) => {
  const canvas = figure.querySelector('canvas');
  if (!canvas || !canvas.width) return true;
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i]) return false;
  return true;
}).length"""


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_wider_than_its_screen(chromium: Any, pages: dict[str, Path], kind: str) -> None:
    for width in (NARROW, *WIDTHS):
        context = chromium.new_context(viewport={"width": width, "height": 900})
        tab = context.new_page()
        tab.goto(pages[kind].as_uri())
        tab.wait_for_selector("html[data-ready]")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        for details in tab.locator("details").all():
            details.evaluate("(it) => { it.open = true; }")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(chromium: Any, pages: dict[str, Path], kind: str, scheme: str) -> None:
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    for width in WIDTHS:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="light" if scheme == "print" else scheme,
            bypass_csp=True,
        )
        tab = context.new_page()
        tab.goto(pages[kind].as_uri())
        tab.wait_for_selector("html[data-ready]")
        for details in tab.locator("details").all():
            details.evaluate("(it) => { it.open = true; }")
        if scheme == "print":
            tab.emulate_media(media="print")
            tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        tab.evaluate(axe)
        found = tab.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        told = [(each["impact"], each["id"], each["nodes"][0]["html"]) for each in found]
        assert told == []
        context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_paper_has_every_chart(chromium: Any, pages: dict[str, Path], kind: str) -> None:
    """Without a reader who scrolls, also those that are folded away."""
    context = chromium.new_context(viewport={"width": 1000, "height": 600})
    tab = context.new_page()
    tab.goto(pages[kind].as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.locator("[data-chart]").count() >= 1
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.wait_for_timeout(150)
    assert tab.evaluate(BROKEN) == 0
    assert tab.locator("details:not([open])").count() == 0
    assert tab.evaluate("getComputedStyle(document.querySelector('header')).display") == "none"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    context.close()


def test_on_a_phone_a_sweep_is_its_figures(chromium: Any, pages: dict[str, Path]) -> None:
    """Its rows, each a card there, are folded; where they have room they are open."""
    heights = {}
    for width in (390, 1400):
        context = chromium.new_context(viewport={"width": width, "height": 844})
        tab = context.new_page()
        tab.goto(pages["sweep"].as_uri())
        tab.wait_for_selector("html[data-ready]")
        table = tab.locator("table").last
        assert table.is_visible() == (width == 1400)
        heights[width] = tab.evaluate("document.documentElement.scrollHeight")
        if width == 390:
            tab.locator("details.wide summary").last.click()
            assert table.is_visible()
            assert tab.evaluate("document.documentElement.scrollHeight") > 1.3 * heights[width]
        context.close()


def test_on_a_phone_a_study_begins_with_its_claims(chromium: Any, pages: dict[str, Path]) -> None:
    """The first stands on the first screen, with each verdict beside the picture of its number."""
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    tab = context.new_page()
    tab.goto(pages["study"].as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.locator(".claim").first.bounding_box()["y"] < 600
    numbers = tab.locator(".claim > .measures dd").all()
    assert len(numbers) == tab.locator(".claim").count() == 2
    for number in numbers:
        picture, verdict = (number.locator(each).bounding_box() for each in (".bullet", ".verdict"))
        assert verdict["x"] > picture["x"] + picture["width"]
        assert abs(verdict["y"] - picture["y"]) < 12
    context.close()


def test_on_a_phone_a_claim_is_its_verdict_and_its_number(
    chromium: Any, pages: dict[str, Path]
) -> None:
    """The number is one that says why it does not hold; its figures and its other numbers are a
    tap away. Where there is room, they stand open, as on paper."""
    for width, scheme in ((390, "screen"), (1400, "screen"), (390, "print")):
        context = chromium.new_context(viewport={"width": width, "height": 844})
        tab = context.new_page()
        tab.goto(pages["study"].as_uri())
        tab.wait_for_selector("html[data-ready]")
        claim = tab.locator("#C1")
        first = claim.locator(".measures").first
        assert "rounds of 7" in first.inner_text() and "does not hold" in first.inner_text()
        closed = tab.locator("details:not([open])").count()
        if scheme == "print":
            tab.emulate_media(media="print")
            tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        phone = (width, scheme) == (390, "screen")
        assert (claim.bounding_box()["height"] < 300) == phone
        for name, inside in (("2 more", ".measures"), ("Figure", "figure")):
            part = claim.locator("details", has=tab.locator("summary", has_text=name))
            assert part.count() == 1, name
            assert part.locator(inside).is_visible() != phone, name
            assert part.locator("summary").is_visible() == phone, name
            if phone:
                part.locator("summary").click()
                assert part.locator(inside).is_visible()
                assert part.bounding_box()["width"] > 300
        tab.wait_for_timeout(150)
        assert claim.locator("canvas").bounding_box()["width"] > 250
        if scheme == "print":
            tab.evaluate("dispatchEvent(new Event('afterprint'))")
            assert tab.locator("details:not([open])").count() == closed > 0
        context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_alone_says_which_files_its_links_need(
    chromium: Any, pages: dict[str, Path], kind: str
) -> None:
    """A copy that was mailed: each link to another file has the file's place beside it."""
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(pages[kind].as_uri())
    shown = tab.locator("main").inner_text()
    links = [link.get_attribute("href") for link in tab.locator("main a").all()]
    places = {link.partition("#")[0] for link in links} - {""}
    assert all(f"({place})" in shown for place in places), places
    assert bool(places) == (kind in ("run", "sweep", "overview", "study"))
    context.close()


def test_links_between_pages_lead_to_claims(chromium: Any, pages: dict[str, Path]) -> None:
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(pages["overview"].as_uri())
    tab.locator(".strip a").nth(1).click()
    tab.wait_for_selector("html[data-ready]")
    assert tab.url.endswith("mcubic/report.html#C2")
    assert tab.locator("#C2 .bullet").count() == 3
    context.close()


def test_fingers_are_told_what_fingers_do(chromium: Any, pages: dict[str, Path]) -> None:
    for touch in (False, True):
        context = chromium.new_context(has_touch=touch, is_mobile=touch)
        tab = context.new_page()
        tab.goto(pages["run"].as_uri())
        told = tab.locator(".keys summary").inner_text()
        assert told.startswith("One finger moves" if touch else "Drag over a chart"), told
        context.close()


LONG_NAMES = """
hosts = [
  { name = "server", interfaces = ["ethernet"] },
  { name = "phone", interfaces = ["wifi", "lte"] },
]
links = [
  { name = "wifi", ends = ["server.ethernet", "phone.wifi"], rate = "5 Mbit/s", delay = "10 ms" },
  { name = "lte", ends = ["server.ethernet", "phone.lte"], rate = "5 Mbit/s", delay = "20 ms" },
]
[[flows]]
name = "download"
from = "server"
to = "phone"
protocol = "sctp"
size = "400 kB"
"""


def test_names_of_lanes_leave_room_for_what_happened(chromium: Any, tmp_path: Path) -> None:
    """On a narrow screen they stand above their lanes, on a wide one beside them."""
    report.write_run_report(tmp_path, "a phone", Scenario(LONG_NAMES).explored().run())
    for width in (NARROW, *WIDTHS):
        context = chromium.new_context(viewport={"width": width, "height": 900})
        tab = context.new_page()
        tab.goto((tmp_path / "report.html").as_uri())
        tab.wait_for_selector("html[data-ready]")
        tab.wait_for_timeout(60)  # drawn in the next frame
        figure = tab.locator("figure").first
        assert figure.locator(".title").text_content() == "Timeline"
        wide, ticks = (
            int(figure.locator(".plot").get_attribute(f"data-{name}")) for name in ("wide", "ticks")
        )
        assert wide > (0.7 if width < 700 else 0.5) * width
        assert ticks >= 3
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        context.close()
