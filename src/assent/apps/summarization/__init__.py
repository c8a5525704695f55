"""Summaries of whole or compressed sentences under a budget of words, with a certificate."""

from assent.apps.summarization.compression_metrics import CompressionScores, compression_scores
from assent.apps.summarization.compressor import Compressor
from assent.apps.summarization.compressor_training import train_compressor
from assent.apps.summarization.concepts import Concepts, bigram_concepts
from assent.apps.summarization.decode import Summary, summarize
from assent.apps.summarization.deletions import phrase_deletions
from assent.apps.summarization.summary_training import Collection, train_summarizer
from assent.apps.summarization.summary_weights import SummaryWeights

__all__ = [
    "Collection",
    "CompressionScores",
    "Compressor",
    "Concepts",
    "Summary",
    "SummaryWeights",
    "bigram_concepts",
    "compression_scores",
    "phrase_deletions",
    "summarize",
    "train_compressor",
    "train_summarizer",
]
