"""Auto: features of a model, a plan, and the loop that follows it.

Imports all other solvers; imported by the public functions only.
"""
