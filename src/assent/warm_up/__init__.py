"""Compile the kernels before they are needed: small models of all kinds, decoded by all solvers.

``assent warm`` runs them on all cores; a wheel carries what they had compiled.
"""
