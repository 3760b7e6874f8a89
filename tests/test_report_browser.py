"""Reports in a real browser: zooming, switching, keyboard, dark mode, a phone, offline."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from anabranch import comparison, report
from anabranch.experiment import RunResult, Scenario
from anabranch.looks import Plot
from anabranch.report.cells import Shown
from anabranch.report.charts import Chart, Trace
from anabranch.report.lanes import timeline_chart
from anabranch.report.page import Charts, render
from anabranch.report.study import write_study_report
from anabranch.report.sweep import sweep_charts
from anabranch.stats import Estimate
from anabranch.studies import drawing
from anabranch.studies.results import StudyResult
from anabranch.sweep import Parameter, Sweep
from anabranch.tables import write_run
from anabranch.timeline import Event
from anabranch.verdicts import Claim, Statement, near
from browser import Page, browser, opened
from conftest import TWO_HOSTS

pytestmark = pytest.mark.needs("chromium")

TEN_FLOWS = """
[[flows]]
name = "more"
from = "a"
to = "b"
size = "20 kB"
start = "0.1 s"
count = 10
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    yield from browser()


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    """The folder and the result of a run with everything that the explorer shows."""
    directory = tmp_path_factory.mktemp("run")
    scenario = Scenario(TWO_HOSTS + TEN_FLOWS).explored()
    result = scenario.run(seed=3, pcap=directory / "capture.pcapng")
    write_run(directory, result)
    report.write_run_report(directory, "two hosts", result)
    return directory, result


@pytest.fixture(scope="module")
def run_page(explored: tuple[Path, RunResult]) -> Path:
    """Its report."""
    return explored[0] / "report.html"


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study with a figure of points."""
    directory = tmp_path_factory.mktemp("study")
    folder = directory / "sack-recovery"
    rows = [
        {"series": name, "x": x, "mean": x * k, "ci_low": x * k - 1, "ci_high": x * k + 1, "n": 5}
        for k, name in enumerate(("one", "two"), 1)
        for x in (1, 10, 100)
    ]
    plot = Plot("Points", "loss", "rate", log="xy")
    figure = drawing.points(folder, "points", rows, plot, "A figure <of> points.")
    measured = Estimate(6.0, 5.75, 6.25, 3)
    claims = [
        Claim(f"C{n}", "It is six.", [Statement.of("rounds", measured, near(6, 0.5))], "")
        for n in range(1, 13)
    ]
    StudyResult(
        "sack-recovery", "A study", "Somebody 2001", "Is it?", "It is.", "quick", claims, [figure],
        ["a choice"], ["a finding"], "hosts = []", {"seed": 1},
    ).save(folder)  # fmt: skip
    write_study_report(directory)
    return folder / "report.html"


LABELS = """() => {
  const [draw, found] = [CanvasRenderingContext2D.prototype.fillText, []];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { a, b, c, d, e, f } = this.getTransform();
    const length = Math.hypot(a, b);
    // In the frame of the text: where it begins, and where its middle line is.
    const [px, py] = [a * x + c * y + e, b * x + d * y + f];
    const wide = this.measureText(text).width;
    const before = { left: 0, center: wide / 2, right: wide }[this.textAlign];
    const from = (px * a + py * b) / length - before;
    const angle = Math.round(Math.atan2(b, a) * 180 / Math.PI);
    const { chart } = this.canvas.closest("[data-chart]").dataset;
    found.push({ chart, text, angle, from, to: from + wide, at: (py * a - px * b) / length });
    return draw.apply(this, arguments);
  };
  document.getElementById("theme").click();
  return new Promise((done) => setTimeout(() => done(found), 100));
}"""
"""All texts that charts draw, each with its chart, angle and place."""


@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize(
    ("values", "angle"),
    [
        (["reno", "cubic"], 0),
        (["reno with words that are broken", "cubic"], None),
        (["a-word-that-nothing-breaks-and-too-long-to-slant"] * 4, -90),
        ([f"value-{n}" for n in range(30)], -45),
    ],
)
def test_names_of_an_axis_do_not_touch(
    chromium: Any, tmp_path: Path, width: int, values: list[str], angle: int | None
) -> None:
    estimate = Estimate(6.0, 5.75, 6.25, 3)
    rows = [
        comparison.Row({"window": value}, flow, "goodput Mbit/s", estimate, estimate, estimate)
        for value in values
        for flow in ("f", "g")
    ]
    found = comparison.Comparison(rows, [], [], 0)
    report.write_comparison_report(tmp_path, "a", found, 3)
    with opened(chromium, tmp_path / "report.html", width=width) as page:
        page.tab.locator('[data-chart="0"]').scroll_into_view_if_needed()
        page.tab.wait_for_selector('[data-chart="0"] canvas')
        words = {word for value in values for word in f"{value}, f g".split()}
        labels = [each for each in page.tab.evaluate(LABELS) if each["chart"] == "0"]
        drawn = [each for each in labels if words & set(each["text"].split())]
        assert len(drawn) > 2
        assert {each["angle"] for each in drawn} == {angle} or angle is None
        assert all(each["from"] > 0 for each in drawn if not each["angle"])
        for a, b in combinations(drawn, 2):
            beside = min(a["to"], b["to"]) <= max(a["from"], b["from"])
            assert beside or abs(a["at"] - b["at"]) >= 12, (a, b)
        # On a phone the table is folded, as the chart says it.
        assert page.tab.get_by_role("region", name="all measures").is_visible() == (
            width > 640 or len(rows) <= 4
        )


def view(page: Page, chart: int = 0) -> tuple[float, ...]:
    """The visible range of a chart: in x, in y."""
    plot = page.tab.locator(f'[data-chart="{chart}"] .plot')
    x, y = plot.get_attribute("data-x"), plot.get_attribute("data-y")
    return tuple(float(value) for value in f"{x} {y}".split())


def ink(page: Page, chart: int = 0) -> str:
    """A chart's pixels as a PNG."""
    page.tab.wait_for_timeout(60)  # drawn in the next frame
    script = "(at) => document.querySelector(`[data-chart='${at}'] canvas`).toDataURL()"
    return str(page.tab.evaluate(script, chart))


