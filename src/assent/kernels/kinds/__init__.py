"""One kind of factor each, compiled: projections, maximisers, max-marginals, marginals."""
