"""The ``.wcnf`` format of weighted clauses (MaxSAT), in its old and its new form.

A clause is a list of literals, numbers from 1 with a minus sign where they are negated, and ends
in 0.  Before it stands its weight, which is paid where no literal is true; ``h`` or, in the old
form, a weight of ``top`` makes it hard.  The old form begins with
``p wcnf variables clauses top``.  Lines that begin with ``c`` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assent.errors import ModelError
from assent.factors.at_least_one import AtLeastOne
from assent.factors.base import Factor, Logic
from assent.factors.pair import Pair
from assent.factors.soft import Soft
from assent.io.text import PathLike, TokenReader, read_text, write_text
from assent.kernels.problem import ANYOF, CAP, SUM
from assent.model.graph import FactorGraph
from assent.model.variables import Literals

_COMMENT = re.compile(r"^\s*c(\s.*)?$", re.MULTILINE)
HARD = np.inf


@dataclass(frozen=True)
class Clauses:
    """Weighted clauses.

    Attributes:
        n_variables: how many variables there are.
        clauses: literals of each clause as codes: ``v``, or ``~v`` for the negation of ``v``.
        weights: what is paid where a clause does not hold; infinite for a hard one.
    """

    n_variables: int
    clauses: list[list[int]]
    weights: list[float]


def read_wcnf(path: PathLike) -> Clauses:
    """Read weighted clauses.

    Raises:
        FormatError: naming file, line and token, where the file does not follow the format.

    Example:
        >>> model = read_wcnf("instance.wcnf.xz")                         # doctest: +SKIP
    """
    reader = TokenReader(path, _COMMENT.sub("", read_text(path)))
    n, top = None, HARD
    if not reader.remaining:
        raise reader.error("clauses")
    if reader.peek() == "p":
        reader.word("p")
        if reader.word("wcnf") != "wcnf":
            raise reader.error("wcnf", reader.position - 1)
        # A variable that stands in no clause is one all the same, within the file's length.
        n = reader.integer("the number of variables", 0, reader.remaining)
        count = reader.integer("the number of clauses", 0, reader.remaining)
        top = reader.number("top, the weight of hard clauses", lambda v: v > 0)
    clauses, weights = [], []
    while reader.remaining:
        if reader.peek() == "h":
            reader.word("h")
            weights.append(HARD)
        else:
            weight = reader.number("h or a weight that is not negative", lambda v: v >= 0)
            weights.append(HARD if weight >= top else weight)
        clauses.append(_read_clause(reader, n))
    if n is not None and len(clauses) != count:
        raise reader.error(f"{count} clauses as declared, not {len(clauses)}")
    used = 1 + max((max(code, ~code) for clause in clauses for code in clause), default=-1)
    return Clauses(used if n is None else n, clauses, weights)


def _read_clause(reader: TokenReader, n: int | None) -> list[int]:
    """Codes of literals up to a 0; variables are numbered within the file's length."""
    most = reader.length if n is None else n
    codes: dict[int, None] = {}
    while True:
        literal = reader.integer(f"a literal of 1 to {most}, or minus one, or 0", -most, most)
        if not literal:
            return list(codes)
        codes[literal - 1 if literal > 0 else ~(-literal - 1)] = None


def wcnf_to_graph(model: Clauses) -> FactorGraph:
    """A graph of binary variables ``x`` whose value is minus the weight of clauses that fail.

    Clauses of one literal become scores or evidence, hard ones `AtLeastOne`, others `Soft`.

    Example:
        >>> import assent as at
        >>> model = Clauses(2, [[0, 1], [~0], [~1]], [float("inf"), 2.0, 3.0])
        >>> result = at.decode(wcnf_to_graph(model))
        >>> result.value
        -2.0
    """
    graph = FactorGraph()
    scores = np.zeros(model.n_variables)
    fixed: list[int] = []
    by_size: dict[tuple[int, bool], list[int]] = {}
    for number, (codes, weight) in enumerate(zip(model.clauses, model.weights, strict=True)):
        if any(~code in codes for code in codes) or not weight:
            continue  # it holds whatever happens, or nobody cares
        if not codes and weight == HARD:
            raise ModelError(f"clause {number + 1} is hard and empty: nothing satisfies it")
        if len(codes) > 1:
            by_size.setdefault((len(codes), weight == HARD), []).append(number)
        elif codes and weight == HARD:
            fixed += codes
        else:
            for code in codes:
                scores[max(code, ~code)] += weight if code >= 0 else -weight
            graph.add_constant(0.0 if codes and codes[0] < 0 else -weight)
    x = graph.binary(model.n_variables, scores=scores, name="x")
    for code in fixed:
        graph.fix(x[max(code, ~code)], int(code >= 0))
    for (_, hard), numbers in by_size.items():
        literals = np.array([model.clauses[number] for number in numbers], np.int32)
        rule: Factor = AtLeastOne(Literals(graph, literals), axis=-1)
        if not hard:
            paid = [model.weights[number] for number in numbers]
            rule = Soft(rule, penalty=paid)
        graph.add(rule, name="clause")
    return graph


