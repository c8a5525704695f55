"""Corpus-wide inference: all sentences of a corpus decoded as one problem.

Occurrences of the same word, or of any key of your own, are encouraged to agree.
"""

from assent.apps.corpus.changes import Change
from assent.apps.corpus.comparison import CorpusComparison, compare_solvers
from assent.apps.corpus.corpus_parsing import CorpusParsing, parse_corpus
from assent.apps.corpus.data import ConsensusSets, consensus_sets, word_keys
from assent.apps.corpus.decode import CorpusReport, CorpusResult, decode_corpus
from assent.apps.corpus.executor import Executor, Processes, Threads
from assent.apps.corpus.model import CorpusModel, corpus_model
from assent.apps.corpus.multipliers import BySets
from assent.apps.corpus.tagging import CorpusTagging, tag_corpus, text_model
from assent.apps.corpus.tree_model import TreeCorpusModel, context_keys, tree_corpus_model
from assent.apps.corpus.view import summary, write_changes

__all__ = [
    "BySets",
    "Change",
    "ConsensusSets",
    "CorpusComparison",
    "CorpusModel",
    "CorpusParsing",
    "CorpusReport",
    "CorpusResult",
    "CorpusTagging",
    "Executor",
    "Processes",
    "Threads",
    "TreeCorpusModel",
    "compare_solvers",
    "consensus_sets",
    "context_keys",
    "corpus_model",
    "decode_corpus",
    "parse_corpus",
    "summary",
    "tag_corpus",
    "text_model",
    "tree_corpus_model",
    "word_keys",
    "write_changes",
]
