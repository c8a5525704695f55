"""Word alignment: which words of a sentence and of its translation correspond.

Modules: ``data`` reads bitexts and links, ``features`` describe pairs of words, ``model`` scores
alignments and learns, ``decode`` finds the best, ``metrics`` judges, ``view`` draws.
"""

from assent.apps.alignment.data import (
    Bitext,
    Links,
    SentencePair,
    compare_files,
    read_bitext,
    read_links,
    write_links,
)
from assent.apps.alignment.metrics import AlignmentScores, alignment_scores
from assent.apps.alignment.model.aligner import Aligner
from assent.apps.alignment.model.aligner_file import read_aligner, write_aligner
from assent.apps.alignment.model.aligner_training import (
    AlignerSettings,
    LinkedSentences,
    train_aligner,
)
from assent.apps.alignment.view import AlignedPair, save_alignments

__all__ = [
    "AlignedPair",
    "Aligner",
    "AlignerSettings",
    "AlignmentScores",
    "Bitext",
    "LinkedSentences",
    "Links",
    "SentencePair",
    "alignment_scores",
    "compare_files",
    "read_aligner",
    "read_bitext",
    "read_links",
    "save_alignments",
    "train_aligner",
    "write_aligner",
    "write_links",
]
