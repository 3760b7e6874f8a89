"""A path policy of SCTP: away from paths that lose."""

from anabranch.algorithms import Destination, PathPolicy


class LeastRisk(PathPolicy):
    """A retransmission goes to the active path with the least estimated loss and the fewest
    errors in a row; it stays where it was when there is nothing better, or little was lost."""

    def choose(self, reason: str, last: int, paths: tuple[Destination, ...]) -> int:
        active = [path for path in paths if path.active]
        if not active or (reason == "fast-retransmit" and paths[last].loss < 0.02):
            return last  # SACKs show that the path works
        return min(
            active, key=lambda active: (active.errors, active.loss, active.index != last)
        ).index

    def failover(self, primary: int, paths: tuple[Destination, ...]) -> int | None:
        """New data takes the active alternate with the least loss in per cent, or the nearest."""
        active = [path for path in paths if path.active and path.index != primary]
        if not active:
            return None
        return min(
            active, key=lambda active: (round(active.loss, 2), active.min_rtt_s or active.rto_s)
        ).index
