"""Pictures of small models: grids as images, chains as lattices, trees as arcs, and so on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.chain import Chain
from assent.factors.dense import Dense
from assent.factors.matching import Matching
from assent.factors.pair import Pair
from assent.factors.potts import Potts
from assent.factors.regular import Regular
from assent.factors.sentence_tree import SentenceTree
from assent.model.variables import Literals, coordinates_of
from assent.trace import new_figure

if TYPE_CHECKING:
    from assent.factors.scored import Scored
    from assent.model.graph import FactorGraph, Handle

MOST_LABELS = 30  # beside a picture: beyond, they cover each other
MOST_NODES = 200  # of a factor graph in one picture: beyond, names cover each other
VARIABLE, FACTOR, CHOSEN = "#8ecae6", "#adb5bd", "#d62828"


def draw(graph: FactorGraph, result: Any, what: Any, ax: Any, path: Any) -> Any:
    """Draw a factor by its kind, or the graph; see `FactorGraph.draw`."""
    axes = new_figure(8.0, 5.0).subplots() if ax is None else ax
    handle = _worth_drawing(graph) if what is None else graph.named(what)
    if _is_grid(graph) and what is None:
        _draw_grid(graph, result, axes)
    elif handle is None:
        _draw_graph(graph, result, axes)
    else:
        _draw_factor(graph, result, handle, axes)
    if path is not None:
        axes.figure.savefig(path, dpi=150)
    return axes


def to_networkx(graph: FactorGraph) -> Any:
    """Variables and factors as nodes, links as edges; see `FactorGraph.to_networkx`."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError('networkx is needed: pip install "assent[plot]"') from error
    made = networkx.Graph()
    for array in graph.variables:
        codes = array.symbol.codes.reshape(-1, 1 if array.states is None else len(array.states))
        scores = array.scores.reshape(codes.shape)
        for own, earned in zip(codes.tolist(), scores.tolist(), strict=True):
            made.add_node(
                graph.describe_owner(own[0]),
                kind="variable",
                codes=own,
                states=array.states,
                scores=earned[0] if array.states is None else earned,
            )
    for number, handle in enumerate(graph.handles):
        for row, codes in enumerate(handle.factor.codes.tolist()):
            node = (number, row)
            made.add_node(node, kind=handle.factor.kind, words=handle.words(row))
            for code in codes:
                made.add_edge(node, graph.describe_owner(max(code, ~code)), negated=code < 0)
    return made


# ---------------------------------------------------------------- what to draw


def _worth_drawing(graph: FactorGraph) -> Handle | None:
    """The only structure of the graph that has a picture of its own."""
    shown = (Chain, Regular, SentenceTree, Matching)
    found = [handle for handle in graph.handles if isinstance(handle.factor, shown)]
    return found[0] if len(found) == 1 and len(found[0].factor) == 1 else None


def _is_grid(graph: FactorGraph) -> bool:
    """Whether there is one array of two axes, with neighbours that score each other."""
    arrays = graph.own_variables
    kinds = all(isinstance(handle.factor, (Pair, Potts, Dense)) for handle in graph.handles)
    return len(arrays) == 1 and arrays[0].symbol.ndim == 2 and bool(graph.handles) and kinds


def _draw_factor(graph: FactorGraph, result: Any, handle: Handle, axes: Any) -> None:
    factor: Any = getattr(handle, "factor", None)
    if factor is None:
        raise TypeError(f"draw takes a handle or its name, got {handle!r}")
    if len(factor) != 1:
        raise ModelError(f"{handle!r} holds {len(factor)} factors; a picture shows one")
    axes.set_title(handle.name or factor.kind)
    if isinstance(factor, (Chain, Regular)):
        _draw_lattice(graph, result, factor, axes)
    elif isinstance(factor, SentenceTree):
        _draw_arcs(graph, result, factor, axes)
    elif isinstance(factor, Matching):
        _draw_table(graph, result, factor, axes)
    else:
        raise ModelError(
            f"{factor.kind} has no picture of its own: draw the whole graph, or a Chain, Regular, "
            "Matching or tree of it"
        )


