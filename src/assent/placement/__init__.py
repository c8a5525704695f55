"""Where every factor goes when a graph is compiled, one file per family, and the way back."""
