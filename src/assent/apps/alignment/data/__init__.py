"""Bitexts and links between their words, read from files line by line."""

from assent.apps.alignment.data.bitext import Bitext, SentencePair, read_bitext
from assent.apps.alignment.data.links import Links, compare_files, read_links, write_links

__all__ = [
    "Bitext",
    "Links",
    "SentencePair",
    "compare_files",
    "read_bitext",
    "read_links",
    "write_links",
]
