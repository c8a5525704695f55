"""Bipartite matchings with degrees: the best one, the nearest point."""
