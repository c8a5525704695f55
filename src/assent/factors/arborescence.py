"""Arborescence: every word has a head, and all of them hang on the root."""

from __future__ import annotations

from assent.factors.sentence_tree import SentenceTree


class Arborescence(SentenceTree):
    """Chosen arcs form a tree that hangs on the root: a non-projective dependency tree.

    Args:
        arcs: literals of shape ``(n + 1, n)`` for ``n`` words: ``arcs[h, m]`` says that ``h`` is
            the head of word ``m + 1``, where head 0 is the root and words count from 1.  More
            axes in front make one tree for each index.  Or an array of ``n`` categorical
            variables, each naming the head of a word among ``n + 1``.  An arc with score
            ``-inf`` is as good as missing.
        heads, modifiers: for a list of arcs, shape ``(A,)``, in place of an array: arc ``i`` leads
            from ``heads[i]`` to ``modifiers[i]``, with heads from 0 (the root) and words from 1.
        single_root: whether exactly one word hangs on the root itself.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> scores = np.array([[1.0, 5.0], [0.0, 4.0], [9.0, 0.0]])  # root, first, second word
        >>> arc = g.binary((3, 2), scores=scores, name="arc")
        >>> tree = g.add(at.Arborescence(arc))
        >>> at.decode(g)[arc].argmax(axis=0)  # the head of each word
        array([2, 0])
    """

    paper_name = "arborescence (tree) factor"
    formula = "chosen arcs are a tree that hangs on the root"
    kernel_names = "sentences.spanning_trees", "arborescence"
