"""The playground in a real browser: turning, comparing, playing, taking away, for everybody."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from urllib.parse import unquote

import pytest

from browser import browser
from playground import Server, server

pytestmark = pytest.mark.needs("chromium")

DRAWN = "() => performance.getEntriesByName('anabranch-turn').length > %d"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    yield from browser()


@pytest.fixture(scope="module")
def played() -> Iterator[Server]:
    yield from server()


@contextmanager
def page(
    chromium: Any, played: Server, state: str = "", *, width: int = 1400, scheme: str = "light"
) -> Iterator[Any]:
    """The page with a state, drawn. It asks this server alone, and complains of nothing but
    answers that say what is wrong."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        permissions=["clipboard-read", "clipboard-write"],
    )
    tab = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda item: complaints.append(item.text))
    tab.on("pageerror", lambda item: complaints.append(str(item)))
    tab.on("request", lambda item: requests.append(item.url))
    try:
        tab.goto(played.address + state)
        tab.wait_for_selector("html[data-ready]")
        tab.wait_for_function(DRAWN % 0)
        yield tab
        # The browser itself writes a line of each answer with status 409 or 422.
        assert [each for each in complaints if "status of 4" not in each] == []
        allowed = (played.address, "data:", "blob:")
        assert [url for url in requests if not url.startswith(allowed)] == []
    finally:
        context.close()


def drawn(tab: Any) -> int:
    """How many results were drawn so far."""
    return int(tab.evaluate("performance.getEntriesByName('anabranch-turn').length"))


def slide(tab: Any, control: str, step: int, side: str = "a") -> None:
    """Drags a slider to a step of 1000, and waits for the chart."""
    before = drawn(tab)
    tab.evaluate(
        """([id, step]) => { const slider = document.getElementById(id); slider.value = step;
        slider.dispatchEvent(new Event("input", { bubbles: true })); }""",
        [f"{side}-{control}", step],
    )
    tab.wait_for_function(DRAWN % before)


def ink(tab: Any, selector: str) -> str:
    """The pixels of a canvas."""
    script = "(at) => document.querySelector(at).toDataURL()"
    return str(tab.evaluate(script, selector))


def remembered(tab: Any, part: str) -> None:
    """Waits until the address has this part."""
    tab.wait_for_function("(part) => location.hash.includes(part)", arg=part)


def date(tab: Any) -> float:
    """The date that the page shows, in seconds."""
    return float(tab.locator(".player output").text_content().split()[0])


def rates(tab: Any) -> list[float]:
    cells = tab.locator("table.flows tbody tr td:nth-child(2)").all_text_contents()
    return [float(text) for text in cells]


def test_a_slider_runs_the_scenario_again_and_redraws(chromium: Any, played: Server) -> None:
    with page(chromium, played) as tab:
        before = {kind: ink(tab, f'[data-chart="{kind}"] canvas') for kind in ("rate", "queue")}
        total = sum(rates(tab))
        slide(tab, "links.bottleneck.rate", 250)
        after = {kind: ink(tab, f'[data-chart="{kind}"] canvas') for kind in before}
        assert all(after[kind] != before[kind] for kind in before)
        assert sum(rates(tab)) < total / 5
        remembered(tab, "a.links.bottleneck.rate=1")
        tab.locator('[data-control="links.bottleneck.rate"] .reset').click()
        tab.wait_for_function(DRAWN % 2)
        assert sum(rates(tab)) == pytest.approx(total)
        tab.wait_for_function("() => !location.hash.includes('a.links')")


def test_the_address_restores_the_page(chromium: Any, played: Server) -> None:
    state = (
        "#scenario=lab:bufferbloat&compare=1&a.links.bottleneck.buffer=50"
        "&b.links.bottleneck.queue=fq-codel"
    )
    with page(chromium, played, state) as tab:
        tab.wait_for_function(DRAWN % 1)
        assert tab.locator("section.setting").count() == 2
        assert tab.locator("h3").all_text_contents()[0].endswith("bottleneck buffer 50")
        box = tab.locator('[data-control="links.bottleneck.buffer"] .number input')
        assert box.input_value() == "50"
        found = tab.url
    with page(chromium, played, found[len(played.address) :]) as tab:
        tab.wait_for_function(DRAWN % 1)
        assert tab.url == found


