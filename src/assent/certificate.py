"""The certificate: what is claimed of an answer, and how every claim is recomputed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores, refutes
from assent.errors import ModelError
from assent.kernels.problem import DualPoint, Float
from assent.notebook import certificate_html
from assent.proof import certify
from assent.proof import proof_tree as proofs
from assent.proof.gap_rule import allowed_gap
from assent.proof.replay import Others, Replay, rounding_of

if TYPE_CHECKING:
    from assent.infeasible_subset import InfeasibleSubset

# A person who asks what clashes waits that long for a short answer.
NAMING_SECONDS = 2.0

# Sums of many rounded terms may differ by this, relatively: a tenth of the usual gap tolerance.
ROUNDED = 1e-7


@dataclass(frozen=True)
class Relaxation:
    """An (ε, δ) proof that the linear relaxation itself is solved.

    Attributes:
        value: the relaxation's objective at the consensus marginals.
        epsilon: root mean square disagreement between factors and consensus.
        delta: ``|bound − value|``.
        solved: whether both were within the tolerances asked for.
    """

    value: float
    epsilon: float
    delta: float
    solved: bool


def state_relaxation(
    value: float, residual: float, bound: float, solver: Any, scale: float
) -> Relaxation:
    """How well the linear relaxation is solved, by the tolerances of a solver."""
    delta = abs(bound - value)
    within = delta <= allowed_gap(solver.gap_tolerance, bound, scale)
    return Relaxation(value, residual, delta, residual <= solver.residual_tolerance and within)


@dataclass(frozen=True, eq=False)
class Certificate:
    """``value <= optimum <= bound``, with what is needed to recheck it.

    Attributes:
        value: score of the assignment, ``-inf`` if no feasible one was found.
        bound: no assignment scores more than this (``-inf`` if none is feasible).
        feasible: whether the assignment satisfies every constraint.
        relaxation: proof that the linear relaxation is solved, if the solver gives one.
        proof: a branch-and-bound tree that proves the bound where no single dual point does.
        others: answers given before this one (`k_best`): the bound is for all that differ.
        naming_seconds: how long `conflict` may look for few constraints.
    """

    value: float
    bound: float
    feasible: bool
    relaxation: Relaxation | None
    compiled: Compiled
    scores: GraphScores
    assignment: NDArray[np.int8]
    flat_dual: DualPoint | None
    is_ray: bool = False
    searched: bool = False
    proof: Any = None
    others: Others | None = None
    naming_seconds: float = NAMING_SECONDS

    @property
    def conflict(self) -> tuple[str, ...]:
        """For INFEASIBLE, constraints and evidence that cannot hold together, in words.

        Leaving out any one of them makes the rest possible, if `irreducible` says so.  They are
        looked for when they are first asked for.  Where propagation shows the contradiction, it is
        told step by step: "evidence x[0]=1", "AtMostOne(x[0], x[1]) → x[1]=0", …,
        "AtLeastOne(x[1]) cannot hold".
        """
        return () if self._subset is None else self._subset.words

    @property
    def irreducible(self) -> bool:
        """Whether every part of `conflict` is needed: known unless the time for looking ran out."""
        return self._subset is not None and self._subset.irreducible

    @cached_property
    def _subset(self) -> InfeasibleSubset | None:
        if self.bound > -np.inf:
            return None
        from assent.infeasible_subset import infeasible_subset

        return infeasible_subset(self, self.naming_seconds)

    @property
    def trusted(self) -> tuple[str, ...]:
        """The solvers whose word a part of the bound rests on: what `verify` cannot recheck."""
        if self.proof is not None:
            return proofs.trusted(self.proof)
        claims = self.bound < np.inf and not self.is_ray
        return ("HiGHS",) if self.searched and claims else ()

    @property
    def gap(self) -> float:
        """``bound − value``; 0 for a proven infeasible model."""
        return 0.0 if self.bound == self.value else self.bound - self.value

    @property
    def relative_gap(self) -> float:
        """``gap / (scale + |bound|)``: what ``gap_tolerance`` is compared with.

        The scale is that of the scores (``certificate.scores.scale``): the relative gap stays the
        same when all of them are multiplied by a constant.
        """
        size = self.scores.scale + abs(self.bound)
        return self.gap / size if np.isfinite(size) else self.gap

    def is_closed(self, gap_tolerance: float) -> bool:
        """Whether there is an answer, and its gap is within a tolerance."""
        allowed = allowed_gap(gap_tolerance, self.bound, self.scores.scale)
        return self.feasible and np.isfinite(self.bound) and self.gap <= allowed

    @cached_property
    def dual_point(self) -> tuple[Float, ...]:
        """One literal score per link: an array ``[m, size]`` for every batch of factors.

        Batches come in the order they were added, then one per categorical variable array.
        """
        if self.flat_dual is None:
            raise ModelError("propagation alone proved this: there is no dual point")
        scores = self.scores.zeroed() if self.is_ray else self.scores
        return self.compiled.graph_dual(self.flat_dual, scores)

    @property
    def shown_by(self) -> Any:
        """The proof of the bound as a tree, whatever it is; None where nothing is claimed."""
        if self.proof is not None or self.bound == np.inf:
            return self.proof
        if self.searched and not self.is_ray:
            return proofs.Trusted(self.trusted[0], self.bound)
        if self.flat_dual is None:
            return proofs.Refuted()
        return (proofs.FarkasRay if self.is_ray else proofs.LinkScores)(self.flat_dual)

    def verify(self) -> bool:
        """Recompute every claim from the graph, the assignment and the dual point.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> x = g.binary(2, scores=[1.0, 2.0])
            >>> rule = g.add(at.AtMostOne(x))
            >>> at.decode(g).certificate.verify()
            True
        """
        check = certify.check_assignment(self.compiled, self.scores, self.assignment)
        if check.feasible != self.feasible:
            return False
        if self.feasible and not abs(check.value - self.value) <= self._slack(self.value):
            return False
        if self.bound == np.inf:  # a solver without a bound claims nothing
            return True
        if self.others is not None and not self.others.fits(len(self.assignment)):
            return False
        if self.proof is not None:
            shown = Replay(self.compiled, self.scores, self.others).bound(self.proof)
            if self.others is not None and self._is_one_of(self.others):
                return False
            return self._is_no_less(max(shown, self.value))
        if self.bound == -np.inf:
            return self._verify_infeasible()
        shown = -np.inf  # where a search is taken at its word
        if not self.searched:
            shown = certify.upper_bound(self.compiled, self.scores, self.dual_point)
        return self._is_no_less(max(shown, self.value))

    def _is_no_less(self, most: float) -> bool:
        """Whether the bound claimed is no less than what was found, but for rounding.

        A claim that is higher says less than what is shown: it is right all the same.
        """
        return bool(most == self.bound or most <= self.bound + self._slack(self.bound))

    def _slack(self, magnitude: float) -> float:
        """What sums in another order may differ by: relative to themselves, and to link scores."""
        links = 0.0 if self.flat_dual is None else rounding_of(self.flat_dual)
        return ROUNDED * (self.scores.scale + abs(magnitude)) + links

    def _is_one_of(self, others: Others) -> bool:
        """Whether the assignment is among answers given before."""
        return bool((self.assignment[others.coordinates] == others.answers).all(axis=1).any())

    def _verify_infeasible(self) -> bool:
        if self.flat_dual is None:  # propagation is repeated from the written graph
            return refutes(self.compiled, self.scores)
        return certify.proves_infeasible(self.compiled, self.scores, self.dual_point)

    def _repr_html_(self) -> str:
        return certificate_html(self)

    def __repr__(self) -> str:
        trusting = tuple(f"trusting {name}" for name in self.trusted)
        if self.bound == -np.inf:
            first, last = self.conflict[:3], self.conflict[3:][-1:]
            more = ("…",) if len(self.conflict) > 4 else ()
            involved = "involved: " if self.irreducible else "involved, with others perhaps: "
            words = (involved + "; ".join((*first, *more, *last)),) if first else ()
            return "; ".join(("Certificate: infeasible", *words, *trusting))
        value = f"{self.value:.6g}" if self.feasible else "none found"
        claim = (
            f"Certificate: value {value} ≤ optimum ≤ bound {self.bound:.6g} "
            f"(gap {self.gap:.3g}, relative {self.relative_gap:.1e})"
        )
        return "; ".join((claim, *trusting))
