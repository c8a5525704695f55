"""Soft: a constraint that may be broken, for a price.

Its forms: by count, with an output, of labels, and of a knapsack.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.arguments import shape_of, shown
from assent.errors import ModelError
from assent.factors.agree import Agree
from assent.factors.base import Factor, Logic
from assent.factors.grouped import Grouped, share
from assent.factors.knapsack import Knapsack, most_weight
from assent.factors.normal_form import NormalForm
from assent.factors.scored import Scored, slots_of
from assent.factors.structure import Structure
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, Float, Int32, Int64
from assent.model.scores import LARGEST_SCORE, broadcast_numbers
from assent.model.variables import Literals


class Soft(Structure):
    """``penalty`` is paid where a constraint is violated, once, however badly (Belanger et al.).

    Every constraint on literals can be softened, and agreement of categorical variables.  A soft
    constraint never makes a problem infeasible; ``result.paid`` lists what was paid.

    Args:
        rule: any constraint, such as ``at.AtMost(2, x)`` or ``at.Agree(tag[0], tag[7])``.
        penalty: a number >= 0, or one per constraint.  Agreement of categorical variables also
            takes one per label, ``(*shape, K)``, charged by the first variable's, or a matrix,
            ``(*shape, K, K)``, of which ``penalty[i, j]`` is charged where the first is i and the
            second is not j.

    Later decodes change penalties by ``scores={handle: penalty}``.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 0.4, 0.3], name="x")
        >>> alone = g.add(at.Soft(at.AtMostOne(x), penalty=0.5))
        >>> result = at.decode(g)
        >>> result[x].tolist(), result.paid
        ([1, 1, 1], (Paid(rule='Soft(AtMostOne(x[0], x[1], x[2]))', cost=0.5),))
    """

    paper_name = "soft constraint"
    formula = "−penalty · [the constraint is violated]"
    rule: Factor
    flip: NDArray[np.bool_]  # literals of the rule that enter negated

    # Without arguments: copies are made that way.
    def __new__(cls, rule: Any = None, *, penalty: Any = None) -> Any:
        if isinstance(rule, Grouped):
            return soft_groups(cls, rule, penalty)
        if cls is not Soft:
            return super().__new__(cls)
        return choose(rule, penalty)

    # Python calls this for what __new__ returns, with the arguments of the call.
    def __init__(self, rule: Any, *, penalty: Any) -> None:
        self.rule = rule
        self._prepare()
        self.scores = self.fit(penalty)

    # What a softened constraint is made of depends on the constraint: `choose` picks the form,
    # and forms define these.  They are no abstract methods, since people write ``Soft(rule)``.

    def _prepare(self) -> None:
        """Set slots and constants from the rule."""
        raise NotImplementedError

    def _entries(self, penalty: Float) -> Float:
        """Inner scores ``[m, entries]`` of penalties, one per constraint or as `fit` has them."""
        raise NotImplementedError

    def entry_shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def fit(self, scores: Any) -> Float:
        """Penalties as inner scores ``[m, entries]``."""
        return self._entries(clean_penalty(scores, self.shape).ravel())

    @property
    def kind(self) -> str:
        return "Soft"

    def words(self, row: int) -> str:
        return f"Soft({self._rule_now().words(row)})"

    def costs(self, truth: NDArray[np.bool_], scores: Float, theta: Float) -> Float:
        """What each constraint ``[m]`` costs at literal truth values ``[m, links]``."""
        return -self.value_at(truth, scores)

    def _attach_form(self, form: NormalForm) -> None:
        """Attach to the literals as the rule's normal form reads them."""
        self.flip = form.flip
        self._attach_literals(self.rule.graph, form.literals(self.rule.codes), self.rule.shape)

    def _rule_now(self) -> Factor:
        """The rule in terms of this factor's own literals, which another graph may have given."""
        rule = copy.copy(self.rule)
        rule.graph, rule.codes = self.graph, self.codes ^ -self.flip.astype(np.int32)
        return rule


class SoftCount(Soft):
    """``penalty`` is paid per literal too many or too few (a hinge on the count).

    Args:
        rule: a constraint on a number of literals: ``AtMost``, ``AtLeast``, ``Exactly``, their
            relatives for one, ``All`` or ``Implies``, without output.
        penalty: a number >= 0, or one per constraint.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 0.4, 0.3], name="x")
        >>> alone = g.add(at.SoftCount(at.AtMostOne(x), penalty=0.35))
        >>> at.decode(g)[x].tolist()
        [1, 1, 0]
    """

    paper_name = "soft linear constraint"
    formula = "−penalty · (distance of the count from what is allowed)"

    def __new__(cls, rule: Any = None, *, penalty: Any = None) -> Any:
        if isinstance(rule, Grouped):
            return soft_groups(cls, rule, penalty)
        return super().__new__(HingeSoft if cls is SoftCount else cls)

    @property
    def kind(self) -> str:
        return "SoftCount"

    def words(self, row: int) -> str:
        return f"SoftCount({self._rule_now().words(row)})"


