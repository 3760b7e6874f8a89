"""What the paper asks for next: reordering, other losses, short flows, fairness."""
