"""Problems of two-literal terms as posiforms: what two literals lose if both are true.

Every function of two binary literals is a constant, a score for each, and a price ``b`` paid when
both of two literals are true, with one of them negated if need be: ``c x y = c x - c x (1 - y)``.
A rule over two literals is a term of infinite price, or two of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.table_groups import FlatTableGroup, table_groups
from assent.errors import ModelError
from assent.kernels.problem import (
    ANYOF,
    CAP,
    PARITY,
    POTTS,
    SUM,
    DualPoint,
    Float,
    Int32,
    Int64,
    Problem,
    Scores,
    split_links,
)

# The pairs of literals of which not both can be true, by form: which of the two is negated.
RULES = {
    CAP: ((False, False),),
    SUM: ((False, False), (True, True)),
    PARITY: ((False, True), (True, False)),
    ANYOF: ((False, True), (True, False)),
}


class Terms(NamedTuple):
    """Some terms of a problem, and where they stand in it.

    Attributes:
        lits: ``[E, 2]`` two literals that repel each other.
        price: ``[E]`` what is paid if both are true, at least 0, infinite for a rule.
        link: ``[E, 2]`` the links of the literals, in the order of ``Problem.all_lits``.
        sign: ``[E, 2]`` -1 where the literal is the negation of the link's.
    """

    lits: Int32
    price: Float
    link: Int64
    sign: Float


@dataclass(frozen=True)
class Posiform:
    """Maximise ``constant + theta . x - sum of the prices of terms with both literals true``.

    Attributes:
        theta: ``[n]`` scores, with what the terms left.
        base: ``[links]`` link scores that turn the problem into this one.
    """

    terms: Terms
    theta: Float
    base: Float
    constant: float

    def links_at(self, problem: Problem, level: Float) -> DualPoint:
        """The dual point where term ``e`` takes ``level[e]`` from its literals."""
        links = self.base.copy()
        charged = (self.terms.sign * level[:, None]).ravel()
        links += np.bincount(self.terms.link.ravel(), charged, minlength=len(links))
        return split_links(problem, links)

    def value_at(self, x: Float) -> float:
        """The relaxation's objective at ``x[n]``: a product is its McCormick bound."""
        lits = self.terms.lits
        product = np.maximum(np.where(lits < 0, 1.0 - x[~lits], x[lits]).sum(axis=1) - 1.0, 0.0)
        paid = np.where(product > 0.0, self.terms.price, 0.0) * product
        return self.constant + float(self.theta @ x) - float(paid.sum())


def make_posiform(problem: Problem, scores: Scores, solver: str = "RoofDuality") -> Posiform:
    """The problem in terms of two literals, or a complaint about the first factor with more."""
    reason = what_is_larger(problem)
    if reason:
        raise ModelError(
            f"{solver} takes factors over two binary variables, not {reason}; decode with AD3()"
        )
    draft = _Draft(problem, scores)
    draft.add_products(problem.pair_var, scores.pair, np.arange(2 * problem.n_pairs).reshape(-1, 2))
    for group in range(len(problem.group_kind)):
        draft.add_rules(group)
    for tables in table_groups(problem):
        draft.add_tables(tables)
    return draft.finish()


def what_is_larger(problem: Problem) -> str:
    """The first kind of factor that is no function of two binary variables; empty if all are."""
    names = {CAP: "a budget", SUM: "a count", ANYOF: "an or", PARITY: "a parity"}
    for kind, size in zip(problem.group_kind.tolist(), problem.group_size.tolist(), strict=True):
        if size != 2 or kind not in RULES:
            return f"{names.get(kind, 'a knapsack')} over {size} literals"
    if problem.models:
        return f"a {problem.models[0].structure.kind}"
    tables = problem.tables
    for t in range(len(tables.kind)):
        states = tables.states[tables.slot[t] : tables.slot[t + 1]].tolist()
        if states != [2, 2]:
            return f"a table of {' × '.join(map(str, states))} states"
    return ""


