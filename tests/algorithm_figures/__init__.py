"""A figure of its source for every window algorithm: the source's curve, and what ours does.

Each function returns a `Chart`, which is data; tests/figures_page.py draws it, tests hold the
points at the curve.
"""

from __future__ import annotations

from collections.abc import Callable

from algorithm_figures import growth, response
from algorithm_figures.chart import Chart

FIGURES: dict[str, Callable[[], Chart]] = {
    "reno": response.reno,
    "cubic": response.cubic,
    "highspeed": response.highspeed,
    "gaimd": response.gaimd,
    "scalable": response.scalable,
    "bic": growth.bic,
    "htcp": growth.htcp,
    "hybla": growth.hybla,
    "illinois": growth.illinois,
    "veno": response.veno,
    "yeah": response.yeah,
    "cdg": growth.cdg,
}
"""By the names of `anabranch list algorithms`."""
