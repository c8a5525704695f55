"""Suite ``soft-logic``: rules with weights, relaxed, side by side with PSL (`pslpython`).

PSL minimises hinges, w · max(0, 1 − sum of literals), over truth values between 0 and 1.  That is
the linear relaxation of the same rules here, so both must find the same objective.  PSL runs in a
Java machine that is started and warmed up before the clock, once as it comes and once with tight
tolerances.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent import logic
from benchmarks.tables import DASH, circumstances, duration, show

MISSING = "not installed: pip install pslpython (and Java)"
SIZES = (10**3, 10**4, 10**5)  # ground rules
ROUGH = at.AD3(gap_tolerance=1e-3)  # about what PSL stops at
QUIET = {"runtime.log.level": "ERROR"}
TIGHT = QUIET | {
    "admmreasoner.epsilonabs": "1e-8",
    "admmreasoner.epsilonrel": "1e-6",
    "reasoner.tolerance": "1e-9",
    "reasoner.maxiterations": "100000",
}


@dataclass(frozen=True)
class Task:
    """Data of a task: ``solve`` it here, or hand the PSL model over; ``cost`` judges any answer."""

    name: str
    ground_rules: int
    build: Callable[[], tuple[at.FactorGraph, Any]]  # the graph, and the variables asked for
    psl: Callable[[Any], tuple[Any, Any]]  # from the package: the model, and its open predicate
    cost: Callable[[np.ndarray], float]  # of truth values, in the shape of the variables
    places: list[tuple[str, ...]]  # arguments of PSL's open atoms, in reading order
    shape: tuple[int, ...] = (-1,)
    one_each: bool = False  # truth values along the last axis add up to one

    def judged(self, values: np.ndarray) -> float:
        """Cost of truth values; what an inexact answer is off its constraint is put right first."""
        values = np.clip(values.reshape(self.shape), 0.0, 1.0)
        return self.cost(values / values.sum(axis=-1, keepdims=True) if self.one_each else values)


@dataclass(frozen=True)
class Run:
    """What a method answered."""

    seconds: float
    objective: float  # recomputed from its truth values
    bound: float = float("nan")  # no truth values cost less


def voters(size: int, seed: int = 0) -> Task:
    """Friends vote alike, some are members of a party, everybody has one vote to divide."""
    rng = np.random.default_rng(seed)
    parties, people = 3, max(10, size // 15)
    pairs = np.unique(rng.integers(0, people, (size // 3, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weight = {"friend": 0.5, "member": 1.0}
    joined = np.stack([np.arange(0, people, 2), rng.integers(0, parties, (people + 1) // 2)], 1)

    def cost(votes: np.ndarray) -> float:
        follow = np.maximum(0.0, votes[pairs[:, 0]] - votes[pairs[:, 1]]).sum()
        own = (1.0 - votes[joined[:, 0], joined[:, 1]]).sum()
        return weight["friend"] * float(follow) + weight["member"] * float(own)

    def build() -> tuple[at.FactorGraph, Any]:
        g = at.FactorGraph()
        person, party = logic.Domain("person", people), logic.Domain("party", parties)
        choice = g.categorical(people, states=parties, name="votes")
        votes = logic.predicate(choice, person)
        friend = logic.relation("friend", pairs, person, person)
        member = logic.relation("member", joined, person, party)
        x, y, p = logic.variables("x y p")
        rules = logic.Rules(g)
        rules.add((friend(x, y) & votes(x, p)) >> votes(y, p), penalty=weight["friend"])
        rules.add(member(x, p) >> votes(x, p), penalty=weight["member"])
        return g, choice.indicators

    def psl(package: Any) -> tuple[Any, Any]:
        model, declare = _psl_model(package)
        declare("Friend", pairs)
        declare("Member", joined)
        places = np.stack(np.indices((people, parties)), -1).reshape(-1, 2)
        open_ = declare("Votes", places, target=True)
        for rule in (
            f"{weight['friend']}: Friend(X, Y) & Votes(X, P) -> Votes(Y, P)",
            f"{weight['member']}: Member(X, P) -> Votes(X, P)",
            "Votes(X, +P) = 1 .",
        ):
            model.add_rule(package.Rule(rule))
        return model, open_

    places = [(str(i), str(k)) for i in range(people) for k in range(parties)]
    rules = parties * len(pairs) + len(joined)
    return Task("voters", rules, build, psl, cost, places, (-1, parties), one_each=True)


def trust(size: int, seed: int = 0) -> Task:
    """Trust among acquaintances is transitive; some of it was seen, and it is rather rare."""
    rng = np.random.default_rng(seed)
    group, groups = 12, max(1, size // 400)
    known = np.zeros((groups, group, group), bool)
    known[:] = rng.random(known.shape) < 0.55
    known[:, np.arange(group), np.arange(group)] = False
    g_, a_, b_ = np.nonzero(known)
    pairs = np.stack([g_ * group + a_, g_ * group + b_], 1)
    number = np.full(known.shape, -1)
    number[known] = np.arange(len(pairs))
    chains = known[:, :, :, None] & known[:, None, :, :] & known[:, :, None, :]
    chains[:, np.arange(group), :, np.arange(group)] = False
    q, i, j, k = np.nonzero(chains)
    first, second, third = number[q, i, j], number[q, j, k], number[q, i, k]
    seen = rng.choice(len(pairs), len(pairs) // 4, replace=False)
    yes = seen[rng.random(len(seen)) < 0.7]
    no = np.setdiff1d(seen, yes)

    def cost(x: np.ndarray) -> float:
        broken = np.maximum(0.0, x[first] + x[second] - x[third] - 1.0).sum()
        return float(0.4 * broken + (1.0 - x[yes]).sum() + x[no].sum() + 0.1 * x.sum())

    people = logic.Domain("person", groups * group)

    def build() -> tuple[at.FactorGraph, Any]:
        graph = at.FactorGraph()
        lits = graph.binary(len(pairs), name="trust")
        trusts = logic.predicate(lits, people, people, at=pairs)
        knows = logic.relation("knows", pairs, people, people)
        liked = logic.relation("liked", pairs[yes], people, people)
        disliked = logic.relation("disliked", pairs[no], people, people)
        x, y, z = logic.variables("x y z")
        rules = logic.Rules(graph)
        rules.add((trusts(x, y) & trusts(y, z) & knows(x, z)) >> trusts(x, z),
                  where=x != z, penalty=0.4)  # fmt: skip
        rules.add(liked(x, y) >> trusts(x, y), penalty=1.0)
        rules.add(disliked(x, y) >> ~trusts(x, y), penalty=1.0)
        rules.add(knows(x, y) >> ~trusts(x, y), penalty=0.1)
        return graph, lits

    def psl(package: Any) -> tuple[Any, Any]:
        model, declare = _psl_model(package)
        declare("Knows", pairs)
        declare("Liked", pairs[yes])
        declare("Disliked", pairs[no])
        open_ = declare("Trusts", pairs, target=True)
        for rule in (
            "0.4: Knows(X, Y) & Knows(Y, Z) & Knows(X, Z) & Trusts(X, Y) & Trusts(Y, Z) & (X != Z) "
            "-> Trusts(X, Z)",
            "1.0: Liked(X, Y) -> Trusts(X, Y)",
            "1.0: Disliked(X, Y) -> !Trusts(X, Y)",
            "0.1: Knows(X, Y) -> !Trusts(X, Y)",
        ):
            model.add_rule(package.Rule(rule))
        return model, open_

    places = [(str(a), str(b)) for a, b in pairs]
    return Task("trust", len(q) + len(seen) + len(pairs), build, psl, cost, places)


TASKS = {"voters": voters, "trust": trust}


def _psl_model(package: Any) -> tuple[Any, Callable]:
    model = package.Model("benchmark")

    def declare(name: str, tuples: np.ndarray, target: bool = False) -> Any:
        own = package.Predicate(name, size=tuples.shape[1])
        model.add_predicate(own)
        part = package.Partition.TARGETS if target else package.Partition.OBSERVATIONS
        own.add_data(part, [list(map(str, row)) for row in tuples.tolist()])
        return own

    return model, declare


class Package:
    """The names of `pslpython` that a model is written with."""

    def __init__(self) -> None:
        from pslpython.model import Model
        from pslpython.partition import Partition
        from pslpython.predicate import Predicate
        from pslpython.rule import Rule

        self.Model, self.Partition, self.Predicate, self.Rule = Model, Partition, Predicate, Rule


def run_assent(task: Task, solver: Any) -> Run:
    """Ground, compile and solve the relaxation."""
    begun = time.perf_counter()
    graph, variables = task.build()
    result = at.decode(graph, solver)
    seconds = time.perf_counter() - begun
    found = [task.judged(result.marginals[variables])]
    if result.feasible:  # an integral answer is a point of the relaxation as well
        found.append(task.judged(result[variables].astype(float)))
    return Run(seconds, min(found), -result.bound)


def run_psl(task: Task, options: dict[str, str]) -> Run:
    """Build, ground and solve with PSL; the Java machine runs already."""
    begun = time.perf_counter()
    model, open_ = task.psl(Package())
    answers = model.infer(psl_options=options)
    seconds = time.perf_counter() - begun
    frame = answers[open_]
    truth = {tuple(map(str, row[:-1])): float(row[-1]) for row in frame.itertuples(index=False)}
    values = np.array([truth[place] for place in task.places])
    return Run(seconds, task.judged(values))


def run(console: Console, sizes: tuple[int, ...] = SIZES) -> list[tuple[Task, dict[str, Run]]]:
    """All tasks and sizes, in a table."""
    peer = find_spec("pslpython") is not None
    warm = trust(1)
    run_assent(warm, at.AD3())
    if peer:
        run_psl(warm, QUIET)
    done, rows = [], []
    for name, make in TASKS.items():
        for size in sizes:
            task = make(size)
            runs = {"close": run_assent(task, at.AD3()), "rough": run_assent(task, ROUGH)}
            for label, options in (("psl", QUIET), ("tight", TIGHT)):
                runs[label] = run_psl(task, options) if peer else Run(np.nan, np.nan)
            bound = runs["close"].bound
            figures = [f"{name}, {task.ground_rules:,} ground rules", f"{bound:.4f}"]
            for own in runs.values():
                excess = (own.objective - bound) / (1.0 + abs(bound))
                figures += [duration(own.seconds), f"{excess:.0e}" if np.isfinite(excess) else DASH]
            rows.append(figures)
            done.append((task, runs))
    show(
        console,
        "Soft rules, relaxed: time, and relative excess of the objective over the best bound",
        (
            "task",
            "bound",
            "AD3 to 1e-6",
            "excess",
            "AD3 to 1e-3",
            "excess",
            "PSL",
            "excess",
            "PSL, tight",
            "excess",
        ),
        rows,
        circumstances(),
        [] if peer else [("PSL", MISSING)],
    )
    return done
