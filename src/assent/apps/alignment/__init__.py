"""Word alignment: which words of a sentence and of its translation correspond.

Rooms: ``data`` reads bitexts and links, ``features`` describe pairs of words, ``model`` scores
alignments, ``decode`` finds the best, ``metrics`` judges, ``view`` draws.
"""
