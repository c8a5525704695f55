"""Compressions of sentences: what is earned, in words, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at


def earned(kept, heads, deletions, orphans):
    """What the kept words earn, arc by arc."""
    total = 0.0
    for word, head in enumerate(heads):
        above = 1 if head == 0 else kept[head - 1]
        if not kept[word] and above:
            total += deletions[word]
        if kept[word] and not above:
            total += orphans[word]
    return total


@pytest.mark.parametrize("at_most", [None, 2, 0])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_compressions(seed, at_most):
    rng = np.random.default_rng(seed)
    heads = [2, 0, 2, 5, 3, 2]
    own, deletions, orphans = rng.normal(size=(3, 6))
    orphans[rng.random(6) < 0.5] = -np.inf
    g = at.FactorGraph()
    kept = g.binary(scores=own, name="kept")
    handle = g.add(
        at.Compression(kept, heads, deletions=deletions, orphans=orphans, at_most=at_most)
    )
    best = max(
        own @ x + earned(x, heads, deletions, orphans)
        for x in product((0, 1), repeat=6)
        if at_most is None or sum(x) <= at_most
    )
    result = at.decode(g)
    assert result.value == pytest.approx(best)
    assert result.certificate.verify()
    cut, alone = result.marginals[handle]
    inner = cut @ deletions + alone[alone > 0.0] @ orphans[alone > 0.0]
    assert inner == pytest.approx(earned(result[kept], heads, deletions, orphans))


def test_a_phrase_goes_at_once_and_nothing_stays_behind():
    g = at.FactorGraph()
    kept = g.binary((2, 3), scores=[[1.0, -3.0, 1.0], [1.0, 0.0, 1.0]], name="kept")
    handle = g.add(at.Compression(kept, [0, 1, 2], deletions=-0.5, orphans=-9.0))
    assert at.decode(g)[kept].tolist() == [[1, 0, 0], [1, 1, 1]]
    free = {handle: (np.full((2, 3), -0.5), np.zeros((2, 3)))}  # orphans are welcome
    assert at.decode(g, scores=free)[kept].tolist() == [[1, 0, 1], [1, 1, 1]]
    flat = {handle: handle.factor.scores}
    assert at.decode(g, scores=flat)[kept].tolist() == [[1, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    "heads, options, message",
    [
        ([0, 1], {}, "heads are 3 whole numbers"),
        ([0, 1, 4], {}, r"a word 1\.\.3"),
        ([0, 3, 2], {}, r"words \[2, 3\] hang on a cycle"),
        ([0, 1, 1], {"at_most": -1}, "at_most is a whole number"),
        ([0, 1, 1], {"orphans": [0.0, 1.0]}, "orphans have shape"),
    ],
)
def test_errors(heads, options, message):
    g = at.FactorGraph()
    with pytest.raises(at.ModelError, match=message):
        at.Compression(g.binary(3), heads, deletions=0.0, **options)
