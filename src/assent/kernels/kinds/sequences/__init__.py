"""Chains and trees of labels, and sequences that an automaton accepts."""
