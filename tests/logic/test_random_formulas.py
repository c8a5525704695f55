"""Random formulas of depth 3, hard, weighted and as definitions, against their truth tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at
from assent import logic
from tests.oracles.first_order import (
    build,
    completed,
    random_formula,
    random_world,
    truth,
    values,
)
from tests.oracles.sweep import sweep_seeds


def free_names(rng) -> tuple[str, ...]:
    return ("v0", "v1")[: int(rng.integers(0, 3))]


def bindings(world, free):
    return [dict(zip(free, v, strict=True)) for v in product(range(world.size), repeat=len(free))]


def pin(world, free):
    """A condition that is always true, so that variables that vanish from a formula count too."""
    parts = [world.variable(name) >= 0 for name in free]
    return logic.all_of(*parts) if parts else None


def declare(world, free):
    for name in free:
        world.names[name] = logic.Variable(name, world.predicates["p"].domains[0])
    for extra in range(6):
        world.variable(f"v{extra}").domain = world.predicates["p"].domains[0]


def check(world, expected_feasible, expected_values):
    full, feasible = completed(world.graph, world.points)
    assert (feasible == expected_feasible).all()
    assert values(world.graph, full)[feasible] == pytest.approx(expected_values[feasible])


@sweep_seeds(4.0)
def test_random_formulas_match_their_truth_tables(seeds):
    for number in seeds:
        rng = np.random.default_rng(number)
        world = random_world(rng)
        free = free_names(rng)
        declare(world, free)
        before = values(world.graph, completed(world.graph, world.points)[0])
        node = random_formula(rng, 3, free)
        held = np.array([truth(world, node, env) for env in bindings(world, free)])
        rules = logic.Rules(world.graph)
        style = number % 3
        if style == 0:
            try:
                rules.add(build(world, node), where=pin(world, free))
            except at.ModelError as error:
                assert "contradicts what is known" in str(error)
                assert not held.all(axis=0).any()
                continue
            check(world, held.all(axis=0), before)
        else:
            amount = round(float(rng.normal()), 2) or 1.0
            key = {"weight": amount} if style == 1 else {"penalty": amount}
            rules.add(build(world, node), where=pin(world, free), **key)
            earned = amount * (held if style == 1 else held - 1.0).sum(axis=0)
            check(world, np.ones(len(world.points), bool), before + earned)
        if number % 10 == 0:
            decode_and_compare(world)


def decode_and_compare(world):
    """What the solver says about the grounded graph, against the best point by enumeration."""
    full, feasible = completed(world.graph, world.points)
    result = at.decode(world.graph, at.LinearProgram())
    assert result.certificate.verify()
    if not feasible.any():
        assert not result.feasible
        return
    best = values(world.graph, full)[feasible].max()
    assert result.bound >= best - 1e-6
    if result.status.name == "OPTIMAL":
        assert result.value == pytest.approx(best, abs=1e-5)


@sweep_seeds(0.4)
def test_several_rules_share_what_they_name(seeds):
    for seed in seeds:
        rng = np.random.default_rng(10_000 + seed)
        world = random_world(rng)
        declare(world, ("v0",))
        rules = logic.Rules(world.graph)
        node = random_formula(rng, 2, ("v0",))
        expected = np.ones(len(world.points), bool)
        total = values(world.graph, completed(world.graph, world.points)[0])
        everywhere = [truth(world, node, env) for env in bindings(world, ("v0",))]
        sizes = []
        for _ in range(2):
            rules.add(build(world, node), where=pin(world, ("v0",)), weight=1.5)
            sizes.append(world.graph.size)
            total = total + 1.5 * np.sum(everywhere, axis=0)
        assert sizes[0] == sizes[1], "the second time nothing new is named"
        check(world, expected, total)
        hard = random_formula(rng, 2, ("v0",))
        held = np.logical_and.reduce([truth(world, hard, e) for e in bindings(world, ("v0",))])
        try:
            rules.add(build(world, hard), where=pin(world, ("v0",)))
        except at.ModelError:
            assert not held.any()
            check(world, expected, total)  # a refused rule leaves no trace
            continue
        check(world, held, total)


@sweep_seeds(0.4)
def test_equivalences_and_definitions_of_atoms(seeds):
    for seed in seeds:
        rng = np.random.default_rng(20_000 + seed)
        world = random_world(rng)
        declare(world, ("v0",))
        before = values(world.graph, completed(world.graph, world.points)[0])
        node = random_formula(rng, 2, ("v0",))
        head = world.predicates["p"](world.variable("v0"))
        heads = [world.atom("p", (i,)) for i in range(world.size)]
        bodies = [truth(world, node, {"v0": i}) for i in range(world.size)]
        same = np.logical_and.reduce([h == b for h, b in zip(heads, bodies, strict=True)])
        rules = logic.Rules(world.graph)
        body = build(world, node)
        unique = node[0] in ("exists_one", "one_of")
        statement = head == body if unique else head.defines(body)
        try:
            rules.add(statement, where=pin(world, ("v0",)))
        except at.ModelError as error:
            assert "contradicts" in str(error)
            assert not same.any()
            continue
        check(world, same, before)
