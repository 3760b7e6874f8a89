"""Routers that delay ACKs by the occupancy of their forward buffer (claims C5 to C8)."""
