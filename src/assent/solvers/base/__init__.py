"""What all solvers share: protocol, settings, the loop, dual bounds, threads, results.

Imports no other folder of `solvers`; imported by all of them.
"""
