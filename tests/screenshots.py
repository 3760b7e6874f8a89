"""Pictures of the report and of the playground for the README: `screenshots.py FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from anabranch import Scenario, report
from anabranch.plotting import paper
from anabranch.sweep import Parameter, Replications, Sweep
from anabranch.tables import write_run
from browser import browser, opened
from playground import server

ROOT = Path(__file__).parents[1]
STRETCH = 0.55, 1.05
"""Seconds of the run that are shown."""


def main(folder: Path) -> None:
    """The time-sequence explorer, light and dark, and a phone; the timeline; a figure."""
    figure(folder)
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        result = Scenario.load(ROOT / "examples" / "lossy.toml").explored().run(trace_hash=True)
        write_run(directory, result)
        report.write_run_report(directory, "examples/lossy.toml", result)
        timeline = directory / "timeline"
        timeline.mkdir()
        failover = Scenario.load(ROOT / "examples" / "sctp-multihoming.toml").explored().run()
        report.write_run_report(timeline, "examples/sctp-multihoming.toml", failover)
        for chromium in browser():
            with opened(chromium, timeline / "report.html", width=900) as page:
                lanes = page.tab.locator("figure").first
                lanes.scroll_into_view_if_needed()
                page.tab.wait_for_timeout(200)
                lanes.screenshot(path=folder / "timeline.png")
            for name, width, scheme in (
                ("report-light", 1000, "light"),
                ("report-dark", 1000, "dark"),
                ("report-phone", 375, "dark"),
            ):
                with opened(
                    chromium, directory / "report.html", width=width, scheme=scheme
                ) as page:
                    chart = page.tab.locator('[data-chart="0"]')
                    over = chart.locator(".u-over")
                    over.scroll_into_view_if_needed()
                    box, end = over.bounding_box(), float(result.run["end_s"])
                    for action, at in zip(("down", "up"), STRETCH, strict=True):
                        x = box["x"] + box["width"] * at / end
                        page.tab.mouse.move(x, box["y"] + 50, steps=3)
                        getattr(page.tab.mouse, action)()
                    page.tab.mouse.move(5, 5)
                    page.tab.wait_for_timeout(200)
                    charts = page.tab.locator(".explorer")
                    area = charts.bounding_box()
                    page.tab.evaluate("scrollTo(0, 0)")
                    area = charts.bounding_box()
                    clip = area | {"height": min(area["height"], 1000)}
                    page.tab.screenshot(path=folder / f"{name}.png", full_page=True, clip=clip)


def figure(folder: Path) -> None:
    """What `anabranch plot` makes of a sweep."""
    parameters = [
        Parameter.of("window", "flows.*.tcp.window", ["reno", "cubic", "bbr"]),
        Parameter.of("delay", "links.0.delay", ["5 ms", "20 ms", "40 ms", "80 ms"]),
    ]
    scenario = Scenario.load(ROOT / "examples" / "lossy.toml")
    with tempfile.TemporaryDirectory() as place:
        result = Sweep(scenario, parameters, Replications.exactly(10)).run(Path(place) / "sweep")
        paper.save(result.plot("goodput_bps", by="window", columns=1.3), folder / "figure.png")


BESIDE = "#scenario=lab:bufferbloat&compare=1&b.links.bottleneck.queue=fq-codel"
"""A call behind downloads, with drop-tail and with FQ-CoDel."""


def playground(folder: Path) -> None:
    """Two settings beside each other with packets on their way, light and dark, and a phone."""
    for played in server():
        for chromium in browser():
            for name, width, height, scheme, state in (
                ("playground-light", 1400, 1050, "light", BESIDE),
                ("playground-dark", 1400, 1050, "dark", "#scenario=lab:two-paths&lab=two-paths"),
                ("playground-phone", 390, 844, "dark", ""),
            ):
                context = chromium.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                tab = context.new_page()
                tab.goto(played.address + state)
                tab.wait_for_selector("#speed:not(:empty)")
                tab.locator(".date").fill("4200")  # of 10000
                tab.locator("text=packet ▸").click()
                tab.wait_for_function(
                    "() => document.querySelector('.told').textContent.includes(' bytes ')"
                )
                tab.wait_for_timeout(200)
                tab.screenshot(path=folder / f"{name}.png")
                context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    playground(Path(sys.argv[1]))
