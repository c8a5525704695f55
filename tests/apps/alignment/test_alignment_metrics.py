"""Error rates against their definition, link by link."""

from __future__ import annotations

import numpy as np
import pytest

from assent.apps.alignment.data import Links
from assent.apps.alignment.metrics import alignment_scores


@pytest.mark.parametrize("seed", range(10))
def test_scores_by_definition(seed):
    rng = np.random.default_rng(seed)
    gold, answers = [], []
    a = s = a_s = a_p = 0
    for _ in range(4):
        sure, possible, found = rng.random((3, 3, 4)) < [[[0.3]], [[0.4]], [[0.3]]]
        a, s = a + found.sum(), s + sure.sum()
        a_s, a_p = a_s + (found & sure).sum(), a_p + (found & (sure | possible)).sum()
        gold.append(Links(Links.of_table(sure).sure, Links.of_table(possible & ~sure).sure))
        answers.append(Links.of_table(found))
    scores = alignment_scores(gold, answers)
    assert scores.aer == pytest.approx(1.0 - (a_s + a_p) / (a + s))
    assert scores.precision == pytest.approx(a_p / a)
    assert scores.recall == pytest.approx(a_s / s)


def test_nothing_to_find_and_nothing_found():
    none, one = [Links(frozenset())], [Links(frozenset({(0, 0)}))]
    assert tuple(alignment_scores(none, none)) == (0.0, 1.0, 1.0)
    assert tuple(alignment_scores(one, none)) == (1.0, 1.0, 0.0)
