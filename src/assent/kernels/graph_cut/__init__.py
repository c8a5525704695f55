"""Cut polytopes, compiled: maximum flow, total variation, projections."""
