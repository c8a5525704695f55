"""ProjectiveTree: every word has a head, all hang on the root, and no arcs cross."""

from __future__ import annotations

from assent.factors.sentence_tree import SentenceTree


class ProjectiveTree(SentenceTree):
    """Chosen arcs form a tree that hangs on the root, and do not cross above the sentence.

    Words stand in the order of their numbers, behind the root.  The descendants of a word, with
    the word itself, are then neighbours.

    Args:
        arcs: literals of shape ``(n + 1, n)`` for ``n`` words, an array of categorical variables
            that name heads, or a list of arcs: as for `Arborescence`.
        heads, modifiers: for a list of arcs, where each of them begins and ends.
        single_root: whether exactly one word hangs on the root itself.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> scores = np.full((4, 3), -1.0)  # heads 0 (the root) to 3 of words 1 to 3
        >>> scores[[0, 2, 1, 2], [1, 0, 2, 2]] = 2.0, 2.0, 2.0, 0.5
        >>> head = g.categorical(3, states=4, scores=scores.T, name="head")
        >>> tree = g.add(at.ProjectiveTree(head))
        >>> at.decode(g)[head].tolist()  # [2, 0, 1] is better, but 0 → 2 and 1 → 3 cross
        [2, 0, 2]
    """

    paper_name = "projective tree factor"
    formula = "chosen arcs are a tree that hangs on the root, and none cross"
    kernel_names = "sentences.projective_chart", "projective"
