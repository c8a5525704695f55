"""Trees for given scores against all trees there are."""

from __future__ import annotations

import numpy as np
import pytest

from assent.apps.parsing import decode
from assent.errors import ModelError
from tests.oracles.sentence_trees import is_above, list_trees


def random_scores(words, seed):
    rng = np.random.default_rng(seed)
    n = words
    return rng.normal(size=(n + 1, n)), {
        "labels": rng.normal(size=(n + 1, n, 3)),
        "siblings": 0.5 * rng.normal(size=(n + 1, n + 1, n + 2)),
        "grandparents": 0.5 * rng.normal(size=(n + 1, n + 1, n + 1)),
        "head_bigrams": 0.5 * rng.normal(size=(n - 1, n + 1, n + 1)),
        "nonprojective": rng.normal(size=(n + 1, n)),
        "paths": rng.normal(size=(n + 1, n)),
    }


def score_of(heads, arcs, parts):
    """What a tree earns, from the definitions of its parts."""
    n, total = len(heads), 0.0
    for m, h in enumerate(heads, 1):
        total += arcs[h, m - 1]
        if "labels" in parts:
            total += parts["labels"][h, m - 1].max()
        if "grandparents" in parts and h:
            total += parts["grandparents"][heads[h - 1], h, m]
        between = range(min(h, m) + 1, max(h, m))
        if "nonprojective" in parts and not all(is_above(heads, h, k) for k in between):
            total += parts["nonprojective"][h, m - 1]
        for a in range(n + 1) if "paths" in parts else ():
            if a != m and is_above(heads, a, m):
                total += parts["paths"][a, m - 1]
    for m in range(1, n):
        if "head_bigrams" in parts:
            total += parts["head_bigrams"][m - 1, heads[m - 1], heads[m]]
    for h in range(n + 1) if "siblings" in parts else ():
        right = [m for m in range(h + 1, n + 1) if heads[m - 1] == h]
        left = [m for m in range(h - 1, 0, -1) if heads[m - 1] == h]
        for side, end in ((right, n + 1), (left, 0)) if h else ((right, n + 1),):
            for s, m in zip([h, *side], [*side, end], strict=True):
                total += parts["siblings"][h, s, m]
    return total


@pytest.mark.parametrize("names", [
    (), ("labels",), ("siblings",), ("grandparents",), ("head_bigrams",), ("nonprojective",),
    ("paths",),
    ("labels", "siblings", "grandparents", "head_bigrams", "nonprojective", "paths"),
])  # fmt: skip
@pytest.mark.parametrize(
    ("single_root", "projective"), [(False, False), (True, False), (True, True)]
)
def test_best_of_all_trees(names, single_root, projective):
    arcs, every = random_scores(4, seed=len(names) + single_root)
    parts = {name: every[name] for name in names}
    trees = list_trees(4, projective=projective, single_root=single_root)
    values = [score_of(heads, arcs, parts) for heads in trees]
    found = decode(arcs, **parts, single_root=single_root, projective=projective, exact=True)
    assert found.proven
    assert found.value == pytest.approx(max(values))
    assert found.heads.tolist() == trees[int(np.argmax(values))].tolist()
    if "labels" in parts:
        best = every["labels"][found.heads, np.arange(4)].argmax(axis=-1)
        assert found.labels.tolist() == best.tolist()


def test_a_padded_batch_is_its_sentences():
    short, long = random_scores(2, 1), random_scores(4, 2)
    arcs = np.full((2, 5, 4), np.nan)
    parts = {name: np.full((2, *array.shape), np.nan) for name, array in long[1].items()}
    for b, (own, others) in enumerate((short, long)):
        arcs[b, : own.shape[0], : own.shape[1]] = own
        for name, array in others.items():
            parts[name][(b, *map(slice, array.shape))] = array
    # The end on the right is the last column of a batch.
    parts["siblings"][0, :3, :3, -1] = short[1]["siblings"][..., -1]
    both = decode(arcs, **parts, lengths=[2, 4], exact=True)
    for b, (own, others) in enumerate((short, long)):
        one = decode(own, **others, exact=True)
        n = own.shape[1]
        assert both.heads[b, :n].tolist() == one.heads.tolist()
        assert both.labels[b, :n].tolist() == one.labels.tolist()
        assert (both.heads[b, n:] == -1).all()
        assert both.value[b] == pytest.approx(one.value)


def test_arcs_may_be_missing():
    arcs = np.full((4, 3), -np.inf)
    arcs[0, 1], arcs[2, 0], arcs[2, 2], arcs[0, 2] = 1.0, 1.0, -5.0, -9.0
    assert decode(arcs).heads.tolist() == [2, 0, 2]


@pytest.mark.parametrize("seed", range(4))
def test_few_arcs_that_do_not_cross(seed):
    rng = np.random.default_rng(seed)
    arcs = np.where(rng.random((5, 4)) < 0.4, rng.normal(size=(5, 4)), -np.inf)
    arcs[np.arange(4), np.arange(4)] = rng.normal(size=4)  # from the word before: there is a tree
    trees = list_trees(4, projective=True, single_root=True)
    best = max(arcs[heads, np.arange(4)].sum() for heads in trees)
    assert decode(arcs, projective=True, single_root=True).value == pytest.approx(best)


def test_paths_over_few_arcs():
    """Words that nothing can hang on, and one that is below the root in any case."""
    arcs, parts = random_scores(4, seed=7)
    arcs[1], arcs[1:, 2], arcs[3, :2] = -np.inf, -np.inf, -np.inf
    own = {name: parts[name] for name in ("nonprojective", "paths")}
    possible = [h for h in list_trees(4) if np.isfinite(arcs[h, np.arange(4)]).all()]
    best = max(score_of(heads, arcs, own) for heads in possible)
    assert decode(arcs, **own, exact=True).value == pytest.approx(best)


@pytest.mark.parametrize("arcs", [[[2.0], [0.0]], [[2.0, 3.0], [-np.inf] * 2, [-np.inf] * 2]])
def test_paths_where_there_are_none_but_from_the_root(arcs):
    n = len(arcs[0])
    found = decode(arcs, paths=np.ones((n + 1, n)), nonprojective=np.ones((n + 1, n)))
    assert found.heads.tolist() == [0] * n
    assert found.value == pytest.approx(sum(arcs[0]) + n)


def test_wrong_shapes_are_named():
    arcs = np.zeros((3, 2))
    with pytest.raises(ModelError, match=r"scores\[1:\]\.T"):
        decode(np.zeros((3, 3)))
    with pytest.raises(ModelError, match="siblings have shape"):
        decode(arcs, siblings=np.zeros((2, 2, 2)))
    with pytest.raises(ModelError, match="lengths are 1 whole numbers from 1 to 2"):
        decode(arcs[None], lengths=[3])
    with pytest.raises(TypeError, match="no 'sibling'; parts are labels, siblings"):
        decode(arcs, sibling=np.zeros((3, 3, 4)))
