"""Decoders: `base` has the protocol, the one loop and the result; a folder for each family.

`ad3` and `messages` lower a dual bound, `boxes` do so for soft agreement, `programs` go through
HiGHS, `cutting_planes` tighten a relaxation, `search` proves by branching, `direct` has closed
methods, `presolve` makes problems smaller first, `auto` chooses.  Imports `proof`, `reductions` and
what is below; imported by the public functions, `models` and `learn`.
"""