class _Draft:
    """The terms while they are collected."""

    def __init__(self, problem: Problem, scores: Scores) -> None:
        self.problem, self.scores = problem, scores
        self.theta, self.constant = scores.theta.copy(), scores.constant
        self.base = np.zeros(problem.n_links)
        self.parts: list[Terms] = []

    def finish(self) -> Posiform:
        none = Terms(
            np.zeros((0, 2), np.int32), np.zeros(0), np.zeros((0, 2), np.int64), np.zeros((0, 2))
        )
        joined = Terms(*(np.concatenate(part) for part in zip(none, *self.parts, strict=True)))
        real = joined.lits[:, 0] != ~joined.lits[:, 1]  # x and ~x are never both true
        return Posiform(
            Terms(*(part[real] for part in joined)), self.theta, self.base, self.constant
        )

    def add_scores(self, lits: Int32, scores: Float, link: Int64) -> None:
        """Move scores of literals to their coordinates; the links give them back."""
        negated = lits < 0
        coordinate, signed = np.where(negated, ~lits, lits), np.where(negated, -scores, scores)
        self.theta += np.bincount(coordinate, signed, minlength=len(self.theta))
        self.constant += float(scores[negated].sum())
        self.base[link] -= scores

    def add_products(self, lits: Int32, scores: Float, link: Int64) -> None:
        """Terms ``scores[m]``, earned if both of ``lits[m, 2]`` are true."""
        gains = scores >= 0.0
        self.add_scores(lits[gains, 0], scores[gains], link[gains, 0])
        second = np.where(gains, ~lits[:, 1], lits[:, 1])
        sign = np.stack([np.ones(len(lits)), np.where(gains, -1.0, 1.0)], axis=1)
        self.parts.append(Terms(np.stack([lits[:, 0], second], axis=1), np.abs(scores), link, sign))

    def forbid(self, lits: Int32, link: Int64, negated: tuple[bool, bool]) -> None:
        """Rules: not both of ``lits[m, 2]``, some negated."""
        flip = np.array(negated)
        sign = np.broadcast_to(np.where(flip, -1.0, 1.0), lits.shape)
        price = np.full(len(lits), np.inf)
        self.parts.append(Terms(np.where(flip, ~lits, lits), price, link, sign))

    def add_rules(self, group: int) -> None:
        """A group of logic factors over two literals."""
        problem = self.problem
        count, start = int(problem.group_count[group]), int(problem.group_link[group])
        at = start + np.arange(count)[:, None] + count * np.arange(2)
        for negated in RULES[int(problem.group_kind[group])]:
            self.forbid(problem.lits[at], 2 * problem.n_pairs + at, negated)

    def add_tables(self, group: FlatTableGroup) -> None:
        """A group of tables over two slots of two states, each read by its second state."""
        second = [own.stop - 1 for own in group.columns]
        lits, link = group.lits[:, second], group.links[:, second]
        score = square_tables(group.kind, group.scores(self.scores.table))
        never = np.isneginf(score)
        for state in product((False, True), repeat=2):
            rows = never[:, int(state[0]), int(state[1])]
            self.forbid(lits[rows], link[rows], (not state[0], not state[1]))
        score = without_holes(score, never)
        self.constant += float(score[:, 0, 0].sum())
        self.add_scores(lits[:, 0], score[:, 1, 0] - score[:, 0, 0], link[:, 0])
        self.add_scores(lits[:, 1], score[:, 0, 1] - score[:, 0, 0], link[:, 1])
        both = score[:, 1, 1] + score[:, 0, 0] - score[:, 0, 1] - score[:, 1, 0]
        self.add_products(lits, both, link)


def square_tables(kind: int, entries: Float) -> Float:
    """Entries of tables over two states each as ``[m, 2, 2]``."""
    if kind != POTTS:
        return entries.reshape(-1, 2, 2)
    out = np.zeros((len(entries), 2, 2))
    out[:, 0, 0], out[:, 1, 1] = entries[:, 0], entries[:, 1]
    return out


def without_holes(score: Float, never: NDArray[np.bool_]) -> Float:
    """Tables ``[m, 2, 2]`` whose forbidden entries, ruled out anyway, make the rest a plain sum.

    Propagation leaves one forbidden entry, or two that touch in no row or column.
    """
    if not never.any():
        return score
    known = np.where(never, 0.0, score)
    opposite, beside = known[:, ::-1, ::-1], known[:, ::-1, :] + known[:, :, ::-1]
    lone = never.sum(axis=(1, 2))[:, None, None] == 1
    return np.where(never, np.where(lone, beside - opposite, 0.5 * beside), score)
