"""What several solvers ask of factors, compiled: bounds, best vertices, marginals, propagation."""
