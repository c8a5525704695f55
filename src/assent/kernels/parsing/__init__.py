"""Dependency parsing: features of parts as hashed keys, their scores, candidate arcs, updates."""