def test_dragging_zooms_all_charts_of_a_run(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page) as page:
        before, other, drawn = view(page), view(page, 1), ink(page)
        over = page.tab.locator('[data-chart="0"] .u-over')
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        page.tab.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 100)
        page.tab.mouse.down()
        page.tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 102, steps=4)
        page.tab.mouse.up()
        after = view(page)
        width = before[1] - before[0]
        assert after[0] == pytest.approx(before[0] + width * 0.25, abs=width * 0.01)
        assert after[1] == pytest.approx(before[0] + width * 0.5, abs=width * 0.01)
        assert after[3] - after[2] < before[3] - before[2]  # the height fits what is left
        assert view(page, 1)[:2] == after[:2] != other[:2]
        assert ink(page) != drawn
        assert page.tab.locator('[data-chart="0"] .readout').text_content()
        over.dblclick()
        assert view(page) == before
        assert ink(page) == drawn


def test_names_of_lanes_are_whole(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page, width=1300) as page:
        names = [each for each in page.tab.evaluate(LABELS) if each["text"].endswith("(at b)")]
        assert names and all(each["from"] >= 0 for each in names)


def test_series_switch_off_and_on(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page) as page:
        drawn = ink(page)
        chart = page.tab.locator('[data-chart="0"]')
        chart.locator("select").select_option("f")
        one = ink(page)
        assert one != drawn
        button = chart.locator('.legend button:has-text("f: lost")')
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
        without = ink(page)
        assert without != one
        button.click()
        assert ink(page) == one
        button.dblclick()
        pressed = chart.locator('.legend button[aria-pressed="true"]')
        assert pressed.count() == 1
        assert pressed.text_content() == "f: lost"


def test_the_legend_names_each_flow_once(chromium: Any, run_page: Path) -> None:
    """A row of switches for each; those who hear them hear the whole name."""
    with opened(chromium, run_page) as page:
        rows = page.tab.locator('[data-chart="0"] .legend .row')
        assert rows.count() == 11
        buttons = rows.first.locator("button")
        shown = [each.inner_text().splitlines()[-1] for each in buttons.all()]
        assert "sent" in shown[0] and buttons.count() == 6
        assert buttons.first.bounding_box()["width"] < 120
        flow = rows.first.locator("span").first.text_content()
        name = f"{flow}: sent again"
        assert rows.first.get_by_role("button", name=name, exact=True).count() == 1


def test_a_legend_says_what_no_title_says(chromium: Any, tmp_path: Path) -> None:
    losses = Parameter.of("loss", "links.0.impairments.0.rate", [0.01, 0.02])
    windows = Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic"])
    for parameters, legend in (([losses], ""), ([losses, windows], "window:renocubic")):
        out = tmp_path / str(len(parameters))
        result = Sweep(Scenario(TWO_HOSTS).set("flows.f.size=30 kB"), parameters).run(out)
        report.write_sweep_report(out, "a", result)
        with opened(chromium, out / "report.html", width=390) as page:
            page.tab.wait_for_selector('[data-chart="0"] canvas')
            assert page.tab.locator(".legend").first.text_content() == legend


