"""Stored instances: value ≤ optimum ≤ bound, and the bound reaches the relaxation's optimum."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from benchmarks.instances import load_graph, load_references

# Seconds each on two cores; the larger ones are benchmarks.
SMALL = [
    "ising_n30_rho0.5_s0",
    "ising_n30_rho1.0_s1",
    "ising_n30_rho2.0_s2",
    "grid_ising_0",
    "grid_ferro_0",
    "parse_flow_n10_s0",
    "parse_planted_n10_s0",
    "parse_planted_n20_s1",
    "repo_coref",
    "repo_parsing_excerpt",
]


@pytest.mark.parametrize("name", SMALL)
def test_small_instances(instances_folder, name):
    graph = load_graph(instances_folder / f"{name}.npz")
    result = at.decode(graph, at.AD3(gap_tolerance=1e-5), time_limit=60.0)
    assert result.certificate.verify()
    reference = load_references(instances_folder).get(f"{name}.npz")
    if reference is None:  # no couplings of mixed sign: the relaxation is tight
        assert result.status is at.Status.OPTIMAL
        return
    assert reference.lp is not None
    near = 1e-4 * (1.0 + abs(reference.lp))
    assert result.value <= reference.lp + reference.slack
    assert result.bound >= reference.lp - reference.slack - 1e-9 * abs(reference.lp)
    assert result.bound <= reference.lp + reference.slack + near
    if reference.optimum is not None:
        assert result.value <= reference.optimum + reference.slack
        assert result.bound >= reference.optimum - reference.slack


def test_labels_on_edges(tmp_path):
    rng = np.random.default_rng(1)
    unary, diag, w = rng.normal(size=(3, 4)), rng.normal(size=(2, 4)), rng.normal(size=2)
    edges = np.array([[0, 1], [1, 2]])
    np.savez(tmp_path / "rewards.npz", unary=unary, edges=edges, diag=diag)
    np.savez(tmp_path / "equal.npz", theta=unary, edges=edges, w=w)
    for name, reward in (("rewards", diag), ("equal", np.tile(w[:, None], 4))):
        graph = load_graph(tmp_path / f"{name}.npz")
        best = max(
            unary[[0, 1, 2], labels].sum()
            + sum(reward[e, labels[i]] for e, (i, j) in enumerate(edges) if labels[i] == labels[j])
            for labels in (list(point) for point in np.ndindex(4, 4, 4))
        )
        assert at.decode(graph).value == pytest.approx(best)


def test_an_unknown_layout_is_refused(tmp_path):
    np.savez(tmp_path / "odd.npz", numbers=np.zeros(3))
    with pytest.raises(ValueError, match=r"odd.npz: an unknown layout, \['numbers'\]"):
        load_graph(tmp_path / "odd.npz")


def test_a_generic_archive_of_every_code(tmp_path):
    sizes = [3, 3, 2, 2, 3, 3, 3, 2]
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    rng = np.random.default_rng(0)
    path = tmp_path / "all.npz"
    np.savez(
        path,
        var_logpot=rng.normal(size=4),
        ftype=np.arange(8),
        fptr=pointers,
        fvar=np.concatenate([np.arange(size) for size in sizes]),
        fneg=np.zeros(pointers[-1], np.uint8),
        fpot=np.full(8, 0.5),
    )
    kinds = [handle.factor.words(0).split("(")[0] for handle in load_graph(path).handles]
    assert kinds == [
        "ExactlyOne", "AtMostOne", "AtMostOne", "AtLeastOne", "AtLeastOne", "All", "Implies",
        "Pair",
    ]  # fmt: skip
