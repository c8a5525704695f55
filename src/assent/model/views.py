"""Views: coarser variables made of the coordinates of a model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError
from assent.factors.at_most_one import AtMostOne
from assent.model.variables import Categorical, as_literals


def group(
    literals: Any, by: Sequence[Hashable] | np.ndarray, *, name: str | None = None
) -> Categorical:
    """A categorical variable that says to which group the one true literal belongs.

    Exactly one of the literals must be true in every answer: the states of a categorical
    variable, the heads a tree may give a word.  The view then has one state per label in ``by``
    and can be used like any variable: in factors, in scores, in results.

    Args:
        literals: 1-D literals ``[n]`` of one graph, or a single categorical variable.
        by: the label ``[n]`` of each literal.
        name: a unique name of the view.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> head = g.categorical(states=5, scores=[0.0, 2.0, 1.5, 1.0, 0.0], name="head")
        >>> tag_of_head = at.group(head, by=["root", "N", "V", "V", "N"])
        >>> rule = g.add(at.All([tag_of_head == "V"]))
        >>> at.decode(g)[head].item()
        2
    """
    if isinstance(literals, Categorical):
        if literals.ndim:
            raise ModelError(
                f"group takes one variable, got an array of shape {literals.shape}; "
                "make a view of each"
            )
        lits = literals.indicators
    else:
        lits = as_literals(literals)
    try:
        labels = list(by)
    except TypeError:
        raise TypeError(f"group: by lists a label for each literal, got {shown(by)}") from None
    if lits.ndim != 1 or len(labels) != lits.size:
        raise ModelError(
            f"group needs one label for each literal: got literals of shape {lits.shape} and "
            f"{len(labels)} labels"
        )
    if not labels:
        raise ModelError("group needs at least one literal")
    labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
    view = lits.graph.categorical(states=list(dict.fromkeys(labels)), name=name)
    member = np.array([view.lookup[label] for label in labels])
    for number in range(len(view.states)):
        # The state is true as often as its members are: exactly when one of them is.
        lits.graph.add(AtMostOne(lits[member == number], output=view.state(number)))
    return view
