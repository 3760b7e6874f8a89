"""The report: one HTML file with everything inside, which works offline.

Data, styles and scripts stand in the page; uPlot draws (`assets/uplot`). The
page's content security policy forbids it to load anything from anywhere.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what writes a report is imported when one is written, not for a command's help
    from anabranch.report.comparison import write_comparison_report
    from anabranch.report.run import write_run_report
    from anabranch.report.sweep import write_sweep_report

__all__ = ["write_comparison_report", "write_run_report", "write_sweep_report"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = name.removeprefix("write_").removesuffix("_report")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
