"""A scheduler of Multipath TCP: by round-trip time and by what waits already."""

from anabranch.algorithms import DataStream, Scheduler, Subflow


class Weighted(Scheduler):
    """The subflow on which a segment would arrive first; `prefer` is the weight of the
    round-trip time beside the share of the window that is taken."""

    def __init__(self, prefer: float = 1.0) -> None:
        self.prefer = prefer

    def choose(self, subflows: tuple[Subflow, ...], stream: DataStream) -> int | None:
        able = [subflow for subflow in subflows if subflow.has_room]
        if not able or stream.unsent == 0:
            return None
        return min(able, key=self.cost).id

    def cost(self, subflow: Subflow) -> tuple[float, int]:
        return (subflow.srtt_s * (self.prefer + subflow.in_flight / subflow.cwnd), subflow.id)