def test_two_settings_have_the_same_scales(chromium: Any, played: Server) -> None:
    with page(chromium, played, "#scenario=lab:bufferbloat") as tab:
        tab.locator("text=Two settings").click()
        tab.wait_for_function(DRAWN % 1)
        before = drawn(tab)
        tab.locator("#b-links\\.bottleneck\\.queue").select_option("fq-codel")
        tab.wait_for_function(DRAWN % before)
        queues = tab.locator('[data-chart="rtt"] .plot')
        assert queues.count() == 2
        assert rates(tab)[2] == pytest.approx(rates(tab)[5], rel=0.05)  # the call needs no more
        ticks = tab.evaluate(
            """() => [...document.querySelectorAll('[data-chart="rtt"] canvas')]
            .map((it) => [it.width, it.height])"""
        )
        assert ticks[0] == ticks[1]


LOOKS = """() => [...document.querySelectorAll(".chart .u-series")].map((it) => {
  const marker = it.querySelector(".u-marker");
  return [it.querySelector(".u-label").textContent, marker ? marker.style.border : ""];
}).filter(([label]) => label !== "time")"""
"""The name and the look of each line of all charts."""


def test_a_series_looks_the_same_in_all_charts(chromium: Any, played: Server) -> None:
    """Whatever was drawn first, in both settings, and whichever queue is the fullest."""
    state = "#scenario=lab:two-paths&compare=1&b.links.lte.rate=2"
    with page(chromium, played, state) as tab:
        tab.wait_for_function(DRAWN % 1)
        looks = tab.evaluate(LOOKS)
        assert len(looks) > len(dict(looks)) >= 3
        assert len({tuple(each) for each in looks}) == len(dict(looks))
        assert "second half of the run" in tab.locator(".tables").first.text_content()


def test_the_events_are_those_of_the_run_that_was_timed(chromium: Any, played: Server) -> None:
    with page(chromium, played, "#scenario=lab:bufferbloat") as tab:
        tab.locator("text=Two settings").click()
        tab.wait_for_function(DRAWN % 1)
        before = tab.locator("#speed").text_content()
        slide(tab, "links.bottleneck.rate", 100, "b")
        tab.wait_for_function(
            "(it) => document.getElementById('speed').textContent !== it", arg=before
        )
        events = [each.split(", ")[-1] for each in (before, tab.locator("#speed").text_content())]
        assert events[0] != events[1]


@pytest.mark.parametrize("typed", ["-3", "1e99", "fast", "", "0"])
def test_nonsense_is_told_beside_its_control(chromium: Any, played: Server, typed: str) -> None:
    with page(chromium, played) as tab:
        box = tab.locator('[data-control="links.bottleneck.rate"] .number input')
        box.fill(typed)
        box.press("Enter")
        note = tab.locator('[data-control="links.bottleneck.rate"] .wrong')
        note.wait_for()
        assert "allowed: a number from 0.1 to 1000 Mbit/s" in note.text_content()
        assert box.get_attribute("aria-invalid") == "true"
        assert box.input_value() == {"1e99": "1e+99"}.get(typed, typed)
        assert tab.locator(".stale").count() == 1
        box.fill("5")
        box.press("Enter")
        tab.wait_for_function(DRAWN % 1)
        assert note.count() == 0 and tab.locator(".stale").count() == 0


def test_an_address_of_nonsense_opens(chromium: Any, played: Server) -> None:
    state = "#scenario=lab:dumbbell&a.nothing=1&a.seed=%00&b=3&compare=x&lab=none"
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(played.address + state)
    tab.wait_for_selector(".wrong")
    assert tab.locator('[data-control="seed"] .wrong').count() == 1
    tab.locator("text=All as the scenario has it").click()
    tab.wait_for_function(DRAWN % 0)
    assert tab.locator(".wrong").count() == 0
    context.close()


def test_everything_by_keyboard(chromium: Any, played: Server) -> None:
    with page(chromium, played) as tab:
        reached = set()
        for _ in range(80):
            tab.keyboard.press("Tab")
            reached.add(
                tab.evaluate("document.activeElement.id || document.activeElement.textContent")
            )
            if tab.evaluate("document.activeElement.id") == "a-links.bottleneck.buffer":
                break
        else:
            pytest.fail("the tabulator does not reach the buffer")
        assert "a-links.bottleneck.rate" in reached
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function(DRAWN % 1)
        remembered(tab, "a.links.bottleneck.buffer=")
        text = tab.evaluate("document.activeElement.getAttribute('aria-valuetext')")
        assert text.endswith(" packets")


