"""Reports of rules: their factors, and which ground rules an answer violates or pays for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Factor, Logic
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.logic.expressions import substituted
from assent.logic.rule_draft import SCORE
from assent.proof.certify import literal_truth
from assent.text_table import format_table

if TYPE_CHECKING:
    from assent.certificate import Certificate
    from assent.kernels.problem import Float
    from assent.logic.rules import Ground, Rule
    from assent.result import Result

SHOWN = 20  # findings of each sort that a printed explanation lists


@dataclass(frozen=True)
class Report:
    """The rules and their groundings; prints as a table."""

    rules: tuple[Rule, ...]

    @property
    def factors(self) -> int:
        """Factors of all rules."""
        return sum(sum(rule.factors.values()) for rule in self.rules)

    @property
    def auxiliaries(self) -> int:
        """Auxiliary variables of all rules."""
        return sum(rule.auxiliaries for rule in self.rules)

    def __str__(self) -> str:
        rows = [
            (
                rule.name,
                rule.weight,
                f"{rule.bindings:,}",
                ", ".join(f"{count:,} {kind}" for kind, count in rule.factors.items()) or "none",
                f"{rule.auxiliaries:,}",
                f"{rule.merged:,}",
            )
            for rule in self.rules
        ]
        total = ("all", "", "", f"{self.factors:,}", f"{self.auxiliaries:,}", "")
        header = ("rule", "weight", "bindings", "factors", "auxiliary", "merged")
        return format_table(header, [*rows, total])


@dataclass(frozen=True)
class Finding:
    """One ground rule of interest.

    Attributes:
        rule: the rule's name.
        binding: the values of its variables, as text.
        statement: the rule with these values substituted.
        factor: its ground factor, as text.
        amount: its cost, or by how much the bound would rise without it.
    """

    rule: str
    binding: str
    statement: str
    factor: str
    amount: float

    def __str__(self) -> str:
        where = f" for {self.binding}" if self.binding else ""
        return f"{self.rule}{where}: {self.statement}"


@dataclass(frozen=True)
class Explanation:
    """Ground rules of interest for an answer, each list by amount, the largest first.

    Attributes:
        violated: hard ground rules that the assignment violates.
        paid: soft ground rules with a cost: a penalty paid or a weight not earned.
        tight: hard ground rules without which the bound would rise, and by how much.
    """

    violated: tuple[Finding, ...]
    paid: tuple[Finding, ...]
    tight: tuple[Finding, ...]

    def __str__(self) -> str:
        lines: list[str] = []
        for title, found, unit in (
            ("violated", self.violated, ""),
            ("paid", self.paid, "{:.4g}  "),
            ("tight", self.tight, "{:.4g}  "),
        ):
            lines.append(f"{title}: {len(found) or 'none'}")
            lines += [f"  {unit.format(f.amount)}{f}" for f in found[:SHOWN]]
            if len(found) > SHOWN:
                lines.append(f"  … {len(found) - SHOWN} more")
        return "\n".join(lines)


def explain(rules: Sequence[Rule], result: Result, tolerance: float, most: int) -> Explanation:
    """The explanation of a result; see `Rules.explain`."""
    x, decoded = result.certificate.assignment, set(result.certificate.compiled.blocks)
    violated: list[Finding] = []
    paid: list[Finding] = []
    for rule, ground in _grounds(rules):
        batch = ground.batch
        if ground.handle not in decoded:
            raise ModelError(f"{rule.name} was added after this result; decode the graph again")
        truth = literal_truth(batch.lits, x)
        if batch.role == SCORE:
            paid += _findings(rule, ground, _lost(ground.handle.factor, truth), tolerance, most)
        else:
            factor = ground.handle.factor
            assert isinstance(factor, Logic)
            violated += _findings(rule, ground, (~factor.holds(truth)).astype(float), 0.5, most)
    tight = _tight(rules, result, tolerance, most)
    return Explanation(
        *(tuple(sorted(found, key=lambda f: -f.amount)[:most]) for found in (violated, paid, tight))
    )


def _lost(factor: Factor, truth: NDArray[np.bool_]) -> Float:
    """How much less factors ``[m]`` earn than they could."""
    if isinstance(factor, Pair):
        return np.maximum(factor.scores, 0.0) - factor.scores * truth.all(axis=1)
    assert isinstance(factor, Scored)
    return factor.scores.max(axis=1) - factor.value_at(truth, factor.scores)


def _multipliers(certificate: Certificate) -> tuple[Float, ...]:
    """The dual point of a bound: the certificate's, or the relaxation's."""
    if certificate.proof is None:
        return certificate.dual_point
    from assent.solvers.ad3.ad3 import AD3
    from assent.solvers.base.driver import drive
    from assent.solvers.base.protocol import Request

    request = Request(time.perf_counter())
    relaxed = drive(certificate.compiled, certificate.scores, AD3(), request)
    return relaxed.certificate.dual_point


def _tight(rules: Sequence[Rule], result: Result, tolerance: float, most: int) -> list[Finding]:
    """Hard ground rules that limit the bound: without one it would rise by the amount."""
    certificate = result.certificate
    if certificate.flat_dual is None:
        return []
    links = dict(zip(certificate.compiled.blocks, _multipliers(certificate), strict=True))
    found: list[Finding] = []
    for rule, ground in _grounds(rules):
        if ground.batch.role != SCORE:
            factor, scores = ground.handle.factor, links[ground.handle]
            assert isinstance(factor, Logic)
            rise = np.maximum(scores, 0.0).sum(axis=1) - factor.maximize(scores)[0]
            found += _findings(rule, ground, rise, tolerance, most)
    return found


def _grounds(rules: Sequence[Rule]) -> Iterator[tuple[Rule, Ground]]:
    for rule in rules:
        for ground in rule.grounds:
            yield rule, ground


def _findings(
    rule: Rule, ground: Ground, amount: np.ndarray, tolerance: float, most: int
) -> Iterator[Finding]:
    rows = np.flatnonzero(amount > tolerance)
    if len(rows) > most:
        rows = rows[np.argsort(-amount[rows], kind="stable")[:most]]
    for row in rows.tolist():
        table = ground.batch.bindings
        yield Finding(
            rule.name,
            table.words(row),
            substituted(rule.statement, table.values(row)),
            ground.handle.factor.words(row),
            float(amount[row]),
        )
