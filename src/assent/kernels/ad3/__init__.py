"""The AD3 iteration, compiled: projections, active sets, multipliers, acceleration."""
