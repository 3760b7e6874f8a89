"""What lies beside a report, and is linked where it is there."""

from __future__ import annotations

from pathlib import Path

EXAMPLE = "example"
"""The folder of a study's single run, with the explorer."""

FILES = {
    "scenario.toml": "scenario",
    "run.json": "seed, version and facts",
    "capture.pcapng": "packet capture",
    "summary.csv": "means and intervals",
    "paired.csv": "paired differences",
    "compare.csv": "every number of both worlds",
    "timing.csv": "how late packets left",
    "points.parquet": "points with their scenarios",
    "measures.csv": "every number behind the claims",
    f"{EXAMPLE}/report.html": "one run of it, packet by packet",
    f"{EXAMPLE}/capture.pcapng": "its packet capture",
    "timeline.csv": "timeline",
    "events.csv": "events",
    "flows.csv": "flows",
    "paths.csv": "paths",
    "links.csv": "links",
    "series": "every recorded series",
}


def links(directory: Path, folder: str) -> list[tuple[str, str]]:
    """Path from `directory` and description of each that is in its `folder`."""
    at = directory / folder
    prefix = "" if folder == "." else f"{folder}/"
    return [(prefix + name, text) for name, text in FILES.items() if (at / name).exists()]