def check_rule(kind: str, rule: Any) -> Logic:
    """``rule``, if it is a constraint that can be softened."""
    if not isinstance(rule, Logic):
        what = f"a {rule.kind}, which has scores" if isinstance(rule, Factor) else shown(rule)
        raise TypeError(f"{kind} takes a constraint such as AtMost(2, x), got {what}")
    return rule


def clean_penalty(penalty: Any, shape: tuple[int, ...]) -> Float:
    """Numbers >= 0 of ``shape``, or broadcast to it."""
    full = broadcast_numbers("Soft: a penalty", penalty, shape)
    if np.isposinf(full).any():
        raise ModelError("Soft: an infinite penalty is the constraint itself; add it without Soft")
    if not ((full >= 0.0) & (full <= LARGEST_SCORE)).all():
        raise ModelError(
            f"Soft: penalties are numbers >= 0 (at most {LARGEST_SCORE:g}), got {shown(penalty)}"
        )
    return full


def choose(rule: Any, penalty: Any) -> Any:
    """An object of the form that suits a rule; `Soft.__init__` fills it if it is a `Soft`."""
    check_rule("Soft", rule)
    if isinstance(rule, Agree):
        pairs = np.broadcast_shapes(*(side.shape for side in rule.sides))
        if len(shape_of(penalty)) == len(pairs) + 2:
            return object.__new__(MatrixSoft)
        return object.__new__(AgreeSoft)
    form = rule.normal_form().form
    if form == KNAPSACK:
        return SoftKnapsack(rule, penalty=penalty)
    return object.__new__(OutputSoft if form == ANYOF else CountedSoft)


def soft_groups(cls: Any, rule: Grouped, penalty: Any) -> Grouped:
    """Every group's constraint for a price: one penalty for all, or one per group."""

    def soften(part: Factor, rows: Int64) -> Factor:
        return cls(part, penalty=share("Soft: penalty", penalty, len(rule), rows))

    return rule.replaced(soften)


class CountedSoft(Soft):
    """A constraint that depends on the number of true literals alone."""

    kernel_names = "count_structure", "counts"

    def _prepare(self) -> None:
        form = check_rule(self.kind, self.rule).normal_form()
        if form.form in (ANYOF, KNAPSACK):
            raise ModelError(f"{self.kind}: {self.rule.kind} does not count literals; use Soft")
        number = np.arange(self.rule.size + 1)
        if form.form == PARITY:
            self.excess = np.broadcast_to(number % 2, (len(self.rule), len(number)))
        else:
            above = np.maximum(number - form.k[:, None], 0)
            self.excess = above if form.form == CAP else np.abs(number - form.k[:, None])
        self._attach_form(form)

    def _entries(self, penalty: Float) -> Float:
        return -penalty[:, None] * (self.excess > 0)

    def entry_shape(self) -> tuple[int, ...]:
        return (self.size + 1,)

    def readable(self, parts: Float) -> Any:
        """Probability that it is violated, in the shape of the factors."""
        return (parts * (self.excess > 0)).sum(axis=1).reshape(self.shape)


class HingeSoft(CountedSoft, SoftCount):
    """The same, charged by how far the count is off."""

    def _entries(self, penalty: Float) -> Float:
        return -penalty[:, None] * self.excess


class OutputSoft(Soft):
    """The last literal should say whether any of the others is true."""

    kernel_names = "soft_output", "output"

    def _prepare(self) -> None:
        self._attach_form(check_rule(self.kind, self.rule).normal_form())

    def _entries(self, penalty: Float) -> Float:
        return -penalty[:, None]

    def entry_shape(self) -> tuple[int, ...]:
        return (1,)

    def readable(self, parts: Float) -> Any:
        """Probability that it is violated, in the shape of the factors."""
        return parts.reshape(self.shape)


