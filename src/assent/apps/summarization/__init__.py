"""Summaries of whole or compressed sentences under a budget of words, with a certificate."""

from assent.apps.summarization.concepts import Concepts, bigram_concepts
from assent.apps.summarization.decode import Summary, summarize
from assent.apps.summarization.deletions import phrase_deletions

__all__ = ["Concepts", "Summary", "bigram_concepts", "phrase_deletions", "summarize"]
