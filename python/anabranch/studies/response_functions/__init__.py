"""Throughput against loss, buffer and RTT, beside its closed forms."""
