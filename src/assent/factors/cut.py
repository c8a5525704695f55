"""Cut: a binary network whose neighbours attract each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.arguments import as_array, shown
from assent.errors import ModelError
from assent.factors.base import rows
from assent.factors.scored import fit_table
from assent.factors.structure import Kernels, Structure
from assent.kernels.problem import Float, Int64
from assent.model.scores import clean_scores

# Tables may miss the condition by rounding, relative to their entries.
ROUNDING = 1e-12


class Cut(Structure):
    """Nodes of a graph whose neighbours rather agree: scores ``s ≥ 0`` where two ends are equal.

    Args:
        nodes: array of literals whose last axis are the nodes; one network for each index of the
            others.
        edges: ``[E, 2]`` positions of the two ends of every edge.
        scores: ``[E]`` numbers ≥ 0, earned where the ends are equal; or ``[E, 2, 2]`` tables over
            the states (false, true) of both ends in which equal states score at least as much
            together as different ones (submodular); the networks' axes may stand in front.
        cut: in place of scores, literals ``[E]``, each true at least where the ends of its edge
            differ; what that costs are their own scores.

    Any graph is solved exactly, loops or none, by maximum flow.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> pixel = g.binary(scores=[2.0, -0.5, 1.0, -3.0], name="pixel")
        >>> ring = g.add(at.Cut(pixel, [[0, 1], [1, 2], [2, 3], [3, 0]], scores=1.0))
        >>> at.decode(g)[pixel].tolist()
        [1, 1, 1, 0]
    """

    paper_name = "submodular (associative) network, min-cut"
    formula = "Σ_jk score_jk · [x_j = x_k]; with cut: x_j ≠ x_k → z_jk"
    abilities = ("maximize", "project")

    def __init__(self, nodes: Any, edges: Any, *, scores: Any = None, cut: Any = None) -> None:
        if (scores is None) == (cut is None):
            raise ModelError(
                "Cut takes either scores= (earned where ends are equal) or cut= (literals that "
                "are true where ends differ)"
            )
        graph, codes, shape = rows("Cut", nodes, axis=-1)
        n = codes.shape[1]
        self._ends = clean_edges(edges, n)
        if cut is not None:
            own, more, other = rows("Cut", cut, axis=-1)
            if own is not graph:
                raise ModelError("Cut: nodes and cut belong to different graphs")
            if (*other, more.shape[1]) != (*shape, len(self._ends)):
                raise ModelError(
                    f"Cut: cut has shape {(*other, more.shape[1])}, expected one literal per edge: "
                    f"{(*shape, len(self._ends))}"
                )
            codes = np.hstack([codes, more])
        # Imported here: kernels load the compiler, which a written model does not need yet.
        from assent.kernels.graph_cut.cut_network import cut_data

        self._attach_literals(graph, codes, shape, cut_data(n, self._ends, cut is not None))
        self._in_tables = clean_scores(scores, "Cut").ndim > len(shape) + 1
        self.scores = self.fit(np.zeros((0, 2, 2)) if cut is not None else scores)

    @property
    def _shared(self) -> bool:
        """Whether edges are coordinates."""
        return bool(self.data[2])

    def entry_shape(self) -> tuple[int, ...]:
        return (0 if self._shared else len(self._ends), 2, 2)

    def fit(self, scores: Any) -> Float:
        """New scores, one per edge or one table per edge, as ``[m, 4 E]``."""
        array = clean_scores(scores, "Cut")
        if array.ndim <= len(self.shape) + 1:
            one = self.entry_shape()[:1]
            array = fit_table(array, self.shape, one, one, "Cut").reshape(*self.shape, *one)
            array = np.where(np.eye(2, dtype=bool), array[..., None, None], 0.0)
        size = (4 * self.entry_shape()[0],)
        fitted = fit_table(array, self.shape, size, self.entry_shape(), "Cut")
        self._refuse_supermodular(fitted.reshape(len(fitted), -1, 4))
        return fitted

    def _refuse_supermodular(self, tables: Float) -> None:
        largest = np.abs(tables).max(axis=2)
        attraction = tables @ np.array([1.0, -1.0, -1.0, 1.0])
        bad = np.argwhere(~(attraction >= -ROUNDING * largest) | np.isinf(largest))
        if not len(bad):
            return
        row, edge = bad[0]
        j, k = (self.graph.describe_code(self.codes[row, end]) for end in self._ends[edge])
        if np.isinf(largest[row, edge]):
            raise ModelError(
                f"Cut: edge {edge} ({j}, {k}) has a score of -inf; Implies and Agree say what must "
                "not be"
            )
        raise ModelError(
            f"Cut: edge {edge} ({j}, {k}) prefers ends that differ; negate one of the nodes, or "
            "use Pair or Dense"
        )

    def readable(self, parts: Float) -> Any:
        """How far ends agree, ``(*shape, E)``; or tables ``(*shape, E, 2, 2)`` if scores were."""
        tables = super().readable(parts)
        return tables if self._in_tables else tables[..., 0, 0] + tables[..., 1, 1]

    def memory(self) -> int:
        return len(self._ends) + (int(self.data[0]) if self._shared else 0)

    def kernels(self) -> Kernels:
        from assent.kernels.graph_cut import cut_network
        from assent.kernels.graph_cut.cut_projection import project_cut

        return Kernels(
            cut_network.maximize_cut,
            cut_network.parts_cut,
            project=project_cut,
            blend=cut_network.blend_cut,
        )


def clean_edges(edges: Any, n: int) -> Int64:
    """Edges as ``[E, 2]`` positions of two different nodes."""
    array = as_array(edges)
    if array is None:
        raise ModelError(f"Cut: edges are pairs of whole numbers, [E, 2]; got {shown(edges)}")
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ModelError(
            f"Cut: edges are pairs of whole numbers, [E, 2]; got shape {array.shape} of "
            f"{array.dtype}"
        )
    if not len(array):
        raise ModelError("Cut without edges says nothing")
    bad = np.flatnonzero((array < 0).any(axis=1) | (array >= n).any(axis=1))
    if len(bad):
        raise ModelError(
            f"Cut: edge {bad[0]} is {array[bad[0]].tolist()}, but nodes are numbered 0 to {n - 1}"
        )
    loops = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(loops):
        raise ModelError(f"Cut: edge {loops[0]} joins node {array[loops[0], 0]} with itself")
    return array.astype(np.int64)