def written(directory: Path, drawn: list[Chart]) -> Path:
    """A page with these charts."""
    charts = Charts()
    numbers = [charts.add(chart) for chart in drawn]
    table = Shown("flows side by side", [], [])
    parts = {"names": ["a"], "table": table, "happened": [], "numbers": numbers}
    file = directory / "report.html"
    file.write_text(render("overlay.html.j2", charts, **parts), encoding="utf-8")
    return file


def at_cursor(page: Page, chart: int, x: float, *, y: float = 0.5) -> str:
    """What is read where the mouse is: at a value of x, at so much of the height from above."""
    low, high, *_ = view(page, chart)
    over = page.tab.locator(f'[data-chart="{chart}"] .u-over')
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    left = box["x"] + box["width"] * (x - low) / (high - low)
    page.tab.mouse.move(left, box["y"] + box["height"] * y)
    return str(page.tab.locator(f'[data-chart="{chart}"] .readout').text_content())


def test_a_timeline_says_what_holds_at_the_cursor(chromium: Any, tmp_path: Path) -> None:
    """Bars that contain it, and events beside it with their causes: nothing that is over."""
    events = [
        Event(0.0, 60.0, "f", "flow", "1.00 MB, complete"),
        Event(0.0, None, "f", "handshake", "INIT sent"),
        Event(10.0, 25.0, "primary", "outage", "carries nothing"),
        Event(20.0, None, "f.p", "timeout", "timeout", "a", "after 1.000 s, 1 error in a row"),
        Event(30.0, 40.0, "f.q", "data", "9 packets of new data"),
    ]
    chart = timeline_chart(events, 60.0, "")
    assert chart is not None
    with opened(chromium, written(tmp_path, [chart])) as opening:
        found = at_cursor(opening, 0, 31.65)
        assert found.startswith("31.6")
        assert "f: flow lasts 0 to 60 s (1.00 MB, complete)" in found
        assert "f.q: new data sent 30 to 40 s (9 packets of new data)" in found
        assert not any(word in found for word in ("outage", "handshake", "timeout"))
        found = at_cursor(opening, 0, 20.0)
        assert "primary: outage 10 to 25 s" in found
        assert "f.p: timeout at 20 s (after 1.000 s, 1 error in a row)" in found
        assert "new data" not in found


def test_points_are_read_where_they_are(chromium: Any, tmp_path: Path) -> None:
    """With unit and interval, at the point that is nearest; columns by their names."""
    estimate = [
        {"loss": x, "window": w, "metric": "goodput", "mean": m * 1e6, "ci_low": m * 1e6 - 3e5,
         "ci_high": m * 1e6 + 2.9e5, "n": 3}
        for x in (0.1, 1.0)
        for w, m in (("reno", 9.068225 / x), ("cubic", 8.794349 / x))
    ]  # fmt: skip
    unit = {"goodput": "bit/s"}
    named = [row | {"loss": "low"} for row in estimate[:2]]
    drawn = sweep_charts(["loss", "window"], estimate, unit)
    drawn += sweep_charts(["loss", "window"], named, unit)
    with opened(chromium, written(tmp_path, drawn)) as opening:
        opening.tab.wait_for_selector('[data-chart="1"] canvas')
        found = at_cursor(opening, 0, 0.433)
        cubic = "cubic 87.94 (87.64 to 88.23) Mbit/s"
        assert found == f"0.1: reno 90.68 (90.38 to 90.97) Mbit/s, {cubic}"
        assert at_cursor(opening, 0, 0.9).startswith("1: reno 9.07 (8.77 to 9.36) Mbit/s")
        assert at_cursor(opening, 1, 0.2) == "reno: goodput 90.68 (90.38 to 90.97) Mbit/s"


def test_columns_beyond_the_colours_are_hatched(chromium: Any, tmp_path: Path) -> None:
    rows = [
        {"queue": q, "window": f"w{n}", "metric": "m", "mean": 5.0, "ci_low": 4.0, "ci_high": 6.0}
        for q in ("red", "pie")
        for n in range(9)
    ]
    (chart,) = sweep_charts(["queue", "window"], rows, {})
    assert [trace.dash > 0 for trace in chart.traces] == [False] * 7 + [True] * 2
    with opened(chromium, written(tmp_path, [chart])) as opening:
        opening.tab.wait_for_selector('[data-chart="0"] canvas')
        keys = opening.tab.locator(".legend .swatch").all()
        assert [each.locator("path").count() for each in keys] == [0] * 7 + [1] * 2


