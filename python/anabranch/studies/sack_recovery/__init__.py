"""`sack-recovery`: loss recovery separated from congestion control (Hwang, Yoo, Yoo)."""
