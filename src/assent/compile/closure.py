"""What known literals imply, through every kind of factor, asked for many times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assent.compile import logic_placement, table_placement
from assent.compile.compiled import Compiled, compile_conditioned, logic_rows, strict_tables
from assent.model.variables import coordinates_of


class Closure:
    """Unit propagation over a graph as written, ready to be repeated.

    ``rows`` are the constraints to propagate, by default all of them.
    """

    def __init__(
        self, compiled: Compiled, rows: list[logic_placement.LogicRows] | None = None
    ) -> None:
        self._compiled = compiled
        self.start = compiled.fixed  # [N] what the graph itself fixes, -1 for free
        self.rows = logic_rows(compiled) if rows is None else rows
        self._problem = logic_placement.arrange(self.rows).alone(len(compiled.fixed))
        self._strict = strict_tables(compiled.blocks, compiled.forbids, True)

    def extend(self, known: NDArray[np.int8], literals: Sequence[int]) -> NDArray[np.int8] | None:
        """Values ``[N]`` that follow once ``literals`` are true as well; None if they cannot be."""
        values = known.copy()
        for code in literals:
            place, truth = (~code, 0) if code < 0 else (code, 1)
            if values[place] == 1 - truth:
                return None
            values[place] = truth
        return self._close(values)

    def _close(self, values: NDArray[np.int8]) -> NDArray[np.int8] | None:
        from assent.kernels.core import propagate

        while True:
            values, conflict = propagate.fix(self._problem, values)
            if conflict >= 0:
                return None
            if not self._strict:
                return values
            unsupported, broken = table_placement.unsupported_literals(self._strict, values)
            if broken is not None:
                return None
            if not len(unsupported):
                return values
            values[coordinates_of(unsupported)] = unsupported < 0

    def compile(self, known: NDArray[np.int8]) -> Compiled:
        """The graph compiled anew with the values ``known[N]``, from :meth:`extend`."""
        return compile_conditioned(self._compiled, known, self.rows)
