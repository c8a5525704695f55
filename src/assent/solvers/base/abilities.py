"""What a solver asks of factors, checked before any work."""

from __future__ import annotations

from assent.errors import ModelError
from assent.kernels.problem import KNAPSACK, Problem


def require(solver: str, question: str, problem: Problem) -> None:
    """Raise if a factor of the problem cannot answer the solver's question.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import make_problem
        >>> group = (KNAPSACK, np.array([[0, 1]], np.int32), np.ones(1, np.int32))
        >>> knapsack = make_problem(2, np.zeros((0, 2), np.int32), [group], None,
        ...                     [np.ones((1, 2))], [np.ones(1)])
        >>> require("MPLP", "max_marginals", knapsack)
        Traceback (most recent call last):
        ...
        assent.errors.ModelError: MPLP needs max_marginals, which Knapsack does not answer (it \
answers maximize, project); decode with AD3() or Subgradient()
    """
    for kind, abilities in _kinds(problem):
        if question not in abilities:
            raise ModelError(
                f"{solver} needs {question}, which {kind} does not answer (it answers "
                f"{', '.join(abilities)}); decode with AD3() or Subgradient()"
            )


def _kinds(problem: Problem) -> list[tuple[str, tuple[str, ...]]]:
    """The kinds that do not answer everything, and what they answer."""
    found = [(model.structure.kind, model.structure.abilities) for model in problem.models]
    if KNAPSACK in problem.group_kind:
        from assent.factors.knapsack import Knapsack

        found.append((Knapsack.__name__, Knapsack.abilities))
    return found
