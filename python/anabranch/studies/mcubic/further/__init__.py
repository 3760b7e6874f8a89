"""Beyond the paper: the goals of RFC 6356, paths that change, and blocking at the receiver."""
