"""Sweeps of box duals, compiled: submodels that soft agreement links."""
