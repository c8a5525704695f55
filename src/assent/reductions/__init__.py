"""Ways to make a graph smaller that can be checked and undone; imports no solver.

Every step has ``apply`` (which recomputes what makes it right) and ``undo``.
"""
