"""Sets of weights: projections, steps and linear minima by their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from assent.errors import ModelError
from assent.learn import EntropicL1Ball, L1Ball, L2Ball

ABOVE = np.array([[1.0, -1.0, -1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0, -0.5]])
SETS = {
    "free": L2Ball(),
    "l2": L2Ball(1.2),
    "all positive": L2Ball(1.2, nonnegative=True),
    "some positive": L2Ball(1.2, nonnegative=[0, 3]),
    "rows": L2Ball(1.2, above=ABOVE),
    "rows and signs": L2Ball(1.2, nonnegative=[2], above=ABOVE),
    "all signs and rows": L2Ball(1.2, nonnegative=True, above=ABOVE),
    "l1": L1Ball(1.2),
}


def allowed(chosen, points: np.ndarray) -> np.ndarray:
    good = np.ones(len(points), bool)
    if isinstance(chosen, L1Ball):
        return np.abs(points).sum(axis=1) <= chosen.radius + 1e-9
    good &= np.linalg.norm(points, axis=1) <= chosen.radius + 1e-9
    if chosen.nonnegative is not None:
        which = slice(None) if chosen.nonnegative is True else chosen.nonnegative
        good &= (points[:, which] >= -1e-9).all(axis=1)
    if chosen.above is not None:
        good &= (points @ chosen.above.T >= -1e-9).all(axis=1)
    return good


@pytest.mark.parametrize("name", SETS)
def test_projection_and_lowest_value(name):
    """A projection q of p lies in the set, and no point of it lies further ahead."""
    chosen = SETS[name]
    rng = np.random.default_rng(0)
    clouds = rng.normal(size=(4000, 5)) * rng.choice([0.2, 1.0, 3.0], (4000, 1))
    members = np.array([chosen.project(p) for p in clouds[:1500]])
    assert allowed(chosen, members).all()
    inside = clouds[allowed(chosen, clouds)]
    assert len(inside)
    everything = np.concatenate([members, inside])
    for p in clouds[:200]:
        q = chosen.project(p)
        assert ((everything - q) @ (p - q)).max() <= 1e-7
    for p in inside[:50]:
        np.testing.assert_allclose(chosen.project(p), p, atol=1e-9)
    if name == "free":
        assert chosen.lowest(np.ones(5)) == -np.inf
        assert chosen.lowest(np.zeros(5)) == 0.0
        return
    for g in clouds[:100]:
        low = chosen.lowest(g)
        assert low <= (everything @ g).min() + 1e-9
        # It is attained: far along -g the projection gets there.
        assert chosen.project(-1e6 * g) @ g == pytest.approx(low, rel=1e-3, abs=1e-5)


def test_entropic_steps_are_the_closed_form():
    """Example 1: the distribution is multiplied by exp(step), and normalised."""
    rng = np.random.default_rng(1)
    gamma, d = 1.7, 4
    ball = EntropicL1Ball(gamma)
    place, v = ball.start(d), np.full(2 * d + 1, 1.0 / (2 * d + 1))
    for _ in range(10):
        s = rng.normal(size=d)
        place = ball.move(place, 0.3 * s)
        v = v * np.exp(0.3 * gamma * np.concatenate([[0.0], s, -s]))
        v /= v.sum()
        np.testing.assert_allclose(
            ball.point(place), gamma * (v[1 : d + 1] - v[d + 1 :]), atol=1e-12
        )
    far = ball.point(1e5 * rng.normal(size=d))
    assert np.abs(far).sum() == pytest.approx(gamma)
    assert ball.lowest(np.array([1.0, -3.0])) == pytest.approx(-3 * gamma)


def test_errors_are_clear():
    with pytest.raises(ValueError, match="L2Ball: radius is a positive number, got 0"):
        L2Ball(0)
    with pytest.raises(ValueError, match="L1Ball: radius is a positive number, got -1"):
        L1Ball(-1)
    with pytest.raises(ModelError, match="not all zero"):
        L2Ball(above=[[0.0, 0.0]])
    with pytest.raises(ModelError, match="have 5 entries, there are 3 weights"):
        L2Ball(above=ABOVE).start(3)
