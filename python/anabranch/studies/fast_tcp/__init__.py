"""Fast-TCP: routers that delay ACKs, and two-way traffic over rate-controlled channels."""
