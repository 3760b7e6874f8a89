# Flow sizes of a cluster that mines data, octets and share of flows.
# A. Greenberg et al., "VL2", SIGCOMM 2009, as the simulations of "pFabric"
# (SIGCOMM 2013) tabulate it in packets of 1460 octets.
1460       0
1460       0.5
2920       0.6
4380       0.7
10220      0.8
389820     0.9
3076220    0.95
97333820   0.99
973333820  1
