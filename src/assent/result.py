"""Status and result: how a decode ended, and the answer as a person reads it."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.certificate import Certificate
from assent.compile.compiled import Compiled
from assent.compile.table_placement import restore_marginals
from assent.errors import ModelError, NoFeasibleAssignment
from assent.factors.pair import Pair, inner_part
from assent.factors.scored import Scored
from assent.factors.soft import SOFT, SoftKnapsack
from assent.factors.structure import Structure
from assent.factors.table import Table
from assent.kernels.problem import DualPoint, Float
from assent.model.graph import GroupedHandle, Handle
from assent.model.variables import Categorical, Literals
from assent.notebook import result_html
from assent.proof import certify
from assent.trace import Trace


class Status(Enum):
    """How a decode ended; each status is a sentence with advice."""

    OPTIMAL = "The answer is proven optimal within the gap tolerance."
    RELAXED = (
        "The relaxation is solved but a gap remains: no answer is better than the bound, and the "
        "one found, if any, is at most the gap away from optimal. Tighter factors (larger "
        "constraints in place of many small ones) or an integer program can close it."
    )
    STOPPED = (
        "A limit or an interrupt ended the run: the answer is the best so far. Raise the limit, "
        "or pass warm_start=result to go on."
    )
    INFEASIBLE = (
        "No assignment satisfies all constraints: certificate.conflict names those involved. "
        "Drop or soften one of them."
    )

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


class Paid(NamedTuple):
    """A soft constraint that was violated, in words, and what that costs."""

    rule: str
    cost: float


class AnswerLookup:
    """Reads one kind of answer by variable: ``lookup[variable]``."""

    def __init__(self, read: Callable[[Any], Any], what: str) -> None:
        self._read = read
        self._what = what

    def __getitem__(self, key: Any) -> NDArray[Any]:
        return self._read(key)

    def __repr__(self) -> str:
        return f"<{self._what}: index with a variable>"


class ReadByVariable:
    """Labels and marginals of a result, read by its variables."""

    @property
    def labels(self) -> AnswerLookup:
        """Labels of categorical variables."""
        return AnswerLookup(self._labels, "labels")

    @property
    def marginals(self) -> AnswerLookup:
        """The relaxed answer: a number in [0, 1] per literal, state, pair or table entry."""
        return AnswerLookup(self._marginals, "marginals")

    def _labels(self, key: Any) -> NDArray[Any]:
        key = self._named(key)
        return labels_at(key, lambda: self[key])

    @abstractmethod
    def __getitem__(self, key: Any) -> NDArray[Any]:
        """Values of variables."""

    @abstractmethod
    def _named(self, key: Any) -> Any:
        """What a name stands for; variables and handles stand for themselves."""

    @abstractmethod
    def _marginals(self, key: Any) -> Float:
        """Marginals of variables or of the inner parts of a handle."""


class WarmStartPoint(NamedTuple):
    """What a later run can start from."""

    compiled: Compiled
    marginals: Float  # [n] the relaxed answer
    dual: DualPoint | None  # None where there is none, or one that proves something else
    penalty: float
    assignment: NDArray[np.int8]  # [N]


@dataclass(frozen=True, eq=False)
class Result(ReadByVariable):
    """The answer of a decode.

    ``result[x]`` are the values of variables: 0/1 for literals, state indices for categoricals,
    "both true" for a handle of pairs; names do as well, ``result["tag"]``.
    ``result.labels[tag]`` gives labels, ``result.marginals[x]`` the relaxed answer,
    ``result.certificate`` the proof.
    """

    status: Status
    certificate: Certificate
    trace: Trace
    iterations: int
    seconds: float
    message: str
    violated: tuple[str, ...]  # constraints that least_violating breaks, in words
    consensus: Float  # [N] the relaxed answer
    penalty: float = float("nan")
    inner: Float | None = None  # weights of table entries, where the solver keeps them
    plan: str = "The solver that was asked for."  # what was done, and why

    @property
    def value(self) -> float:
        """Score of the assignment; ``-inf`` if no feasible one was found."""
        return self.certificate.value

    @property
    def bound(self) -> float:
        """No assignment scores more than this."""
        return self.certificate.bound

    @property
    def gap(self) -> float:
        """``bound − value``."""
        return self.certificate.gap

    @property
    def feasible(self) -> bool:
        """Whether a feasible assignment was found."""
        return self.certificate.feasible

    def by(self, deadline: float) -> Result:
        """The same, with no more time to name what is infeasible than until a time of the clock."""
        left = deadline - time.perf_counter()
        if self.bound > -np.inf or left >= self.certificate.naming_seconds:
            return self
        return replace(self, certificate=replace(self.certificate, naming_seconds=max(left, 0.0)))

    def warm_start_point(self) -> WarmStartPoint:
        """What a later run on the same graph can start from."""
        claim = self.certificate
        dual = None if claim.is_ray else claim.flat_dual
        marginals = self.consensus[claim.compiled.free]
        return WarmStartPoint(claim.compiled, marginals, dual, self.penalty, claim.assignment)

    def __getitem__(self, key: Any) -> NDArray[Any]:
        if not self.feasible:
            raise NoFeasibleAssignment(
                f"no feasible assignment was found ({self.status.name}); "
                "result.least_violating[x] reads the closest one, result.violated what it breaks"
            )
        return self._values(key)

    @property
    def least_violating(self) -> AnswerLookup:
        """The assignment that breaks the fewest constraints found, feasible or not."""
        return AnswerLookup(self._values, "least violating assignment")

    def _values(self, key: Any) -> NDArray[Any]:
        key = self._named(key)
        if isinstance(key, GroupedHandle):
            return self._of_groups(key, self._values)
        return values_of(key, self._codes(key), self.certificate.assignment)

    def _of_groups(self, key: GroupedHandle, read: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """What is read of soft constraints, ``[groups]``, or of the literals of each group.

        The latter is ``[groups, literals of the largest]``, masked where a group has no more.
        """
        found = []
        for part in key.parts:
            soft = isinstance(part.factor, SOFT)
            found.append(read(part if soft else Literals(part.factor.graph, part.factor.codes)))
        return key.factor.joined(found)

    def _marginals(self, key: Any) -> Float:
        key = self._named(key)
        if isinstance(key, GroupedHandle):
            return self._of_groups(key, self._marginals)
        if isinstance(key, Handle) and isinstance(key.factor, Scored):
            return key.factor.readable(self._inner_parts(key))
        if isinstance(key, Handle) and isinstance(key.factor, SoftKnapsack):
            paid = Literals(key.factor.graph, key.factor.paid.reshape(key.shape))
            return self._marginals(paid)
        p = certify.literal_marginals(self._codes(key), self.consensus)
        if not isinstance(key, Handle):
            return p
        if not isinstance(key.factor, Pair):
            raise TypeError(f"{key!r} has no inner parts; ask for the marginals of its variables")
        compiled = self.certificate.compiled
        scores = compiled.by_block(self.certificate.scores)[compiled.blocks.index(key)]
        return inner_part(p, scores).reshape(key.shape)

    def _inner_parts(self, key: Handle) -> Float:
        """Weights ``[m, entries]`` of the inner parts of a batch."""
        compiled = self.certificate.compiled
        if key not in compiled.blocks:
            raise ModelError(f"{key!r} belongs to another graph than this result")
        assert isinstance(key.factor, Scored)
        out = self._integral_parts(key.factor) if self.inner is None else self._kept_parts(key)
        if np.isnan(out).any():
            raise TypeError(f"{key!r} cannot list its inner parts; give it parts=")
        return out

    def _kept_parts(self, key: Handle) -> Float:
        """Inner parts that the solver kept."""
        compiled = self.certificate.compiled
        assert isinstance(key.factor, Scored) and self.inner is not None
        out = np.zeros(key.factor.scores.shape)
        restore_marginals(
            compiled.blocks.index(key),
            compiled.placed_tables,
            compiled.unary_tables,
            compiled.problem.tables,
            self.inner,
            self.consensus,
            out,
        )
        for done in compiled.settled:
            if compiled.blocks[done.block] is key and isinstance(key.factor, Structure):
                out[done.rows] = key.factor.parts_at(done.truth)[0]
        return out

    def _integral_parts(self, factor: Scored) -> Float:
        """Inner parts ``[m, entries]`` of an integral answer: each is used or not."""
        integral = (self.consensus == self.certificate.assignment).all()
        if not integral or not isinstance(factor, (Table, Structure)):
            raise TypeError("this solver keeps no inner parts of tables; decode with AD3")
        truth = certify.literal_truth(factor.codes, self.certificate.assignment)
        if isinstance(factor, Structure):
            return factor.parts_at(truth)[0]
        count = factor.scores.shape[1]
        numbers = np.broadcast_to(np.arange(1.0, count + 1.0), (len(truth), count))
        return (factor.value_at(truth, numbers)[:, None] == numbers).astype(float)

    def _named(self, key: Any) -> Any:
        return self.certificate.compiled.graph.named(key)

    def _codes(self, key: Any) -> NDArray[np.int32]:
        return codes_of(key, self.certificate.compiled.graph, len(self.certificate.assignment))

    @property
    def paid(self) -> tuple[Paid, ...]:
        """Soft constraints that the assignment violates, and what each costs."""
        if not self.feasible:
            return ()
        claim = self.certificate
        found: list[Paid] = []
        for block, scores in zip(
            claim.compiled.blocks, claim.compiled.by_block(claim.scores), strict=True
        ):
            if not isinstance(block.factor, SOFT):
                continue
            truth = certify.literal_truth(block.factor.codes, claim.assignment)
            costs = block.factor.costs(truth, scores, claim.scores.theta)
            for row in np.flatnonzero(costs > 0.0):
                found.append(Paid(block.words(int(row)), float(costs[row])))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Figures and the answer as plain numbers, lists and strings, ready for JSON.

        Numbers that are not finite are ``None``, as is the answer if there is none.  Values are
        lists of 0 and 1, or of labels, by the names of variables.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> tag = g.categorical(2, "NV", scores=[[1.0, 0.0], [0.0, 2.0]], name="tag")
            >>> found = at.decode(g).to_dict()
            >>> found["status"], found["value"], found["answer"]
            ('OPTIMAL', 3.0, {'tag': ['N', 'V']})
        """
        figures = {name: getattr(self, name) for name in ("value", "bound", "gap", "seconds")}
        arrays = self.certificate.compiled.graph.own_variables
        answer = {a.name: self._shown(a.symbol).tolist() for a in arrays} if self.feasible else None
        return {
            "status": self.status.name,
            "message": self.message,
            **{name: float(x) if np.isfinite(x) else None for name, x in figures.items()},
            "feasible": self.feasible,
            "iterations": self.iterations,
            "plan": self.plan,
            "answer": answer,
        }

    def to_frame(self) -> Any:
        """The answer as a pandas table: variable, index, value and marginal, a row each.

        A categorical variable's value is its label, and its marginal that label's.  Needs pandas.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> tag = g.categorical(2, "NV", scores=[[1.0, 0.0], [0.0, 2.0]], name="tag")
            >>> at.decode(g).to_frame()["value"].tolist()                # doctest: +SKIP
            ['N', 'V']
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        columns: dict[str, list[Any]] = {"variable": [], "index": [], "value": [], "marginal": []}
        for array in self.certificate.compiled.graph.own_variables:
            symbol = array.symbol
            marginals = self.marginals[symbol]
            if array.states is not None:
                marginals = np.take_along_axis(marginals, self[symbol][..., None], axis=-1)[..., 0]
            places = list(np.ndindex(*symbol.shape))
            columns["variable"] += [array.name] * len(places)
            columns["index"] += places
            columns["value"] += self._shown(symbol).ravel().tolist()
            columns["marginal"] += marginals.ravel().tolist()
        return pandas.DataFrame(columns)

    def _shown(self, symbol: Any) -> NDArray[Any]:
        """Values as a person reads them: labels where there are any."""
        return self.labels[symbol] if isinstance(symbol, Categorical) else self[symbol]

    def plot(self, path: Any = None, *, ax: Any = None) -> Any:
        """Draw bound, value and residuals along the run, and return the axes.

        Args:
            path: where to save the picture, if anywhere.
            ax: matplotlib axes to draw bound and value on.
        """
        title = f"{self.status.name}, gap {self.gap:.3g}"
        return self.trace.plot(path, ax=ax, title=title)

    def _repr_html_(self) -> str:
        return result_html(self)

    def __repr__(self) -> str:
        answer = f"value {self.value:.6g}" if self.feasible else "no feasible assignment"
        return (
            f"Result {self.status.name}: {answer}, bound {self.bound:.6g}, gap {self.gap:.3g}, "
            f"{self.iterations} iterations in {self.seconds:.3g} s\n  {self.message}"
        )


def codes_of(key: Any, graph: Any, size: int) -> NDArray[np.int32]:
    """Codes of variables, or of the literals of pairs; a graph of ``size`` coordinates has them."""
    owner = key.factor.graph if isinstance(key, Handle) else getattr(key, "graph", None)
    if not isinstance(key, (Literals, Categorical, Handle)):
        raise TypeError(f"results are read by variable or handle, not {key!r}")
    if owner is not graph:
        raise ModelError(f"{key!r} belongs to another graph than this result")
    codes = key.factor.codes if isinstance(key, Handle) else key.codes
    if codes.size and np.maximum(codes, ~codes).max() >= size:
        raise ModelError(f"{key!r} was declared after this result; decode the graph again")
    if isinstance(key, Handle) and isinstance(key.factor, Scored):
        raise TypeError(f"{key!r} is a table; read its variables, or its marginals")
    if isinstance(key, Handle) and not isinstance(key.factor, Pair):
        raise TypeError(f"{key!r} is a constraint; read its variables instead")
    return codes


def values_of(key: Any, codes: NDArray[np.int32], assignment: NDArray[np.int8]) -> NDArray[Any]:
    """Values of variables or pairs under an assignment ``[N]``, or under many, ``[B, N]``."""
    if isinstance(key, Categorical):
        return _chosen_states(codes, assignment)
    truth = certify.literal_truth(codes, assignment)
    if isinstance(key, Handle):
        return truth.all(axis=-1).astype(np.int8).reshape(*assignment.shape[:-1], *key.shape)
    return truth.astype(np.int8)


def _chosen_states(codes: NDArray[np.int32], assignment: NDArray[np.int8]) -> NDArray[Any]:
    """Numbers of the states ``codes[..., K]`` that are true under one assignment or many."""
    flat = codes.ravel()
    if flat.size and flat[-1] - flat[0] == flat.size - 1 and (np.diff(flat) == 1).all():
        own = assignment[..., flat[0] : flat[-1] + 1]  # as declared: no need to gather
        return own.reshape(*assignment.shape[:-1], *codes.shape).argmax(axis=-1)
    return assignment[..., codes].argmax(axis=-1)


def labels_at(key: Any, states: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Labels of a categorical variable, of which ``states()`` are the numbers of states."""
    if not isinstance(key, Categorical):
        raise TypeError(f"labels belong to categorical variables, not {key!r}")
    return label_array(key.states)[states()]


def label_array(states: tuple[Any, ...]) -> NDArray[Any]:
    """Labels as a NumPy array: of strings or integers where they all are, of objects otherwise."""
    for kind in (str, int):
        if all(type(state) is kind for state in states):
            return np.array(states)
    labels = np.empty(len(states), dtype=object)
    for i, state in enumerate(states):
        labels[i] = state
    return labels
