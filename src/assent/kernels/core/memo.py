"""What is found out about a problem once, and kept as long as the problem is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from assent.kernels.problem import Problem

Found = TypeVar("Found")


def remembered(find: Callable[[Problem], Found]) -> Callable[[Problem], Found]:
    """The same function, called once for every problem.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import make_problem
        >>> calls = []
        >>> @remembered
        ... def size(problem):
        ...     calls.append(problem)
        ...     return problem.n
        >>> some = make_problem(3, np.zeros((0, 2), np.int32), [])
        >>> size(some), size(some), len(calls)
        (3, 3, 1)
    """
    known: WeakKeyDictionary[Problem, Found] = WeakKeyDictionary()

    @wraps(find)
    def look_up(problem: Problem) -> Found:
        try:
            return known[problem]
        except KeyError:
            pass  # so that errors of `find` come without this one
        found = known[problem] = find(problem)
        return found

    return look_up
