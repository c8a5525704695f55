"""Anderson acceleration: exact on affine maps, taken back where it misleads."""

import numpy as np
import pytest

import assent as at
from assent.kernels.ad3 import ad3_schedule, anderson
from benchmarks.small_instances import FAMILIES


def moved(history, state):
    """The state after an extrapolation, parted as a problem's would be."""
    parts = np.split(state.copy(), [2, 3, 5])
    anderson.accelerate(history, *parts)
    return np.concatenate(parts)


def affine_map(rng, size):
    """A map that converges slowly, its matrix and its fixed point."""
    rotation = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = 0.99 * rotation
    fixed = rng.normal(size=size)
    return (lambda z: fixed + matrix @ (z - fixed)), fixed


@pytest.mark.parametrize("seed", range(5))
def test_an_affine_map_is_solved_in_as_many_steps_as_it_has_dimensions(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(6, 15))
    step, fixed = affine_map(rng, size)
    history, state = anderson.make_history(size), np.zeros(size)
    for _ in range(size + 4):
        state = step(moved(history, state))
    assert np.abs(state - fixed).max() <= 1e-6


def test_many_steps_forget_the_oldest():
    rng = np.random.default_rng(7)
    size = 3 * anderson.MEMORY
    step, _ = affine_map(rng, size)
    history, state = anderson.make_history(size), np.zeros(size)
    for _ in range(10 * anderson.MEMORY):
        state = step(moved(history, state))
    assert np.isfinite(state).all()
    assert history.counts[anderson.KEPT] <= anderson.MEMORY


def test_an_extrapolation_that_misleads_is_taken_back():
    rng = np.random.default_rng(3)
    step, _ = affine_map(rng, 8)
    history, state = anderson.make_history(8), np.zeros(8)
    for _ in range(4):
        state = step(moved(history, state))
    ahead = moved(history, state)
    assert history.counts[anderson.EXTRAPOLATED] == 1
    assert np.array_equal(moved(history, ahead + 100.0), state)  # where it was made from
    assert history.counts[anderson.KEPT] == 0


def test_a_state_at_rest_stays():
    history, state = anderson.make_history(6), np.arange(6.0)
    for _ in range(10):
        state = moved(history, state)
    assert np.array_equal(state, np.arange(6.0))


@pytest.mark.parametrize("number", [25, 67, 233])
def test_loose_problems_take_a_fraction_of_the_iterations(number):
    graph = FAMILIES[number % len(FAMILIES)](np.random.default_rng((0, number)))
    accelerated = at.decode(graph, at.AD3())
    plain = at.decode(graph, at.AD3(extrapolate=False))
    relaxation = at.decode(graph, at.LinearProgram())
    for result in (accelerated, plain):
        assert result.status is at.Status.RELAXED and result.certificate.verify()
        assert result.certificate.relaxation.solved
        assert abs(result.bound - relaxation.bound) <= 3e-6 * (1.0 + abs(relaxation.bound))
    assert 4 * accelerated.iterations < plain.iterations


def test_large_problems_and_late_iterations_are_left_alone():
    assert ad3_schedule.is_accelerated(
        ad3_schedule.FIRST_ACCELERATED, ad3_schedule.ACCELERATED_LINKS, False
    )
    assert ad3_schedule.is_accelerated(1, 10, True) and not ad3_schedule.is_accelerated(
        1, 10, False
    )
    assert not ad3_schedule.is_accelerated(100, ad3_schedule.ACCELERATED_LINKS + 1, True)
    assert not ad3_schedule.is_accelerated(ad3_schedule.LAST_ACCELERATED, 10, True)
