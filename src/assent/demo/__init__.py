"""A short tour for the terminal: ``python -m assent.demo``."""