def _scores_of(graph: FactorGraph, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Scores of literals: what being true earns."""
    theta = np.concatenate([np.zeros(0), *(variable.scores for variable in graph.variables)])
    return np.where(codes < 0, -1.0, 1.0) * theta[coordinates_of(codes)]


def _true(graph: FactorGraph, result: Any, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which literals are true in the answer; none without one."""
    if result is None:
        return np.zeros(codes.shape, bool)
    return result[Literals(graph, codes)].astype(bool)


# ---------------------------------------------------------------- pictures


def _draw_grid(graph: FactorGraph, result: Any, axes: Any) -> None:
    """The answer as an image; without one, what the best state of each variable earns."""
    (array,) = graph.own_variables
    shown = array.scores.reshape(array.symbol.codes.shape)
    title = "scores" if result is None else "answer"
    if result is not None:
        shown = result[array.symbol]
    elif array.states is not None:
        shown, title = shown.argmax(axis=-1), "best state of each variable by itself"
    if title == "scores":
        axes.figure.colorbar(axes.imshow(shown, interpolation="nearest"), ax=axes)
    else:
        _show_states(shown, array.states or (0, 1), axes)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.set_title(f"{array.name}: {title}")


def _show_states(numbers: Any, states: tuple[Any, ...], axes: Any) -> None:
    """Numbers of states as an image with one colour each, and a key of their labels."""
    import matplotlib

    colours = matplotlib.colormaps["viridis"].resampled(len(states))
    image = axes.imshow(
        numbers, interpolation="nearest", cmap=colours, vmin=-0.5, vmax=len(states) - 0.5
    )
    key = axes.figure.colorbar(image, ax=axes)
    if len(states) <= MOST_LABELS:
        key.set_ticks(range(len(states)), labels=[str(state) for state in states])


def _draw_lattice(graph: FactorGraph, result: Any, factor: Scored, axes: Any) -> None:
    """States above one another, time from left to right, the answer as a path."""
    path = []
    for t, (links, first) in enumerate(zip(factor.slot_links(), factor.first, strict=True)):
        codes = factor.codes[0, links]
        scores = _scores_of(graph, codes)
        finite = scores[np.isfinite(scores)]
        span = float(np.ptp(finite)) if len(finite) else 0.0
        size = np.where(np.isfinite(scores), (scores - finite.min(initial=0.0)), 0.0)
        sizes = 40.0 + 260.0 * size / (span or 1.0)
        axes.scatter([t] * len(codes), np.arange(len(codes)) + first, sizes, color=VARIABLE)
        true = np.flatnonzero(_true(graph, result, codes))
        if len(true):
            path.append((t, true[0] + first))
    if path:
        axes.plot(*zip(*path, strict=True), color=CHOSEN, marker="o")
    names = [graph.describe_code(int(code)) for code in factor.codes[0, factor.slot_links()[0]]]
    labels = [name.partition("=")[2] or name for name in names]
    axes.set_yticks(np.arange(len(labels)) + factor.first[0], labels)
    axes.set_xticks(range(len(factor.states)))
    axes.set_xlabel("time")


def _draw_arcs(graph: FactorGraph, result: Any, factor: SentenceTree, axes: Any) -> None:
    """Arcs above the words; those of the answer in colour, others the fainter the worse."""
    heads = factor.data[2:]
    modifiers = np.repeat(np.arange(1, len(factor.states) + 1), factor.states)
    scores, true = _scores_of(graph, factor.codes[0]), _true(graph, result, factor.codes[0])
    angles = np.linspace(0.0, np.pi, 40)
    low, high = (f(scores[np.isfinite(scores)], initial=0.0) for f in (np.min, np.max))
    for head, modifier, score, chosen in zip(heads, modifiers, scores, true, strict=True):
        if head == modifier or not np.isfinite(score):
            continue
        half = abs(int(head) - int(modifier)) / 2.0
        x = (head + modifier) / 2.0 + half * np.cos(angles)
        style = {"color": CHOSEN, "zorder": 2} if chosen else {
            "color": FACTOR, "alpha": 0.05 + 0.4 * (score - low) / (high - low or 1.0),
        }  # fmt: skip
        axes.plot(x, half * np.sin(angles), **style)
    axes.set_xticks(range(len(factor.states) + 1), ["root", *range(1, len(factor.states) + 1)])
    axes.set_yticks([])


def _draw_table(graph: FactorGraph, result: Any, factor: Matching, axes: Any) -> None:
    """Scores of pairs as a table, chosen ones with a frame."""
    n, m = (int(size) for size in factor.data[:2])
    scores = _scores_of(graph, factor.codes[0]).reshape(n, m)
    shown = np.where(np.isfinite(scores), scores, np.nan)
    axes.figure.colorbar(axes.imshow(shown, cmap="Blues"), ax=axes)
    for i, j in np.argwhere(_true(graph, result, factor.codes[0]).reshape(n, m)):
        corner = [j - 0.45, j + 0.45, j + 0.45, j - 0.45, j - 0.45]
        axes.plot(corner, [i - 0.45, i - 0.45, i + 0.45, i + 0.45, i - 0.45], color=CHOSEN)
    axes.set(xticks=range(m), yticks=range(n))


def _draw_graph(graph: FactorGraph, result: Any, axes: Any) -> None:
    """Variables as discs with their answers, factors as squares."""
    made = to_networkx(graph)
    if made.number_of_nodes() > MOST_NODES:
        raise ModelError(
            f"{made.number_of_nodes()} variables and factors are too many for a picture (at most "
            f"{MOST_NODES}); draw one of its factors: g.draw(what=handle)"
        )
    import networkx

    places = networkx.spring_layout(made, seed=0)
    nodes = dict(made.nodes(data=True))
    variables = [node for node, data in nodes.items() if data["kind"] == "variable"]
    factors = {node: data["kind"] for node, data in nodes.items() if data["kind"] != "variable"}
    networkx.draw_networkx_edges(made, places, ax=axes, edge_color=FACTOR)
    networkx.draw_networkx_nodes(made, places, variables, ax=axes, node_color=VARIABLE)
    networkx.draw_networkx_nodes(
        made, places, list(factors), ax=axes, node_color=FACTOR, node_shape="s", node_size=120
    )
    labels = {name: name + _value(graph, result, nodes[name]) for name in variables}
    networkx.draw_networkx_labels(made, places, {**labels, **factors}, ax=axes, font_size=8)
    axes.set_axis_off()


def _value(graph: FactorGraph, result: Any, variable: Mapping[str, Any]) -> str:
    """What a variable is in the answer, to stand behind its name."""
    if result is None:
        return ""
    true = _true(graph, result, np.array(variable["codes"], np.int32))
    states = variable["states"]
    return f"\n{int(true[0]) if states is None else states[int(true.argmax())]}"
