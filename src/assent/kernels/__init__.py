"""Compiled loops: arrays in, arrays out, no classes.

Every function here carries the one decorator of :mod:`assent.kernels.jit`. Python validates,
kernels trust. Nothing outside NumPy and this folder is imported, so the kernels can be read, tested
and run with the compiler switched off (``NUMBA_DISABLE_JIT=1``).
"""
