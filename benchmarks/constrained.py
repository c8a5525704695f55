"""Random constrained problems of any size: assignments with side rules, joint labels, budgets.

Scores are normal, so that relaxations leave gaps; every problem has an answer by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import assent as at

SIZES = (50, 200, 1000, 5000)


def assignment_with_rules(variables: int, seed: int = 0) -> at.FactorGraph:
    """People take one task each, or the last, which always has room; tasks have limits.

    ``people = tasks`` makes ``variables`` choices.  A third of the people exclude a choice of
    somebody else's, and neighbours like or dislike to be on the same task.
    """
    rng = np.random.default_rng(seed)
    people = max(3, round(np.sqrt(variables)))
    tasks = max(3, variables // people)
    g = at.FactorGraph()
    scores = rng.normal(size=(people, tasks))
    scores[:, -1] = -2.0
    x = g.binary(scores=scores, name="takes")
    g.add(at.ExactlyOne(x, axis=1))
    g.add(at.AtMost(2, x[:, :-1], axis=0))
    rules = max(1, variables // 3)
    who = np.stack([rng.choice(people, 2, replace=False) for _ in range(rules)])
    what = rng.integers(0, tasks - 1, (rules, 2))
    g.add(at.Implies(x[who[:, 0], what[:, 0]], ~x[who[:, 1], what[:, 1]]))
    g.add(at.Pair(x[:-1, :-1], x[1:, :-1], scores=rng.normal(size=(people - 1, tasks - 1))))
    return g


def joint_labelling(variables: int, seed: int = 0) -> at.FactorGraph:
    """Entities with one of four labels, relations between near ones that ask for certain labels.

    An entity and its relations are about eight of the ``variables``; an entity is the head of
    three relations at most, and labels of neighbours are scored together.
    """
    rng = np.random.default_rng(seed)
    entities = max(3, variables // 8)
    g = at.FactorGraph()
    label = g.categorical(scores=rng.normal(size=(entities, 4)), states=4, name="label")
    head = np.repeat(np.arange(entities), 4)
    tail = (head + rng.integers(1, max(2, min(entities, 8)), len(head))) % entities
    relation = g.binary(scores=rng.normal(0.3, 1.0, len(head)), name="relation")
    needs = rng.integers(0, 4, (len(head), 2))
    indicators = label.indicators
    g.add(at.Implies(relation, indicators[head, needs[:, 0]]))
    g.add(at.Implies(relation, indicators[tail, needs[:, 1]]))
    of_head = relation[np.arange(4 * entities).reshape(entities, 4)]
    g.add(at.AtMost(3, of_head, axis=1))
    g.add(at.Dense(label[:-1], label[1:], scores=rng.normal(size=(entities - 1, 4, 4))))
    return g


def budgeted_selection(variables: int, seed: int = 0) -> at.FactorGraph:
    """Choose items of a total weight: each has a value, near ones are redundant.

    Of every ten items one has to be chosen, if the budget is to be used at all.
    """
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.binary(scores=rng.uniform(0.5, 2.0, variables), name="item")
    weights = rng.integers(1, 20, variables).astype(float)
    lightest = np.add.reduceat(weights, np.arange(0, variables, 10)).sum() * 0.3
    g.add(at.Knapsack(x, weights=weights, capacity=float(np.floor(lightest))))
    near = np.arange(variables)
    for distance in (1, 2, 3):
        redundancy = -rng.uniform(0.0, 1.5, variables - distance)
        g.add(at.Pair(x[near[:-distance]], x[near[distance:]], scores=redundancy))
    groups = near[: variables // 10 * 10].reshape(-1, 10)
    g.add(at.AtLeastOne(x[groups], axis=1))
    return g


FAMILIES: dict[str, Callable[[int, int], at.FactorGraph]] = {
    "assignment": assignment_with_rules,
    "labelling": joint_labelling,
    "budget": budgeted_selection,
}


def constrained(
    sizes: tuple[int, ...] = SIZES, seeds: tuple[int, ...] = (0,)
) -> Iterator[tuple[str, Callable[[], at.FactorGraph]]]:
    """Name and builder of every problem."""
    for family, make in FAMILIES.items():
        for size in sizes:
            for seed in seeds:
                yield f"{family}_{size}_s{seed}", lambda m=make, n=size, s=seed: m(n, s)
