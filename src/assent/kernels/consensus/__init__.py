"""Chains of a corpus whose positions should agree, compiled."""
