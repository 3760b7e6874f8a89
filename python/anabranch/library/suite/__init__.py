"""The Common TCP Evaluation Suite: draft-irtf-iccrg-tcpeval-01 (2014), L. Andrew et al., PFLDnet 2008."""
