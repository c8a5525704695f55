"""Trees over the words of a sentence: what Arborescence and ProjectiveTree have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.structure import Structure
from assent.kernels.problem import Float, Int32
from assent.model.scores import clean_scores
from assent.model.variables import Categorical, Literals, as_literals

Index = NDArray[np.int64]


class SentenceTree(Structure):
    """``m`` trees over ``n`` words each: a slot per word, with a state per head it may have."""

    def __init__(
        self, arcs: Any, *, heads: Any = None, modifiers: Any = None, single_root: bool = False
    ) -> None:
        arcs = as_arcs(arcs)
        codes, head, self.states, shape = arcs_by_word(self.kind, arcs, heads, modifiers)
        self.first = (0,) * len(self.states)
        self.data = np.concatenate([[len(self.states), bool(single_root)], head]).astype(np.int32)
        self._attach(arcs.graph, codes, shape)
        self.scores = np.zeros((len(self), 0))
        self.may_be_empty = not _has_plain_tree(head, self.states, bool(single_root))

    def entry_shape(self) -> tuple[int, ...]:
        return (0,)

    def fit(self, scores: Any) -> Float:
        """A tree has no scores beside those of its arcs: anything but none is refused."""
        if clean_scores(scores, self.kind).size:
            raise ModelError(
                f"{self.kind} has no scores of its own; give them to the variables of its arcs"
            )
        return np.zeros((len(self), 0))

    def words(self, row: int) -> str:
        first, last = (self.graph.describe_code(int(c)) for c in self.codes[row][[0, -1]])
        return f"{self.kind} over {len(self.states)} words ({first}, …, {last})"


def _has_plain_tree(head: Index, states: tuple[int, ...], single_root: bool) -> bool:
    """Whether every word may hang on the one before, or all on the root: both are trees."""
    of_word = np.split(head, np.cumsum(states)[:-1])
    chained = all(before in heads for before, heads in enumerate(of_word))
    return chained or (not single_root and all(heads[0] == 0 for heads in of_word))


def as_arcs(arcs: Any) -> Any:
    """Arcs as they are, or a list of literals as one array of them."""
    return as_literals(arcs) if isinstance(arcs, (list, tuple)) else arcs


def arcs_by_word(
    kind: str, arcs: Any, heads: Any, modifiers: Any
) -> tuple[Int32, Index, tuple[int, ...], tuple[int, ...]]:
    """Arcs word by word, heads in ascending order: a slot per word, with a state per head.

    Returns ``codes[m, arcs]``, the head of every arc, how many each word has, and the shape.
    """
    codes, head, modifier = read_arcs(kind, arcs, heads, modifiers)
    _refuse_lost_words(kind, head, modifier, int(modifier.max()))
    order = np.lexsort((head, modifier))
    states = tuple(np.bincount(modifier)[1:].tolist())
    return codes.reshape(-1, codes.shape[-1])[:, order], head[order], states, codes.shape[:-1]


def read_arcs(kind: str, arcs: Any, heads: Any, modifiers: Any) -> tuple[Int32, Index, Index]:
    """Codes ``(*shape, arcs)``, heads and modifiers of an array of arcs or a list of them."""
    if heads is None and modifiers is None:
        return _all_arcs(kind, arcs)
    return _listed_arcs(kind, arcs, heads, modifiers)


def _all_arcs(kind: str, arcs: Any) -> tuple[Int32, Index, Index]:
    """Codes ``(*shape, arcs)``, heads and modifiers of an array of arcs, word by word."""
    if isinstance(arcs, Categorical):
        *_, words, heads = (0, *arcs.codes.shape)
        form, codes = f"heads of shape {arcs.shape} with {heads} states", arcs.codes
    elif isinstance(arcs, Literals):
        *_, heads, words = (0, 0, *arcs.shape)
        form, codes = f"arcs of shape {arcs.shape}", arcs.codes
        if arcs.ndim >= 2:
            codes = codes.swapaxes(-1, -2)
    else:
        raise TypeError(f"{kind} takes an array of arcs or of heads, got {arcs!r}")
    if words < 1 or heads != words + 1 or codes.ndim < 2:
        square = "; of a square array, arc[:, 1:]" if words and words == heads else ""
        raise ModelError(
            f"{kind} got {form}: for n words arcs have the shape (n + 1, n), head 0 being the "
            f"root, and variables that name a head have n + 1 states{square}; a list of arcs "
            "needs heads= and modifiers="
        )
    head, modifier = np.tile(np.arange(heads), words), np.repeat(np.arange(1, words + 1), heads)
    return codes.reshape(*codes.shape[:-2], -1), head, modifier


def _listed_arcs(kind: str, arcs: Any, heads: Any, modifiers: Any) -> tuple[Int32, Index, Index]:
    """Codes ``(*shape, arcs)``, heads and modifiers of listed arcs, checked."""
    if not isinstance(arcs, Literals) or arcs.ndim == 0:
        raise TypeError(f"{kind} with heads= and modifiers= takes a list of arcs, got {arcs!r}")
    count = arcs.shape[-1]
    ends = []
    for name, given in (("heads", heads), ("modifiers", modifiers)):
        array = np.asarray(given)
        if array.shape != (count,) or array.dtype.kind not in "iu" or not count:
            raise ModelError(
                f"{kind}: {name} are {count} whole numbers, one per arc, got {given!r}"
            )
        ends.append(array.astype(np.int64))
    head, modifier = ends
    if head.min() < 0 or modifier.min() < 1:
        raise ModelError(f"{kind}: heads are numbered from 0, the root, and modifiers from 1")
    if (head == modifier).any():
        word = int(head[head == modifier][0])
        raise ModelError(f"{kind}: word {word} cannot be its own head; leave this arc out")
    pairs, times = np.unique(np.column_stack([head, modifier]), axis=0, return_counts=True)
    if times.max() > 1:
        h, m = pairs[times.argmax()]
        raise ModelError(f"{kind}: the arc from {h} to {m} is listed twice")
    return arcs.codes, head, modifier


def _refuse_lost_words(kind: str, head: Index, modifier: Index, words: int) -> None:
    if head.max() > words:
        raise ModelError(
            f"{kind}: word {int(head.max())} is a head, but no arc leads to it; the words are "
            f"1 to {words}, and each needs one"
        )
    lost = np.flatnonzero(np.bincount(modifier, minlength=words + 1)[1:] == 0) + 1
    if len(lost):
        raise ModelError(f"{kind}: no arc leads to word {int(lost[0])}; each word needs one")
