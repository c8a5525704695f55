"""Tabulation, elimination and the network of roof duality, compiled."""
