"""A leaf of a proof: the search tree of a depth-first search over tables; imports no solver.

The search logs what it used: rows of messages, and events in the order of the search.  Here they
become a tree of the usual nodes, with a dual point for every row, and that tree is replayed.  It
proves nothing that these nodes do not: a wrong row makes a bound larger than claimed.  A bound
below what any assignment is worth that breaks no rule shows that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.compile.table_groups import table_groups
from assent.kernels.problem import DualPoint, Float, Int64, Problem, split_links
from assent.kernels.search.events import BRANCHED, CLOSED, EMPTY, PRUNED
from assent.model.variables import coordinates_of
from assent.proof.field_checks import are_literals, are_places

# What sums of scores may be off by, relative to their size, and more.
CLEAR = 1e-9

if TYPE_CHECKING:
    from assent.proof.field_checks import Known
    from assent.proof.replay import Replay


@dataclass(frozen=True, eq=False)
class DepthFirstProof:
    """Events of a search, and the rows of messages they refer to.

    Attributes:
        literals: ``[S]`` of the graph: what is true where a variable has some state.
        places: ``[n_links, 2]`` the messages whose difference is the score of a link, the second
            less the first; -1 for none.
        blocks: ``[links]`` links of exactly-one factors that take what is left of their states.
        events: integers, as above.
        rows: ``[rows, M]``.
    """

    literals: Int64
    places: Int64
    blocks: Int64
    events: Int64
    rows: Float

    def bound(self, replay: Replay, known: Known) -> float:
        """The bound of the tree; ``inf`` where there is none."""
        problem = replay.compiled.problem
        if not self._fits(problem, len(known)):
            return np.inf
        theta = replay.compiled.flat_scores(replay.scores).theta
        try:
            tree = self._tree(problem, theta)
        except (IndexError, ValueError):  # events that are none
            return np.inf
        shown = replay.follow(tree, known)
        return -np.inf if shown < lowest_value(replay) else shown

    def _fits(self, problem: Problem, count: int) -> bool:
        """Whether all arrays have the shapes and ranges of the problem."""
        links = problem.n_links
        shapes = self.literals.ndim == self.events.ndim == 1 and self.rows.ndim == 2
        if not shapes or self.places.shape != (links, 2) or not are_places(self.blocks, links):
            return False
        messages = self.rows.shape[1]
        placed = self.places.min(initial=-1) >= -1 and self.places.max(initial=-1) < messages
        return placed and are_literals(self.literals.tolist(), count)

    def _tree(self, problem: Problem, theta: Float) -> Any:
        """The events as nodes of a proof, read backwards: a node's children come behind it."""
        from assent.proof.proof_tree import Fixed, LinkScores, Refuted, Split

        waiting: list[Any] = []
        for kind, *rest in reversed(self._read()):
            if kind == PRUNED:
                literals = tuple((~self.literals[rest[1]]).tolist())
                why = LinkScores(self.dual_point(problem, theta, rest[0]))
                waiting.append(Fixed(why, literals, waiting.pop()))
            elif kind == CLOSED:
                waiting.append(LinkScores(self.dual_point(problem, theta, rest[0])))
            elif kind == BRANCHED:
                literal = int(self.literals[rest[0]])
                children = waiting.pop(), waiting.pop()
                waiting.append(Split(((literal,), (~literal,)), children))
            else:
                waiting.append(Refuted())
        (tree,) = waiting
        return tree

    def _read(self) -> list[tuple[Any, ...]]:
        """Events one by one."""
        out: list[tuple[Any, ...]] = []
        at, events = 0, self.events.tolist()
        while at < len(events):
            kind = events[at]
            if kind == PRUNED:
                if events[at + 2] < 0:
                    raise ValueError("a count is not negative")
                end = at + 3 + events[at + 2]
                out.append((kind, events[at + 1], self.events[at + 3 : end]))
                at = end
            elif kind in (CLOSED, BRANCHED):
                out.append((kind, events[at + 1]))
                at += 2
            elif kind == EMPTY:
                out.append((kind,))
                at += 1
            else:
                raise ValueError(f"no event has the number {kind}")
        return out

    def dual_point(self, problem: Problem, theta: Float, row: int) -> DualPoint:
        """The link scores that a row of messages stands for."""
        return link_scores(problem, theta, self.places, self.blocks, self.rows[row])


def lowest_value(replay: Replay) -> float:
    """Less than any assignment is worth that breaks no rule, clear of rounding.

    Structures may add up any number of their entries: with them, nothing is said.
    """
    problem = replay.compiled.problem
    if problem.models:
        return -np.inf
    scores = replay.compiled.flat_scores(replay.scores)
    entries = np.where(np.isneginf(scores.table), 0.0, scores.table)
    rows = [group.scores(entries).min(axis=1, initial=0.0) for group in table_groups(problem)]
    lows = np.minimum(np.concatenate([scores.theta, scores.pair, *rows]), 0.0)
    return float(scores.constant + lows.sum() - CLEAR * (1.0 + abs(scores.constant) - lows.sum()))


def link_scores(
    problem: Problem, theta: Float, places: Int64, blocks: Int64, messages: Float
) -> DualPoint:
    """Differences of messages; an exactly-one factor has what is left of its variable's states."""
    padded = np.append(messages, 0.0)
    links = padded[places[:, 1]] - padded[places[:, 0]]
    lits = problem.all_lits
    signed = np.where(lits < 0, -links, links)
    left = theta - np.bincount(coordinates_of(lits), signed, minlength=problem.n)
    own = lits[blocks]
    links[blocks] = left[coordinates_of(own)]
    return split_links(problem, links)
