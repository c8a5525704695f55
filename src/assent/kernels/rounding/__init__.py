"""From marginals to assignments, compiled: sequential rounding and local search."""