def test_play_pause_and_steps(chromium: Any, played: Server) -> None:
    with page(chromium, played, "#scenario=lab:losses") as tab:
        still = ink(tab, ".picture canvas")
        tab.locator("text=packet ▸").click()
        tab.wait_for_function("() => document.querySelector('.told').textContent.includes('sends')")
        first = tab.locator(".told").text_content()
        dates = []
        for _ in range(60):
            tab.locator("text=packet ▸").click()
            dates.append(float(tab.locator(".told").text_content().split(" s:")[0]))
        assert dates == sorted(dates) and dates[-1] > float(first.split(" s:")[0])
        assert ink(tab, ".picture canvas") != still
        tab.locator("text=◂ packet").click()
        assert float(tab.locator(".told").text_content().split(" s:")[0]) < dates[-1]
        before = date(tab)
        tab.locator(".player button", has_text="Play").click()
        tab.wait_for_function(
            "(at) => parseFloat(document.querySelector('.player output').textContent) > at",
            arg=before,
        )
        tab.locator(".player button", has_text="Pause").click()
        tab.wait_for_timeout(300)  # a frame that was asked for may still come
        stands = date(tab)
        tab.wait_for_timeout(300)
        assert date(tab) == stands > before


def test_a_click_on_a_chart_goes_there(chromium: Any, played: Server) -> None:
    with page(chromium, played) as tab:
        over = tab.locator('[data-chart="queue"] .u-over')
        box = over.bounding_box()
        tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 30)
        assert date(tab) == pytest.approx(15, abs=0.5)
        tab.locator(".date").focus()
        tab.keyboard.press("Home")
        assert date(tab) == 0


def test_what_is_copied_is_the_setting(chromium: Any, played: Server) -> None:
    state = "#scenario=lab:dumbbell&a.links.bottleneck.rate=7"
    with page(chromium, played, state) as tab:
        tab.locator("text=Copy as TOML").click()
        tab.wait_for_selector("dialog[open]")
        text = tab.locator("dialog textarea").input_value()
        assert tomllib.loads(text)["topology"]["bottleneck"]["rate"] == "7 Mbit/s"
        assert tab.evaluate("navigator.clipboard.readText()") == text
        tab.keyboard.press("Escape")
        tab.locator("text=Copy address").click()
        tab.wait_for_selector("dialog[open]")
        assert unquote(tab.locator("dialog textarea").input_value()) == played.address + state
        tab.keyboard.press("Escape")
        tab.locator("text=Copy as Python").click()
        tab.wait_for_selector("dialog[open]")
        compile(tab.locator("dialog textarea").input_value(), "copied", "exec")
        tab.locator("dialog button").click()
        with tab.context.expect_page() as opened:
            tab.locator("text=Time-sequence explorer").click()
        opened.value.wait_for_selector("html[data-ready]")
        assert opened.value.locator("figure canvas").count() >= 1


def test_the_lab_opens_its_exercises(chromium: Any, played: Server) -> None:
    with page(chromium, played) as tab:
        tab.locator("header button", has_text="Lab").click()
        tab.wait_for_selector(".exercise")
        assert tab.locator("#exercise-title").text_content() == "Slow start"
        before = drawn(tab)
        tab.locator(".exercise li button").first.click()  # a step that says at which pace
        tab.wait_for_function(DRAWN % before)
        pace = tab.locator(".player select")
        assert pace.input_value() == "0.1"
        assert pace.locator("option:checked").text_content() == "1/10 of real time"
        tab.locator(".exercise summary").click()
        assert tab.locator(".exercise details[open]").count() == 1
        tab.locator(".exercise nav button", has_text="The sawtooth").click()
        tab.wait_for_function(
            "() => document.querySelector('#exercise-title').textContent === 'The sawtooth'"
        )
        assert tab.locator(".exercise details[open]").count() == 0  # it has the next answer
        before = drawn(tab)
        tab.locator(".exercise li button").nth(1).click()
        tab.wait_for_function(DRAWN % (before + 1))
        assert tab.locator("section.setting").count() == 2
        remembered(tab, "lab=sawtooth")
        remembered(tab, "b.links.bottleneck.buffer=10")
        tab.locator("text=Close the lab").click()
        assert tab.locator(".exercise").count() == 0


