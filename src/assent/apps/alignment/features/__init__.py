"""Features of word pairs: statistics of a bitext, positions, spelling, other aligners."""