def wcnf_from_graph(graph: FactorGraph) -> Clauses:
    """A graph of clauses, pairs and scores as weighted clauses.

    The value of an assignment is minus what is paid, plus a constant that the format lacks.

    Raises:
        ModelError: naming the first thing that the format lacks.
    """
    if any(variable.states is not None for variable in graph.variables):
        raise ModelError("the .wcnf format knows binary variables only: binarize the graph first")
    clauses: list[list[int]] = [[code] for code in graph.evidence().tolist()]
    weights = [HARD] * len(clauses)
    scores = np.concatenate([np.zeros(0), *(variable.scores for variable in graph.variables)])
    for coordinate, score in enumerate(scores.tolist()):
        if score:
            clauses.append([coordinate if score > 0 else ~coordinate])
            weights.append(abs(score))
    for handle in graph.handles:
        for clause, weight in _clauses_of(handle.factor):
            clauses.append(clause)
            weights.append(weight)
    return Clauses(graph.size, clauses, weights)


def _clauses_of(factor: Factor) -> Iterator[tuple[list[int], float]]:
    """The clauses that a batch of factors stands for, with weights."""
    if isinstance(factor, Pair):
        for (a, b), score in zip(factor.codes.tolist(), factor.scores.tolist(), strict=True):
            if score > 0:  # what a earns is lost where b is false
                yield from [([a], score), ([~a, b], score)]
            elif score:
                yield [~a, ~b], -score
    elif isinstance(factor, Soft):
        rule = factor.rule
        form = rule.normal_form() if isinstance(rule, Logic) else None
        if form is None or form.form != CAP or (form.k != rule.size - 1).any():
            raise ModelError(f"{factor.words(0)}: the .wcnf format softens clauses only")
        worst = np.ones(factor.codes.shape, bool)
        costs = factor.costs(worst, factor.scores, np.zeros(0))
        for codes, cost in zip(factor.codes.tolist(), costs.tolist(), strict=True):
            yield [~code for code in codes], cost
    elif isinstance(factor, Logic):
        yield from ((clause, HARD) for clause in _hard_clauses(factor))
    else:
        raise ModelError(f"{factor.words(0)}: the .wcnf format has no clause for it")


def _hard_clauses(factor: Logic) -> Iterator[list[int]]:
    """Clauses of constraints that need no more than one per pair of literals."""
    normal = factor.normal_form()
    for row, codes in enumerate(normal.literals(factor.codes).tolist()):
        k, n = int(normal.k[row]), len(codes)
        opposite = [~code for code in codes]
        if normal.form == ANYOF:
            yield [*codes[:-1], opposite[-1]]
            yield from ([code, codes[-1]] for code in opposite[:-1])
            continue
        if normal.form not in (CAP, SUM) or (k not in (0, 1, n - 1, n)):
            raise ModelError(f"{factor.words(row)}: the .wcnf format has no clause for it")
        if k == 0:
            yield from ([code] for code in opposite)
        elif k == 1:
            yield from ([a, b] for i, a in enumerate(opposite) for b in opposite[:i])
        elif k == n - 1:
            yield opposite
        if normal.form == SUM and k == 1:
            yield codes
        elif normal.form == SUM and k == n - 1:
            yield from ([a, b] for i, a in enumerate(codes) for b in codes[:i])
        elif normal.form == SUM and k == n:
            yield from ([code] for code in codes)


def write_wcnf(model: Clauses, path: PathLike) -> None:
    """Write weighted clauses, hard ones with ``h``.

    Raises:
        ModelError: where a weight is no whole number, as the format's solvers read nothing else.

    Example:
        >>> write_wcnf(model, "instance.wcnf")                            # doctest: +SKIP
    """
    lines = [f"c {model.n_variables} variables, {len(model.clauses)} clauses"]
    for codes, weight in zip(model.clauses, model.weights, strict=True):
        if weight != HARD and weight != np.floor(weight):
            raise ModelError(
                f"the .wcnf format holds whole numbers, not {weight:g}; multiply the scores by a "
                "constant and round them"
            )
        literals = [code + 1 if code >= 0 else -(~code + 1) for code in codes]
        lines.append(" ".join(map(str, ["h" if weight == HARD else int(weight), *literals, 0])))
    write_text(path, "\n".join(lines) + "\n")
