"""The studies: one folder each, found here by name.

A folder holds README.md (question, scenario, claims, choices), plan.toml (the
grid of conditions), scenario.toml, `claims.py`, `figures.py` and `study.py`
with a `STUDY`. To add one, add the folder and its line below.
"""

from __future__ import annotations

from anabranch.studies.fast_tcp.study import STUDY as FAST_TCP
from anabranch.studies.mcubic.study import STUDY as MCUBIC
from anabranch.studies.response_functions.study import STUDY as RESPONSE_FUNCTIONS
from anabranch.studies.sack_recovery.study import STUDY as SACK_RECOVERY
from anabranch.studies.sctp_multihoming.study import STUDY as SCTP_MULTIHOMING
from anabranch.studies.sctp_slow_start.study import STUDY as SCTP_SLOW_START
from anabranch.studies.study import Study

ALL: dict[str, Study] = {
    study.name: study
    for study in (
        SACK_RECOVERY,
        FAST_TCP,
        SCTP_MULTIHOMING,
        SCTP_SLOW_START,
        MCUBIC,
        RESPONSE_FUNCTIONS,
    )
}
