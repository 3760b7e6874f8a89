"""The Common TCP Evaluation Suite: draft-irtf-iccrg-tcpeval-01, and Andrew et al., PFLDnet 2008."""