class AgreeSoft(Soft):
    """Two variables should take the same state; the first one's says what it costs if not.

    Its inner parts are the probabilities of disagreement by the first one's state.
    """

    kernel_names = "soft_agreement", "agree"

    def _prepare(self) -> None:
        assert isinstance(self.rule, Agree)
        graph, codes, shape, self.states, self.first = slots_of("Soft", self.rule.sides)
        self.data = np.zeros(0, np.int32)
        self._attach(graph, codes, shape)

    def fit(self, scores: Any) -> Float:
        labels = self.states[0]
        by_label = len(shape_of(scores)) == len(self.shape) + 1
        shape = (*self.shape, labels) if by_label else self.shape
        penalty = clean_penalty(scores, shape)
        full = np.broadcast_to(penalty if by_label else penalty[..., None], (*self.shape, labels))
        return self._entries(full.reshape(-1, labels))

    def _entries(self, penalty: Float) -> Float:
        return -penalty

    def entry_shape(self) -> tuple[int, ...]:
        return (self.states[0],)

    def words(self, row: int) -> str:
        return Scored.words(self, row).replace("Soft(", "Soft(Agree(", 1) + ")"


class MatrixSoft(AgreeSoft):
    """``penalty[i, j]`` is charged where the first is in state i and the second is not in j."""

    kernel_names = "soft_agreement_matrix", "matrix"

    def fit(self, scores: Any) -> Float:
        penalty = clean_penalty(scores, (*self.shape, *self.states))
        return self._entries(penalty.reshape(len(self.codes), -1))

    def entry_shape(self) -> tuple[int, ...]:
        return self.states


class SoftKnapsack(Knapsack):
    """A knapsack that a literal of its own makes large enough for everything, for a price.

    The last literal of each knapsack is the negation of an auxiliary variable of the rule's
    graph, whose score is the penalty.
    """

    kind = Soft.kind

    def __init__(self, rule: Any, *, penalty: Any) -> None:
        assert isinstance(rule, Knapsack)
        self.shape = rule.shape
        paid = rule.graph.binary(
            rule.shape, scores=self.fit(penalty).reshape(rule.shape), auxiliary=True
        )
        total = rule.weights.sum(axis=1)
        room = np.maximum(total - most_weight(rule.weights, rule.capacity), 0.0)
        weights = np.column_stack([rule.weights, room])
        codes = np.column_stack([rule.codes, ~paid.codes.ravel()])
        lits = Literals(rule.graph, codes.reshape(*rule.shape, -1))
        super().__init__(
            lits,
            weights=weights.reshape(lits.shape),
            capacity=np.maximum(total, rule.capacity).reshape(rule.shape),
            axis=-1,
        )

    def words(self, row: int) -> str:
        rule = copy.copy(self)
        rule.codes = self.codes[:, :-1]
        return f"Soft({Knapsack.words(rule, row).replace('Soft(', 'Knapsack(', 1)})"

    def fit(self, scores: Any) -> Float:
        """Penalties as scores ``[m]`` of the variables that are true where they are paid."""
        return -clean_penalty(scores, self.shape).ravel()

    @property
    def paid(self) -> Int32:
        """``[m]`` coordinates of the variables that are true where the penalty is paid."""
        return ~self.codes[:, -1]

    def costs(self, truth: NDArray[np.bool_], scores: Float, theta: Float) -> Float:
        """What each constraint ``[m]`` costs at literal truth values ``[m, links]``."""
        return np.where(truth[:, -1], 0.0, -theta[self.paid])

    def is_due(self, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each constraint ``[m]`` has to be paid for at truth values ``[m, links]``."""
        unpaid = truth.copy()
        unpaid[:, -1] = True
        return ~self.holds(unpaid)


def table_of_penalties(penalty: Any) -> Float:
    """Scores ``[..., K, L]`` of penalties ``[..., K, L]``: all of a row but the state's own.

    Example:
        >>> table_of_penalties([[0.0, 2.0], [1.0, 0.5]])
        array([[-2. ,  0. ],
               [-0.5, -1. ]])
    """
    array = np.asarray(penalty, dtype=np.float64)
    return array - array.sum(axis=-1, keepdims=True)


def penalties_of_table(scores: Any) -> tuple[Float, float]:
    """Penalties >= 0 and a constant that say the same as scores ``[K, L]`` of joint states.

    ``scores[i, j] = constant - sum of penalties[i, j'] over j' other than j``, which makes a pair
    of variables a soft constraint; the relaxation of that may be looser than the pair's.

    Example:
        >>> penalty, constant = penalties_of_table([[1.0, 0.0], [0.0, 1.0]])
        >>> (table_of_penalties(penalty) + constant).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ModelError("penalties_of_table takes a matrix of finite scores")
    states = table.shape[1]
    if states < 2:
        raise ModelError("a variable of one state has nothing to disagree about")
    # With scores shifted by -C all penalties grow by C / (k - 1): the least C that does.
    plain = table - table.sum(axis=1, keepdims=True) / (states - 1)
    shift = max(0.0, -float(plain.min())) * (states - 1)
    return plain + shift / (states - 1), shift


SOFT = (Soft, SoftKnapsack)  # kinds that charge for violations
