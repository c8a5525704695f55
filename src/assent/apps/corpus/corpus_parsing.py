"""Parse a text as a whole, and say what that changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from assent.apps.corpus.changes import Change, explain_changes
from assent.apps.corpus.data import consensus_sets
from assent.apps.corpus.decode import CorpusReport, CorpusResult, decode_corpus
from assent.apps.corpus.executor import Executor
from assent.apps.corpus.tree_model import ROOT, TreeCorpusModel, context_keys, tree_corpus_model
from assent.apps.parsing import Parser
from assent.io.conllu import Sentence
from assent.io.text import starts

# In units of MIRA, whose margin is 1 for a wrong head.  Three times as much gains on texts that are
# unlike the parser's (UD_English-Atis), and costs nearly a point on its own kind (UD_English-EWT).
HEAD_PENALTY = 0.1


@dataclass(frozen=True)
class CorpusParsing:
    """A text that was parsed as a whole.

    Attributes:
        sentences: with heads and labels.
        changes: words that have other heads than with every sentence for itself.
        result: what was solved, and how well.
    """

    sentences: list[Sentence] = field(repr=False)
    changes: list[Change] = field(repr=False)
    result: CorpusResult


def parse_corpus(
    parser: Parser,
    sentences: Iterable[Sentence],
    *,
    penalty: float | Callable[[Hashable], float] = HEAD_PENALTY,
    radius: int = 1,
    executor: Executor | None = None,
    callback: Callable[[CorpusReport], object] | None = None,
) -> CorpusParsing:
    """Parse all sentences as one problem: words in the same context tend to like heads.

    Args:
        parser: of arcs alone (preset ``"basic"``).
        sentences: the whole text, with tags.
        penalty: what a word pays if the tag of its head differs from its set's, in units of the
            parser's scores; or a function of the context.
        radius: neighbours on either side whose tags make the context.
        executor: who decodes shares of sentences.
        callback: called after every iteration.

    Raises:
        ModelError: if the parser scores larger parts than arcs.
    """
    text = list(sentences)
    own = [sentence for sentence in text if len(sentence)]
    sets = consensus_sets(context_keys(own, radius), penalty)
    model = tree_corpus_model(parser, own, sets)
    result = decode_corpus(model, executor=executor, callback=callback)
    heads = iter(np.split(result.states, model.ends[1:-1]))
    parsed = [_with_heads(parser, s, next(heads)) if len(s) else s for s in text]
    return CorpusParsing(parsed, _changes(model, text, result), result)


def _with_heads(parser: Parser, sentence: Sentence, heads: np.ndarray) -> Sentence:
    """A sentence with heads, and labels that go with them."""
    labels = parser.labeler.labels(parser.encode(sentence), heads.astype(np.int64))
    return sentence.with_columns(heads=heads, deprels=labels)


def _changes(
    model: TreeCorpusModel, sentences: list[Sentence], result: CorpusResult
) -> list[Change]:
    """Heads that are others now, as number, word and tag."""
    words = [(ROOT, *sentence.words) for sentence in sentences]
    tags = [(ROOT, *sentence.upos) for sentence in sentences]
    ends = starts(list(map(len, sentences)))
    sentence = np.repeat(np.arange(len(sentences)), np.diff(ends))
    number = {name: i for i, name in enumerate(model.classes)}
    classes = np.array(
        [number[tags[s][h]] for s, h in zip(sentence, result.states, strict=True)], np.int32
    )

    def shown(s: int, head: int) -> str:
        return ROOT if head == 0 else f"{head} {words[s][head]} {tags[s][head]}"

    def describe(at: int) -> tuple[str, str, str]:
        s = int(sentence[at])
        form = words[s][at - int(ends[s]) + 1]
        return form, shown(s, int(result.isolated[at])), shown(s, int(result.states[at]))

    changed = np.flatnonzero(result.isolated != result.states)
    agreement = classes, result.consensus
    return explain_changes(model.sets, ends, agreement, changed, describe, "head")
