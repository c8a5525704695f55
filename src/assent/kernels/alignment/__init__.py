"""Word alignment models: expected links of a sentence pair, and their sums over a bitext."""
