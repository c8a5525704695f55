"""What a person writes: variables, literals, views, the factor graph, and ways to build one.

Imports `errors`, `factors` and the flat problem's types; imported by everything from `compile` on.
"""