SHOWN = """(at) => {
  const box = document.querySelector(at).getBoundingClientRect();
  const panel = document.querySelector(".side").getBoundingClientRect();
  return box.top >= panel.top - 1 && box.bottom <= panel.bottom + 1;
}"""


@pytest.mark.parametrize("width", [1400, 390])
def test_the_panel_of_the_lab_follows_the_reader(chromium: Any, played: Server, width: int) -> None:
    """What there is to see comes into view where it is opened; a new exercise begins at its top."""
    state = "#scenario=lab:slow-start&lab=slow-start"
    with page(chromium, played, state, width=width) as tab:
        tab.set_viewport_size({"width": width, "height": 500})
        panel = tab.locator(".side")
        # The line with its title stands at the lower edge of the panel.
        tab.evaluate(
            """() => {
              const panel = document.querySelector(".side");
              const line = document.querySelector(".exercise summary").getBoundingClientRect();
              panel.scrollTop += line.bottom - panel.getBoundingClientRect().bottom;
            }"""
        )
        before = panel.evaluate("it => it.scrollTop")
        tab.locator(".exercise summary").evaluate("it => it.click()")
        tab.wait_for_function(
            "(was) => document.querySelector('.side').scrollTop > was", arg=before
        )
        assert tab.evaluate(SHOWN, ".exercise details summary")
        tab.locator(".exercise nav button", has_text="The sawtooth").click()
        tab.wait_for_function(
            "() => document.querySelector('#exercise-title').textContent === 'The sawtooth'"
        )
        tab.wait_for_function("() => document.querySelector('.side').scrollTop === 0")


def test_another_scenario_leaves_the_lab_open(chromium: Any, played: Server) -> None:
    """With its exercise, where it has one; only the button closes the lab."""
    with page(chromium, played, "#scenario=lab:slow-start&lab=slow-start") as tab:
        for name, title in [("lab:losses", "Seven losses"), ("lab:dumbbell", "Seven losses")]:
            before = drawn(tab)
            tab.locator("header select").select_option(name)
            tab.wait_for_function(DRAWN % before)
            assert tab.locator("#exercise-title").text_content() == title
        tab.locator("text=Close the lab").click()
        assert tab.locator(".exercise").count() == 0


BOXES = """() => [...document.querySelectorAll(".tables table")].map((it) => {
  const { left, right, top, bottom } = it.getBoundingClientRect();
  return { left, right, top, bottom };
})"""


@pytest.mark.parametrize(("width", "settings"), [(1440, 1), (1366, 2), (768, 1)])
def test_tables_stand_below_the_picture_beside_each_other(
    chromium: Any, played: Server, width: int, settings: int
) -> None:
    """None over another, and no number broken over two lines."""
    state = "#scenario=lab:slow-start&lab=slow-start" + ("&compare=1" if settings == 2 else "")
    with page(chromium, played, state, width=width) as tab:
        tab.wait_for_function(DRAWN % (settings - 1))
        boxes = tab.evaluate(BOXES)
        assert len(boxes) == 2 * settings and boxes[0]["bottom"] < 768
        for at, one in enumerate(boxes):
            for other in boxes[:at]:
                beside = one["left"] >= other["right"] or other["left"] >= one["right"]
                assert beside or one["top"] >= other["bottom"] or other["top"] >= one["bottom"]
        cell, head = (
            tab.locator(f"table.flows {which} tr").first.bounding_box()["height"]
            for which in ("tbody", "thead")
        )
        assert cell < 1.5 * head


def test_many_lines_are_told_by_the_table(chromium: Any, played: Server) -> None:
    """Where a chart has too many lines for a legend, each flow's row has its look."""
    with page(chromium, played, "#scenario=library:rrul&a.duration=8") as tab:
        chart = tab.locator('[data-chart="rate"]')
        assert chart.locator(".u-legend:visible").count() == 0
        assert "the table of flows has the colour and the dash" in chart.text_content()
        looks = tab.evaluate(
            """() => [...document.querySelectorAll(".flows .swatch")].map((it) =>
            [getComputedStyle(it).color, getComputedStyle(it).borderTopStyle].join())"""
        )
        assert len(looks) > 8 and len(set(looks)) == len(looks)


def test_a_fast_link_with_a_name_keeps_its_row(chromium: Any, played: Server) -> None:
    state = "#scenario=lab:slow-start&a.links.bottleneck.rate=500"
    with page(chromium, played, state) as tab:
        rows = tab.locator("table.links tbody th").all_text_contents()
        assert rows == ["bottleneck", "bottleneck-reverse"][: len(rows)] and rows
        window = tab.locator('[data-chart="cwnd"]')
        assert "segments of 1448 bytes" in window.locator("figcaption").text_content()