@pytest.mark.parametrize("width", [390, 1300])
def test_names_of_axes_are_whole(chromium: Any, tmp_path: Path, width: int) -> None:
    """A name that is longer than its axis stands beside the chart."""
    long = "model over measurement - 1, of every flow that has finished (%)"
    short = "window (kB)"
    charts = [Chart("a", x, y, [Trace("f", "line", [0, 1], [0, 1])]) for x, y in
              ((long, short), (short, long))]  # fmt: skip
    with opened(chromium, written(tmp_path, charts), width=width) as page:
        page.tab.wait_for_selector('[data-chart="1"] canvas')
        drawn = {(each["chart"], each["text"]) for each in page.tab.evaluate(LABELS)}
        told = {each.text_content() for each in page.tab.locator(".axis:visible").all()}
        assert {("0", short), ("1", short)} <= drawn
        assert ("1", long) not in drawn and told == {long}
        assert (("0", long) in drawn) == (width == 1300)


def test_the_hint_begins_with_what_the_reader_has(chromium: Any, run_page: Path) -> None:
    for width, first in ((390, "A tap reads values."), (1300, "With the keyboard")):
        with opened(chromium, run_page, width=width) as page:
            page.tab.locator(".keys summary").click()
            shown = page.tab.locator(".keys p:visible").all_text_contents()
            assert shown[0].startswith(first)
            assert any("Ctrl" in each for each in shown) == (width == 1300)


def test_curves_are_read_with_units(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page) as page:
        titles = page.tab.locator(".explorer .title").all_text_contents()
        at = titles.index("Smoothed round-trip times")
        found = at_cursor(page, at, sum(view(page, at)[:2]) / 2)
        where, _, values = found.partition(": ")
        assert where.endswith(" s") and len(where) < 9
        assert values.split(", ")[0].endswith(" ms")


def test_the_hint_of_the_filter_is_whole(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page, width=390) as page:
        script = """(it) => {
          const ruler = document.createElement("canvas").getContext("2d");
          const style = getComputedStyle(it);
          ruler.font = style.font;
          const air = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
          return it.clientWidth - air - ruler.measureText(it.placeholder).width;
        }"""
        assert page.tab.locator(".filter input").first.evaluate(script) >= 0


def test_every_loss_is_there(chromium: Any, explored: tuple[Path, RunResult]) -> None:
    directory, result = explored
    lost = sum(
        len(each["value"]) for name, each in result.series.items() if name.endswith(".drops")
    )
    dropped = sum(link["dropped_loss"] + link["dropped_queue"] for link in result.links)
    assert 0 < lost <= dropped  # a SYN or an ACK that is lost carries no data
    with opened(chromium, directory / "report.html") as page:
        script = """() => JSON.parse(document.getElementById("charts").textContent)[0].traces
            .filter((it) => it.name.endsWith("lost")).map((it) => atob(it.x.slice(3)).length / 8)"""
        assert sum(page.tab.evaluate(script)) == lost


def test_everything_by_keyboard(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page) as page:
        tab = page.tab
        for _ in range(90):  # the timeline comes before
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.matches('[data-chart=\"0\"] .plot')"):
                break
        else:
            pytest.fail("the tabulator does not reach a chart")
        home = view(page)
        tab.keyboard.press("+")
        zoomed = view(page)
        assert zoomed[1] - zoomed[0] == pytest.approx((home[1] - home[0]) / 1.6)
        tab.keyboard.press("ArrowRight")
        assert view(page)[0] > zoomed[0]
        tab.keyboard.press("ArrowUp")
        assert view(page)[2] > zoomed[2]
        tab.keyboard.press(".")
        assert tab.locator('[data-chart="0"] .readout').text_content()
        tab.keyboard.press("0")
        assert view(page) == home
        theme = tab.locator("#theme")
        theme.focus()
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


