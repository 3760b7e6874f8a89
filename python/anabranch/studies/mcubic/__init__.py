"""MCubic, a coupled window algorithm for Multipath TCP."""
