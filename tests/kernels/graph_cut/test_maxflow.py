"""Maximum flow against SciPy, and against the definition of a minimum cut."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from assent.kernels.graph_cut.maxflow import SINK, SOURCE, Network, make_arcs, max_flow
from tests.oracles.sweep import sweep_seeds


def random_network(rng, whole):
    """A graph with parallel edges, capacities in both directions, terminals of both signs."""
    n = int(rng.integers(1, 12))
    edges = rng.integers(n, size=(int(rng.integers(0, 30)), 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    capacity = rng.integers(0, 10, (len(edges), 2)).astype(float)
    terminal = rng.integers(-12, 13, n).astype(float)
    if not whole:
        capacity *= rng.random(capacity.shape)
        terminal *= rng.random(n)
    return edges, capacity, terminal


def ready(edges, capacity, terminal, block=None):
    n = len(terminal)
    first, head, sister, forward = make_arcs(n, *np.ascontiguousarray(edges.T, np.int32))
    residual = np.zeros(2 * len(edges))
    residual[forward], residual[sister[forward]] = capacity.T
    block = np.zeros(n, np.int32) if block is None else block
    return Network(first, head, sister, residual, terminal.copy(), block), forward


def cut_value(edges, capacity, terminal, inside):
    """Capacity of the cut that puts the nodes ``inside`` with the source."""
    links = terminal[(terminal > 0) & ~inside].sum() - terminal[(terminal < 0) & inside].sum()
    leaving = inside[edges[:, 0]] & ~inside[edges[:, 1]]
    entering = ~inside[edges[:, 0]] & inside[edges[:, 1]]
    return links + capacity[leaving, 0].sum() + capacity[entering, 1].sum()


def scipy_flow(edges, capacity, terminal):
    n = len(terminal)
    rows = [*edges[:, 0], *edges[:, 1], *np.full(n, n), *range(n)]
    columns = [*edges[:, 1], *edges[:, 0], *range(n), *np.full(n, n + 1)]
    values = [*capacity.T.ravel(), *np.maximum(terminal, 0), *np.maximum(-terminal, 0)]
    graph = coo_array((values, (rows, columns)), shape=(n + 2, n + 2)).tocsr()
    return maximum_flow(graph.astype(np.int32), n, n + 1).flow_value


@sweep_seeds(1.0)
def test_value_and_cuts(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        whole = bool(seed % 2)
        edges, capacity, terminal = random_network(rng, whole)
        network, forward = ready(edges, capacity, terminal)
        side = np.empty(len(terminal), np.int8)
        value = max_flow(network, 0.0, side)
        if whole:
            assert value == scipy_flow(edges, capacity, terminal), seed
        # It is a flow: capacities hold, and what enters a node leaves it.
        assert network.residual.min(initial=0.0) >= -1e-12, seed
        flow = capacity[:, 0] - network.residual[forward]
        assert np.allclose(flow, network.residual[network.sister[forward]] - capacity[:, 1])
        n = len(terminal)
        leaving = np.bincount(edges[:, 0], flow, n) - np.bincount(edges[:, 1], flow, n)
        assert np.allclose(leaving, terminal - network.terminal, atol=1e-12), seed
        assert (network.terminal * terminal >= -1e-12).all(), seed
        # The smallest and the largest minimum cut are as large as the flow.
        for inside in (side == SOURCE, side != SINK):
            assert abs(cut_value(edges, capacity, terminal, inside) - value) <= 1e-9, seed


@pytest.mark.parametrize("seed", range(20))
def test_it_goes_on_from_a_flow(seed):
    """New terminals on an old flow give what a fresh start gives."""
    rng = np.random.default_rng(seed)
    edges, capacity, terminal = random_network(rng, whole=False)
    network, _ = ready(edges, capacity, terminal)
    side = np.empty(len(terminal), np.int8)
    max_flow(network, 0.0, side)
    sent = terminal - network.terminal
    other = terminal + rng.normal(size=len(terminal))
    network.terminal[:] = other - sent
    max_flow(network, 0.0, side)
    fresh, _ = ready(edges, capacity, other)
    best = max_flow(fresh, 0.0, np.empty(len(terminal), np.int8))
    # A terminal can have changed sign, so values differ by a constant; the cut does not.
    assert abs(cut_value(edges, capacity, other, side == SOURCE) - best) <= 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_blocks_are_apart(seed):
    rng = np.random.default_rng(seed)
    edges, capacity, terminal = random_network(rng, whole=False)
    block = rng.integers(2, size=len(terminal)).astype(np.int32)
    inside = block[edges[:, 0]] == block[edges[:, 1]]
    network, _ = ready(edges, capacity, terminal, block)
    value = max_flow(network, 0.0, np.empty(len(terminal), np.int8))
    alone, _ = ready(edges[inside], capacity[inside], terminal)
    assert abs(value - max_flow(alone, 0.0, np.empty(len(terminal), np.int8))) <= 1e-9


def test_a_large_grid():
    """100 x 100 nodes; the cut has the value of the flow."""
    rng = np.random.default_rng(0)
    number = np.arange(10_000).reshape(100, 100)
    edges = np.concatenate([
        np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1),
        np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1),
    ])  # fmt: skip
    capacity, terminal = rng.random((len(edges), 2)), rng.normal(size=number.size)
    network, _ = ready(edges, capacity, terminal)
    side = np.empty(number.size, np.int8)
    value = max_flow(network, 1e-12, side)
    assert np.isclose(cut_value(edges, capacity, terminal, side == SOURCE), value)
