"""The report: one HTML file with everything inside, which works offline.

Data, styles and scripts stand in the page; uPlot draws (`assets/uplot`). The
page's content security policy forbids it to load anything from anywhere.
"""

from anabranch.report.run import write_run_report
from anabranch.report.sweep import write_sweep_report

__all__ = ["write_run_report", "write_sweep_report"]
