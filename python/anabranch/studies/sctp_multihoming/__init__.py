"""SCTP multihoming: where retransmissions should go."""
