"""SCTP and TCP inside the initial slow start."""