def test_paths_have_rows_below_their_flow(chromium: Any, played: Server) -> None:
    with page(chromium, played, "#scenario=lab:two-paths") as tab:
        rows = tab.locator("table.flows tbody tr")
        names = [text.strip() for text in rows.locator("th").all_text_contents()]
        assert names == ["phone", "phone wifi", "phone lte", "tablet", "laptop"]
        cells = [row.locator("td").all_text_contents() for row in rows.all()[:3]]
        total, *paths = (float(row[0]) for row in cells)
        assert sum(paths) == pytest.approx(total, rel=0.05)
        assert len({len(row) for row in cells}) == 1


STATES = {
    "one": "",
    "two": "#scenario=lab:bufferbloat&compare=1&b.links.bottleneck.queue=fq-codel",
    "lab": "#scenario=lab:sawtooth&lab=sawtooth",
    "wrong": "#scenario=lab:losses&a.flows.f.count=0",
}


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
@pytest.mark.parametrize("width", [390, 768, 1400])
@pytest.mark.parametrize("state", STATES)
def test_everybody_can_use_it(
    chromium: Any, played: Server, state: str, width: int, scheme: str
) -> None:
    """No serious finding of axe-core, and nothing that is only seen by scrolling sideways."""
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="light" if scheme == "print" else scheme,
        bypass_csp=True,
    )
    tab = context.new_page()
    tab.goto(played.address + STATES[state])
    tab.wait_for_selector("html[data-ready]")
    tab.wait_for_selector(".wrong" if state == "wrong" else "table.flows")
    tab.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
    if scheme == "print":
        tab.emulate_media(media="print")
    tab.wait_for_timeout(100)
    found = axe.run(tab).response["violations"]
    serious = [
        (each["id"], each["nodes"][0]["html"][:200])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == [], json.dumps(serious, indent=1)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    small = """() => [...document.querySelectorAll("button, select, input, summary, a")]
      .filter((it) => it.offsetParent && !it.matches(".skip"))
      .filter((it) => it.getBoundingClientRect().height < 24)
      .map((it) => it.outerHTML.slice(0, 80))"""
    assert tab.evaluate(small) == []  # WCAG 2.2 §2.5.8
    context.close()


def test_tables_fit_a_phone(chromium: Any, played: Server) -> None:
    """A flow's key and name stand in one line; the narrowest screen has room for all columns."""
    for width, scenario in ((390, "bufferbloat"), (390, "two-paths"), (320, "slow-start")):
        context = chromium.new_context(viewport={"width": width, "height": 800})
        tab = context.new_page()
        tab.goto(f"{played.address}#scenario=lab:{scenario}")
        tab.wait_for_selector("table.flows")
        assert tab.evaluate("document.documentElement.scrollWidth") == width, scenario
        if width == 390:
            rows = tab.locator("table.flows tbody tr").all()
            assert len(rows) >= 3
            assert all(row.bounding_box()["height"] < 32 for row in rows), scenario
        context.close()


def test_a_dragged_slider_is_drawn_soon(chromium: Any, played: Server) -> None:
    """Thirty turns in a second: what is drawn last is the last turn, and no turn waits long."""
    with page(chromium, played) as tab:
        tab.evaluate(
            """async () => { const slider = document.getElementById("a-links.bottleneck.buffer");
            for (let step = 300; step < 600; step += 10) { slider.value = step;
              slider.dispatchEvent(new Event("input", { bubbles: true }));
              await new Promise((done) => setTimeout(done, 33)); } }"""
        )
        box = '[data-control="links.bottleneck.buffer"] .number input'
        last = tab.locator(box).input_value()
        tab.wait_for_function(
            """([box, last]) => { const all = performance.getEntriesByName("anabranch-turn");
            return document.querySelector(box).value === last
              && performance.now() - all.at(-1).startTime - all.at(-1).duration > 300; }""",
            arg=[box, last],
        )
        assert tab.locator(".stale").count() == 0
        took = tab.evaluate(
            "performance.getEntriesByName('anabranch-turn').map((it) => it.detail.all)"
        )
        assert sorted(took)[len(took) // 2] < 1500  # machines of continuous integration are slow
