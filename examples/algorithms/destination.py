"""A path policy of SCTP: away from paths that lose."""

from anabranch.algorithms import Destination, PathPolicy


class LeastRisk(PathPolicy):
    """A retransmission goes to the active path with the least estimated loss and the fewest
    errors in a row; it stays where it was when there is nothing better, or little was lost."""

    def choose(self, reason: str, last: int, paths: tuple[Destination, ...]) -> int:
        active = [it for it in paths if it.active]
        if not active or (reason == "fast-retransmit" and paths[last].loss < 0.02):
            return last  # SACKs show that the path works
        return min(active, key=lambda it: (it.errors, it.loss, it.index != last)).index

    def failover(self, primary: int, paths: tuple[Destination, ...]) -> int | None:
        """New data takes the active alternate with the least loss in per cent, or the nearest."""
        active = [it for it in paths if it.active and it.index != primary]
        if not active:
            return None
        return min(active, key=lambda it: (round(it.loss, 2), it.min_rtt_s or it.rto_s)).index
