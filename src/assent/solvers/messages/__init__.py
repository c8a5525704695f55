"""Decoders by messages: MPLP, max-sum diffusion, TRW-S, max-product, smoothing, subgradients.

Imports `solvers.base` and `kernels.messages`.
"""
