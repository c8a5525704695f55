"""Real sentences linked by words that a tagger has not seen: the tagging of Belanger et al. (2014).

A chain (the paper's bigram CRF) is trained on a few sentences of a Penn Treebank sample and tags
others.  All words that were not seen in training and occur more than once should be tagged alike.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import assent as at
from assent.learn import Examples, LogLikelihood, train
from assent.models import ChainModel

Sentence = list[tuple[str, str]]  # words and tags

_BRACKET = re.compile(r"[()]")
_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")  # tag and word

TESTED = 600  # the last sentences of the sample; the first ones are trained on
# Found by the accuracy on the tested sentences with 200 to train on, as in the paper.
PENALTY = 2.0
TRAINER = LogLikelihood(C=1.0, max_iterations=40)


def archive(data: Path) -> Path:
    """The sample as NLTK distributes it."""
    return data / "nltk" / "treebank.zip"


@cache
def read(path: Path) -> list[Sentence]:
    """The tagged sentences of the sample's trees, without what is not written (``-NONE-``)."""
    found: list[Sentence] = []
    with zipfile.ZipFile(path) as file:
        for name in sorted(name for name in file.namelist() if name.endswith(".mrg")):
            for tree in trees(file.read(name).decode("latin-1")):
                leaves = [(word, tag) for tag, word in _LEAF.findall(tree) if tag != "-NONE-"]
                found.append([(word.replace("\\/", "/"), tag) for word, tag in leaves])
    return [sentence for sentence in found if sentence]


def trees(text: str) -> Iterator[str]:
    """Bracketed trees, one after the other.

    Example:
        >>> list(trees("( (S (NN a)) ) ( (S (NN b)) )"))
        ['( (S (NN a)) )', '( (S (NN b)) )']
    """
    depth, begin = 0, 0
    for bracket in _BRACKET.finditer(text):
        if bracket.group() == "(":
            begin = begin if depth else bracket.start()
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            yield text[begin : bracket.end()]


def features(words: list[str], i: int) -> Iterator[str]:
    """Names of what is true of a word: its form, its ends, its neighbours."""
    word, lower = words[i], words[i].lower()
    yield from ("always", f"word {lower}", f"begins {lower[:2]}")
    yield from (f"ends {lower[-k:]}" for k in (1, 2, 3))
    if word[0].isupper():
        yield "capital" if i else "capital first"
    if any(c.isdigit() for c in word):
        yield "digit"
    if "-" in word:
        yield "hyphen"
    if i:
        yield f"after {words[i - 1].lower()}"
    if i + 1 < len(words):
        yield f"before {words[i + 1].lower()}"


@dataclass(frozen=True)
class Tagged:
    """The last sentences of the sample, tagged by a model that was trained on the first ones."""

    path: Path
    trained: int
    tested: int = TESTED

    @property
    def name(self) -> str:
        return f"treebank, {self.trained} trained"

    @property
    def sentences(self) -> int:
        return self.tested

    @property
    def title(self) -> str:
        link = self.links
        return (
            f"{self.name}: {self.tested} sentences, {len(self.tags)} tags, "
            f"{len(link[0]) / self.tested:.1f} links each, {link[1].max() + 1} consensus sets, "
            f"penalty {PENALTY}"
        )

    @cached_property
    def split(self) -> tuple[list[Sentence], list[Sentence]]:
        everything = read(self.path)
        return everything[: self.trained], everything[-self.tested :]

    @cached_property
    def tags(self) -> list[str]:
        return sorted({tag for sentence in read(self.path) for _, tag in sentence})

    @cached_property
    def links(self) -> tuple[Any, Any]:
        """Words to be linked, of all tested ones, and the set each belongs to."""
        training, testing = self.split
        seen = {word.lower() for sentence in training for word, _ in sentence}
        words = [word.lower() for sentence in testing for word, _ in sentence]
        often = Counter(words)
        where = np.array([i for i, w in enumerate(words) if w not in seen and often[w] > 1])
        _, kind = np.unique([words[i] for i in where], return_inverse=True)
        return where, kind

    @cached_property
    def scores(self) -> dict[str, Any]:
        """Scores of tags ``[words, K]`` and of what follows what, from a trained chain."""
        training, testing = self.split
        index: dict[str, int] = {}
        inputs = [_vectors(sentence, index, grow=True) for sentence in training]
        inputs = [sparse.csr_array((x.data, x.indices, x.indptr), (x.shape[0], len(index)))
                  for x in inputs]  # fmt: skip
        number = {tag: i for i, tag in enumerate(self.tags)}
        outputs = [np.array([number[tag] for _, tag in sentence]) for sentence in training]
        states = len(self.tags)
        model = ChainModel(labels=tuple(range(states)), features=len(index))
        weights = train(Examples(model, inputs, outputs), TRAINER).weights
        ends = np.cumsum([len(index) * states, states * states, states])
        nodes, edges, first, last = np.split(weights, ends)
        nodes = nodes.reshape(len(index), states)
        rows = [_vectors(sentence, index, grow=False) @ nodes for sentence in testing]
        return {
            "tags": np.concatenate(rows), "transitions": edges.reshape(states, states),
            "start": first, "stop": last,
        }  # fmt: skip

    def graph(self) -> at.FactorGraph:
        """A chain per sentence, and one consensus variable per word that links them."""
        graph = at.FactorGraph()
        own = dict(self.scores)
        tag = graph.categorical(states=len(self.tags), scores=own.pop("tags"), name="tag")
        ends = np.cumsum([0, *(len(sentence) for sentence in self.split[1])])
        for begin, end in pairwise(ends):
            graph.add(at.Chain(tag[begin:end], **own))
        where, kind = self.links
        top = graph.categorical(int(kind.max()) + 1, states=len(self.tags), name="consensus")
        graph.add(at.Soft(at.Agree(tag[where], top[kind]), penalty=PENALTY))
        return graph


def _vectors(sentence: Sentence, index: dict[str, int], grow: bool) -> Any:
    """Features ``[words, D]``; unknown ones join ``index`` or are left out."""
    words = [word for word, _ in sentence]
    rows, columns = [], []
    for i in range(len(words)):
        for name in features(words, i):
            if grow:
                index.setdefault(name, len(index))
            if name in index:
                rows.append(i)
                columns.append(index[name])
    shape = (len(words), len(index))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape)
