"""Soft: a constraint that may be broken, for a price."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Factor, Logic
from assent.factors.structure import Structure
from assent.kernels.problem import Float
from assent.model.scores import broadcast_numbers


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

    # Without arguments: copies are made that way.
    def __new__(cls, rule: Any = None, *, penalty: Any = None) -> Any:
        if cls is not Soft:
            return super().__new__(cls)
        from assent.factors import soft_forms

        return soft_forms.choose(rule, penalty)

    # Python calls this for what __new__ returns, with the arguments of the call.
    def __init__(self, rule: Any, *, penalty: Any) -> None:
        self.rule = rule
        self._prepare()
        self.scores = self.fit(penalty)

    @abstractmethod
    def _prepare(self) -> None:
        """Set slots and constants from the rule."""

    @abstractmethod
    def _entries(self, penalty: Float) -> Float:
        """Inner scores ``[m, entries]`` of penalties, one per constraint or as `fit` has them."""

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

    def _rule_now(self) -> Factor:
        """The rule in terms of this factor's own literals, which another graph may have given."""
        rule = copy.copy(self.rule)
        rule.graph, rule.codes = self.graph, self._rule_codes()
        return rule

    def _rule_codes(self) -> Any:
        return self.codes


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
        from assent.factors.soft_forms import HingeSoft

        return super().__new__(HingeSoft if cls is SoftCount else cls)

    @property
    def kind(self) -> str:
        return "SoftCount"

    def words(self, row: int) -> str:
        return f"SoftCount({self._rule_now().words(row)})"


def check_rule(kind: str, rule: Any) -> Logic:
    """``rule``, if it is a constraint that can be softened."""
    if not isinstance(rule, Logic):
        what = f"a {rule.kind}, which has scores" if isinstance(rule, Factor) else repr(rule)
        raise TypeError(f"{kind} takes a constraint such as AtMost(2, x), got {what}")
    return rule


def clean_penalty(penalty: Any, shape: tuple[int, ...]) -> Float:
    """Numbers >= 0 of ``shape``, or broadcast to it."""
    full = broadcast_numbers("Soft: a penalty", penalty, shape)
    if np.isposinf(full).any():
        raise ModelError("Soft: an infinite penalty is the constraint itself; add it without Soft")
    if not (full >= 0.0).all():
        raise ModelError(f"Soft: penalties are numbers >= 0, got {penalty!r}")
    return full
