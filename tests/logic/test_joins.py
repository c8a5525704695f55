"""Bindings of random premises over relations of several domains, against nested loops."""

from __future__ import annotations

from itertools import product

import numpy as np

import assent as at
from assent import logic
from tests.oracles.sweep import sweep_seeds

NAMES = ("x", "y", "z")


def random_relation(rng, name, domains):
    """Tuples of members, few or many."""
    sets = [domains[i] for i in rng.integers(0, len(domains), int(rng.integers(1, 4)))]
    share = rng.choice([0.2, 0.5, 0.8])
    tuples = [t for t in product(*(d.labels for d in sets)) if rng.random() < share]
    return logic.relation(name, tuples, *sets), set(tuples)


@sweep_seeds(4.0)
def test_bindings_of_random_premises(seeds):
    found = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        domains = [logic.Domain("a", 5), logic.Domain("b", range(1, 4)),
                   logic.Domain("c", [4, 2, 1])]  # fmt: skip
        relations = [random_relation(rng, f"r{i}", domains) for i in range(2)]
        variables = {name: logic.Variable(name) for name in NAMES}
        premise, checks, uses = [], [], {name: [] for name in NAMES}
        for own, tuples in relations:
            args = [str(rng.choice(NAMES)) if rng.random() < 0.8 else d.labels[0]
                    for d in own.domains]  # fmt: skip
            negated = rng.random() < 0.25
            atom = own(*(variables.get(a, a) for a in args))
            premise.append(~atom if negated else atom)
            checks.append((args, tuples, negated))
            for arg, domain in zip(args, own.domains, strict=True):
                if arg in uses:
                    uses[arg].append(set(domain.labels))
        used = [name for name in NAMES if uses[name]]
        graph = at.FactorGraph()
        p = logic.predicate(graph.binary((), name="p"))
        where = None
        if len(used) > 1 and rng.random() < 0.5:
            where = variables[used[0]] < variables[used[1]]
        expected = 0
        values = [set.intersection(*uses[name]) for name in used]
        if any(not any(v == own for own in uses[name])
               for name, v in zip(used, values, strict=True)):  # fmt: skip
            continue  # no domain is part of the others: refused, as another test says
        for row in product(*values):
            env = dict(zip(used, row, strict=True))
            holds = all(
                (tuple(env.get(a, a) for a in args) in tuples) ^ negated
                for args, tuples, negated in checks
            )
            expected += holds and (where is None or row[0] < row[1])
        rule = logic.Rules(graph).add(logic.all_of(*premise) >> p(), where=where)
        assert (rule.factors.get("All", 0) + rule.merged) == expected
        found += expected
    assert found, "none of the premises could hold: the test says nothing"


def test_a_wider_domain_matches_no_tuple_outside():
    wide, narrow = logic.Domain("wide", 8), logic.Domain("narrow", range(1, 4))
    x, y = logic.variables("x y", wide)
    a = logic.relation("a", [(2, 7), (3, 3), (1, 0)], wide, wide)
    b = logic.relation("b", [(1, 3), (3, 3), (2, 3)], narrow, narrow)
    graph = at.FactorGraph()
    p = logic.predicate(graph.binary(8, name="p"), wide)
    rule = logic.Rules(graph).add((a(x, y) & b(x, y)) >> p(x))
    assert rule.bindings == 1
    assert graph.handles[0].words(0) == "rule 1 (x=3, y=3): All(p[3])"
