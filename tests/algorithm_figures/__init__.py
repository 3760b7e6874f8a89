"""A figure of its source for every window algorithm: the source's curve, and what ours does.

Each function returns a `Chart`, which is data; tests/figures_page.py draws it, tests hold the
points at the curve.
"""

from __future__ import annotations

from collections.abc import Callable

from algorithm_figures import coupled, delays, growth, rates, response
from algorithm_figures.chart import Chart

FIGURES: dict[str, Callable[[], Chart]] = {
    "reno": response.reno,
    "cubic": response.cubic,
    "highspeed": response.highspeed,
    "westwood": delays.westwood,
    "vegas": delays.vegas,
    "dctcp": rates.dctcp,
    "bbr": rates.bbr,
    "bbr3": rates.bbr3,
    "gaimd": response.gaimd,
    "scalable": response.scalable,
    "bic": growth.bic,
    "htcp": growth.htcp,
    "hybla": growth.hybla,
    "illinois": growth.illinois,
    "veno": response.veno,
    "yeah": response.yeah,
    "ledbat": delays.ledbat,
    "ledbat++": delays.ledbat_plus_plus,
    "cdg": growth.cdg,
    "copa": delays.copa,
    "lp": delays.lp,
    "nv": delays.nv,
    "vivace": rates.vivace,
    "prague": rates.prague,
    "lia": coupled.lia,
    "olia": coupled.olia,
    "balia": coupled.balia,
    "wvegas": coupled.wvegas,
    "mcubic": coupled.mcubic,
    "mcubic-share": coupled.mcubic_share,
    "coupled-bbr": coupled.coupled_bbr,
    "d-lia": coupled.d_lia,
}
"""By the names of `anabranch list algorithms`."""
