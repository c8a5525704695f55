"""Sweeps of message passing and steps of subgradients, compiled."""