CONTRAST = """() => {
  const linear = (v) => (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  const light = (text) => {
    const [r, g, b] = text.match(/[0-9.]+/g).slice(0, 3).map((v) => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => {
    const [more, less] = [light(a), light(b)].sort((p, q) => q - p);
    return (more + .05) / (less + .05);
  };
  const probe = document.body.appendChild(document.createElement("span"));
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {};
  for (const back of ["paper", "card"])
    for (const name of "ink soft link yes part no c0 c1 c2 c3 c4 c5 c6".split(" "))
      found[`${name} on ${back}`] = ratio(colour(name), colour(back));
  return [getComputedStyle(document.body).backgroundColor, found];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(chromium: Any, run_page: Path, scheme: str) -> None:
    """WCAG 2.1 §1.4.3 and §1.4.11: 4.5 for text, 3 for what charts draw."""
    with opened(chromium, run_page, scheme=scheme) as page:
        paper, ratios = page.tab.evaluate(CONTRAST)
        assert (paper == "rgb(251, 250, 247)") == (scheme == "light")
        for name, ratio in ratios.items():
            assert ratio >= (3 if name.startswith("c") else 4.5), (name, ratio)


def test_the_switch_redraws_and_is_remembered(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page) as page:
        drawn = ink(page)
        page.tab.click("#theme")
        assert ink(page) != drawn
        assert page.tab.locator("#theme").text_content() == "Light"
        page.tab.reload()
        page.tab.wait_for_selector("html[data-ready]")
        assert page.tab.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("which", ["run_page", "study_page"])
def test_a_phone_scrolls_one_way(chromium: Any, which: str, request: pytest.FixtureRequest) -> None:
    with opened(chromium, request.getfixturevalue(which), width=375) as page:
        page.tab.mouse.wheel(0, 5000)
        page.tab.wait_for_timeout(100)
        assert page.tab.evaluate("document.documentElement.scrollWidth") == 375
        small = """() => [...document.querySelectorAll("main button, header button")]
          .filter((it) => it.offsetParent)
          .filter((it) => it.getBoundingClientRect().height < 24).length"""  # WCAG 2.2 §2.5.8
        assert page.tab.evaluate(small) == 0


def test_tables_sort_and_filter(chromium: Any, run_page: Path) -> None:
    with opened(chromium, run_page) as page:
        table = page.tab.get_by_role("region", name="flows", exact=True).locator("table")
        names = table.locator("thead th").all_text_contents()
        column = names.index("bytes received") + 1
        head = table.locator(f"thead th:nth-child({column})")

        def cells() -> list[str]:
            found = table.locator(f"tbody tr:not([hidden]) td:nth-child({column})")
            return list(found.all_text_contents())

        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        assert cells() == ["20.00 kB"] * 10 + ["300.0 kB"]  # as numbers, not as texts
        head.locator("button").press("Enter")
        assert cells()[0] == "300.0 kB"
        page.tab.locator(".filter input").first.fill("300.0 kB")
        assert cells() == ["300.0 kB"]


def test_a_logarithmic_axis_ends_where_its_data_end(chromium: Any, study_page: Path) -> None:
    with opened(chromium, study_page) as page:
        page.tab.get_by_text("1 of no single claim").click()
        page.tab.wait_for_selector('[data-chart="0"] canvas')
        texts = {each["text"] for each in page.tab.evaluate(LABELS)}
        assert {"1", "10", "100", "2", "50"} <= texts
        assert not {"0.1", "1k"} & texts
        for _ in range(12):  # far into a decade there are numbers, too
            page.tab.locator('[data-chart="0"] .plot').press("+")
            ticks = page.tab.locator('[data-chart="0"] .plot').get_attribute("data-ticks")
            assert int(ticks) >= 2


def test_a_quick_study_says_so(study_page: Path) -> None:
    for file in (study_page, study_page.parents[1] / "report.html"):
        page = file.read_text(encoding="utf-8")
        assert "verdicts may differ from the published ones" in page
        assert "Marks of claims:" in page
        assert page.count("A statement holds if") == 1
        assert page.index("<summary>Marks") < page.index("A statement holds if")


def test_a_study_has_charts_of_its_figures(chromium: Any, study_page: Path) -> None:
    with opened(chromium, study_page) as page:
        page.tab.get_by_text("1 of no single claim").click()
        page.tab.locator('[data-chart="0"]').scroll_into_view_if_needed()
        page.tab.wait_for_selector('[data-chart="0"] canvas')
        home = view(page)
        assert (home[0], home[1]) == pytest.approx((1 / 1.1, 110))
        page.tab.locator('[data-chart="0"] button:has-text("+")').click()
        zoomed = view(page)
        assert zoomed[0] * zoomed[1] == pytest.approx(home[0] * home[1])  # a logarithmic scale
        drawn = ink(page)
        page.tab.locator('.legend button:has-text("two")').click()
        assert ink(page) != drawn
        assert page.tab.locator(".claim").count() == 12
