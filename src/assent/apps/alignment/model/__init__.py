"""Alignments as a model to learn, and the trained aligner with its files."""
