"""Trees for scores of one's own, such as those of a neural parser: arrays in, heads out."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.apps.parsing.path_parts import add_nonprojective, add_paths
from assent.errors import ModelError
from assent.kernels.problem import Float

# The heads and labels of words that are not there, in a padded batch.
NO_WORD = -1


class DecodedTrees(NamedTuple):
    """Trees, each with its proof; for a batch all have a first axis more.

    Attributes:
        heads: ``[n]`` the head of every word, 0 for the root.
        labels: ``[n]`` the best label of every arc, or ``None`` without scores of labels.
        value: the score of the tree.
        bound: no tree scores more.
        proven: whether the tree is the best one for that reason.
    """

    heads: NDArray[np.int64]
    labels: NDArray[np.int64] | None
    value: Any
    bound: Any
    proven: Any


class Parts(TypedDict, total=False):
    """Scores of parts of a tree; `decode` says what they are."""

    labels: Any
    siblings: Any
    grandparents: Any
    head_bigrams: Any
    nonprojective: Any
    paths: Any


def decode(
    arc_scores: Any,
    *,
    lengths: Any = None,
    single_root: bool = False,
    projective: bool = False,
    solver: Any = None,
    exact: bool = False,
    **given: Unpack[Parts],
) -> DecodedTrees:
    """The best tree for scores of arcs and of larger parts, of one sentence or a padded batch.

    Args:
        arc_scores: ``(n + 1, n)`` for ``n`` words: ``arc_scores[h, m]`` for the arc from ``h``, 0
            being the root, to word ``m + 1``.  ``-inf`` leaves an arc out.  A batch has a first
            axis more, here and in all other arrays.
        lengths: numbers of words of the sentences of a batch, if they differ.
        single_root: whether exactly one word hangs on the root.
        projective: whether arcs may not cross.
        solver, exact: as for `assent.decode`.
        given: scores of larger parts, each if wanted:

            - ``labels`` ``(n + 1, n, L)`` of an arc's labels; each arc earns its best one.
            - ``siblings`` ``(n + 1, n + 1, n + 2)`` for ``[h, s, m]``, as
              `assent.add_head_automata` has it.
            - ``grandparents`` ``(n + 1, n + 1, n + 1)`` for ``[g, h, m]``, where g is the head of h
              and h that of m.
            - ``head_bigrams`` ``(n - 1, n + 1, n + 1)`` for ``[m, i, j]``, where word ``m + 1`` has
              head i and word ``m + 2`` head j.
            - ``nonprojective`` ``(n + 1, n)`` as for arcs, of an arc over a word that is not below
              its head.
            - ``paths`` ``(n + 1, n)`` for ``[a, d]``, where a is anywhere above word ``d + 1``.

    Example:
        >>> import numpy as np
        >>> arcs = np.array([[9.0, 0.0, 0.0], [0.0, 6.0, 1.0], [8.0, 0.0, 5.0], [8.0, 2.0, 0.0]])
        >>> decode(arcs).heads
        array([0, 1, 2])
        >>> grandparents = np.zeros((4, 4, 4))
        >>> grandparents[0, 1, 3] = 9.0  # word 3 should hang on word 1, and that on the root
        >>> found = decode(arcs, grandparents=grandparents)
        >>> found.heads, bool(found.proven)
        (array([0, 1, 1]), True)
    """
    arcs = _fit_arcs(arc_scores)
    parts = {name: _fit(name, part, arcs.shape) for name, part in given.items() if part is not None}
    if arcs.ndim == 2:
        parts = {name: part[None] for name, part in parts.items()}
    sizes = _sizes(lengths, arcs)
    tree = at.ProjectiveTree if projective else at.Arborescence
    kind = partial(tree, single_root=single_root)
    found = _decode_batch(arcs if arcs.ndim == 3 else arcs[None], parts, sizes, kind, solver, exact)
    return found if arcs.ndim == 3 else _only(found)


def _decode_batch(
    arcs: Float, parts: dict[str, Float], sizes: list[int], tree: Any, solver: Any, exact: bool
) -> DecodedTrees:
    """The trees of a batch of arcs ``[B, n + 1, n]`` and other parts."""
    names = parts.pop("labels", None)
    best = arcs if names is None else arcs + names.max(axis=-1)
    written = []
    for b, n in enumerate(sizes):
        own = {name: _cut(name, part[b], n) for name, part in parts.items()}
        written.append(_graph(best[b, : n + 1, :n], own, tree))
    results = at.decode_many([graph for graph, _ in written], solver, exact=exact)
    heads = np.full((len(sizes), arcs.shape[-1]), NO_WORD)
    for row, n, result, (graph, ends) in zip(heads, sizes, results, written, strict=True):
        row[:n] = ends[result[graph["arc"]] == 1]
    labels = None
    if names is not None:
        rows, words = np.indices(heads.shape)
        labels = names.argmax(axis=-1)[rows, np.maximum(heads, 0), words]
        labels = np.where(heads == NO_WORD, NO_WORD, labels)
    value, bound = np.array([r.value for r in results]), np.array([r.bound for r in results])
    proven = np.array([r.status is at.Status.OPTIMAL for r in results])
    return DecodedTrees(heads, labels, value, bound, proven)


def _only(found: DecodedTrees) -> DecodedTrees:
    """The only sentence of a batch."""
    labels = None if found.labels is None else found.labels[0]
    numbers = float(found.value[0]), float(found.bound[0]), bool(found.proven[0])
    return DecodedTrees(found.heads[0], labels, *numbers)


def _fit_arcs(scores: Any) -> Float:
    """Scores of arcs, checked."""
    arcs = np.asarray(scores, np.float64)
    if arcs.ndim not in (2, 3) or arcs.shape[-2] != arcs.shape[-1] + 1 or not arcs.shape[-1]:
        raise ModelError(
            f"arc_scores have the shape (n + 1, n) for n words, or (batch, n + 1, n), got "
            f"{arcs.shape}; of scores [word, head] with the root as word 0, give scores[1:].T"
        )
    return arcs


def _shapes(n: int) -> dict[str, tuple[int, ...]]:
    """The shapes of all parts of a sentence with ``n`` words; labels are any number."""
    return {
        "labels": (n + 1, n, -1), "siblings": (n + 1, n + 1, n + 2),
        "grandparents": (n + 1, n + 1, n + 1), "head_bigrams": (n - 1, n + 1, n + 1),
        "nonprojective": (n + 1, n), "paths": (n + 1, n),
    }  # fmt: skip


def _fit(name: str, scores: Any, arcs: tuple[int, ...]) -> Float:
    """Scores of a part, checked."""
    own, shapes = np.asarray(scores, np.float64), _shapes(arcs[-1])
    if name not in shapes:
        raise TypeError(f"decode takes no {name!r}; parts are {', '.join(shapes)}")
    shape = shapes[name]
    last = max(own.shape[-1:], default=0) if shape[-1] < 0 else shape[-1]
    wanted = (*arcs[:-2], *shape[:-1], last)
    if own.shape != wanted or not last:
        raise ModelError(f"{name} have shape {own.shape}; with these arcs they need {wanted}")
    return own


def _cut(name: str, scores: Float, n: int) -> Float:
    """The scores of a sentence with ``n`` words in a padded batch.

    The end of siblings on the right comes behind the last word, wherever that is.
    """
    own = scores[tuple(slice(size) for size in _shapes(n)[name])]
    if name == "siblings":
        own = own.copy()
        own[..., n + 1] = scores[: n + 1, : n + 1, -1]
    return own


def _sizes(lengths: Any, arcs: Float) -> list[int]:
    """How many words the sentences have."""
    batch, most = 1 if arcs.ndim == 2 else len(arcs), arcs.shape[-1]
    if lengths is None:
        return [most] * batch
    sizes = np.asarray(lengths)
    if sizes.shape != (batch,) or sizes.dtype.kind not in "iu" or not (
        1 <= sizes.min() <= sizes.max() <= most
    ):  # fmt: skip
        raise ModelError(f"lengths are {batch} whole numbers from 1 to {most}, got {lengths!r}")
    return sizes.tolist()


def _graph(
    arcs: Float, parts: dict[str, Float], tree: Any
) -> tuple[at.FactorGraph, NDArray[np.int64]]:
    """The graph of a sentence over its possible arcs, and the heads of these, by their words."""
    n = arcs.shape[1]
    allowed = arcs > -np.inf
    allowed[np.arange(1, n + 1), np.arange(n)] = False  # no word is its own head
    modifiers, heads = np.nonzero(allowed.T)
    graph = at.FactorGraph()
    scores = arcs[heads, modifiers]
    if "paths" in parts:
        scores = scores + parts["paths"][0, modifiers]  # the root is above every word
    arc = graph.binary(scores=scores, name="arc")
    ends = {"heads": heads, "modifiers": modifiers + 1}
    graph.add(tree(arc, **ends), name="tree")
    if "grandparents" in parts:
        at.add_grandparent_automata(
            graph, arc, parts["grandparents"], parts.get("siblings"), **ends
        )
    elif "siblings" in parts:
        at.add_head_automata(graph, arc, parts["siblings"], **ends)
    if "head_bigrams" in parts and n > 1:
        own = [heads[modifiers == m] for m in range(n)]
        tables = [parts["head_bigrams"][m][np.ix_(own[m], own[m + 1])] for m in range(n - 1)]
        graph.add(at.HeadSequence(arc, scores=tables, **ends), name="head bigrams")
    if n > 1 and ("nonprojective" in parts or "paths" in parts):
        _add_path_parts(graph, arc, ends, parts, n)
    return graph, heads


def _add_path_parts(
    graph: at.FactorGraph, arc: Any, ends: dict[str, Any], parts: dict[str, Float], n: int
) -> None:
    """Paths, and the arcs that are non-projective for want of them."""
    scores = parts.get("paths", np.zeros((n + 1, n)))
    path = add_paths(graph, arc, **ends, scores=scores[1:])
    if "nonprojective" in parts:
        own = parts["nonprojective"][ends["heads"], ends["modifiers"] - 1]
        add_nonprojective(graph, arc, path, **ends, scores=own)
