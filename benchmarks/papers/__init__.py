"""The papers' experiments: parsing graphs, caching, a race with an LP solver, rates."""
