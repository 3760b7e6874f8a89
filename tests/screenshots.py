"""Pictures of the report for the README: `screenshots.py FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from anabranch import Scenario, report
from anabranch.tables import write_run
from browser import browser, opened

ROOT = Path(__file__).parents[1]
STRETCH = 0.55, 1.05
"""Seconds of the run that are shown."""


def main(folder: Path) -> None:
    """The time-sequence explorer, light and dark, and a phone."""
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        result = Scenario.load(ROOT / "examples" / "lossy.toml").explored().run(trace_hash=True)
        write_run(directory, result)
        report.write_run_report(directory, "examples/lossy.toml", result)
        for chromium in browser():
            for name, width, scheme in (
                ("report-light", 1000, "light"),
                ("report-dark", 1000, "dark"),
                ("report-phone", 375, "dark"),
            ):
                with opened(
                    chromium, directory / "report.html", width=width, scheme=scheme
                ) as page:
                    chart = page.it.locator('[data-chart="0"]')
                    over = chart.locator(".u-over")
                    over.scroll_into_view_if_needed()
                    box, end = over.bounding_box(), float(result.run["end_s"])
                    for action, at in zip(("down", "up"), STRETCH, strict=True):
                        x = box["x"] + box["width"] * at / end
                        page.it.mouse.move(x, box["y"] + 50, steps=3)
                        getattr(page.it.mouse, action)()
                    page.it.mouse.move(5, 5)
                    page.it.wait_for_timeout(200)
                    charts = page.it.locator(".explorer")
                    area = charts.bounding_box()
                    page.it.evaluate("scrollTo(0, 0)")
                    area = charts.bounding_box()
                    clip = area | {"height": min(area["height"], 1000)}
                    page.it.screenshot(path=folder / f"{name}.png", full_page=True, clip=clip)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
