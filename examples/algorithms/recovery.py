"""A recovery scheme: losses told by SACK blocks, with a threshold of one's own."""

from anabranch.algorithms import LossRecovery, RecoveryAck


class Threshold(LossRecovery):
    """What lies more than `segments` segments below the highest SACKed octet is lost, once:
    FACK's rule (Mathis and Mahdavi 1996) with another threshold."""

    def __init__(self, segments: int = 3) -> None:
        self.segments = segments
        self.told = 0

    def on_ack(self, ack: RecoveryAck) -> list[tuple[int, int]]:
        if not ack.sacked:
            return []
        edge = ack.sacked[-1][1] - self.segments * ack.mss
        start = max(ack.una, self.told)
        if edge <= start:
            return []
        self.told = edge
        return [(start, edge)]

    def on_timeout(self) -> None:
        self.told = 0
