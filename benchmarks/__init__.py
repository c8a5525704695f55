"""Problems x solvers, side by side in one run: ``python -m benchmarks`` (or ``make bench``).

One file per suite; nothing here is imported by the library, and no figure is kept.
"""
