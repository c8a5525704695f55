"""A template: one structure for many sizes, written and compiled once per size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.errors import ModelError
from assent.model.graph import FactorGraph

if TYPE_CHECKING:
    from assent.compile.compiled import Compiled

# Sizes that are kept: all lengths of sentences, and graphs of 200 variables stay below 100 MB.
KEPT_SIZES = 256


class Template:
    """Graphs of one structure: written and compiled once per size, filled with scores only.

    Called with sizes it gives their graph, the same one every time; `decode` and `decode_many`
    take it with scores by name.  What the function scores itself stands where no others are given.

    Args:
        write: a function of sizes that returns a `FactorGraph`.  Variables and factors that get
            scores have names; evidence and other changes are written in the function, too.
        keep: how many sizes are kept.  The one that was not asked for the longest goes first, and
            is written anew when it is asked for again.

    Threads may share a template.

    Example:
        >>> import assent as at
        >>> @at.Template
        ... def tagging(words):
        ...     g = at.FactorGraph()
        ...     tag = g.categorical(words, states="NV", name="tag")
        ...     g.add(at.AtMost(1, tag == "V"))
        ...     return g
        >>> first, second = [[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]]
        >>> graphs = [tagging(len(first)), tagging(len(second))]
        >>> results = at.decode_many(graphs, scores=[{"tag": first}, {"tag": second}])
        >>> ["".join(result.labels["tag"]) for result in results]
        ['NV', 'NNV']
    """

    def __init__(self, write: Callable[..., FactorGraph], *, keep: int = KEPT_SIZES) -> None:
        if not callable(write):
            raise TypeError(f"a template is made of a function of sizes, got {write!r}")
        if not isinstance(keep, (int, np.integer)) or isinstance(keep, bool) or keep < 1:
            raise ValueError(f"keep is a whole number >= 1, got {keep!r}")
        update_wrapper(self, write)
        self._write, self._keep = write, int(keep)
        self._lock = RLock()  # the function may ask for other sizes
        self._kept: OrderedDict[tuple[Hashable, ...], tuple[FactorGraph, Compiled, float]]
        self._kept = OrderedDict()

    def __call__(self, *sizes: Hashable) -> FactorGraph:
        """The compiled graph of these sizes."""
        with self._lock:
            try:
                found = self._kept.get(sizes)
            except TypeError:
                raise TypeError(
                    f"sizes are whole numbers, or other values that can be looked up, got "
                    f"{sizes!r}; scores are given to decode"
                ) from None
            if found is None:
                graph = self._written(sizes)
                found = self._kept[sizes] = graph, graph.compile(), graph.constant
                if len(self._kept) > self._keep:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(sizes)
        graph, compiled, constant = found
        if graph.compile() is not compiled or graph.constant != constant:
            raise ModelError(
                f"the graph of {self._words(sizes)} was changed, which all that share it would "
                "meet; write changes in the function, or a graph of your own"
            )
        return graph

    def _written(self, sizes: tuple[Hashable, ...]) -> FactorGraph:
        graph: Any = self._write(*sizes)
        if not isinstance(graph, FactorGraph):
            raise TypeError(f"{self._words(sizes)} must return a FactorGraph, got {graph!r}")
        return graph

    def _words(self, sizes: tuple[Hashable, ...]) -> str:
        name = getattr(self._write, "__name__", "template")
        return f"{name}({', '.join(map(str, sizes))})"

    def __repr__(self) -> str:
        shown = ", ".join(map(self._words, list(self._kept)[-3:])) or "nothing yet"
        return f"<Template: {len(self._kept)} of at most {self._keep} sizes, last {shown}>"
