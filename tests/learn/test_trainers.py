"""Trainers against the conic optimum of small random problems, and against each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from assent.errors import ModelError
from assent.learn import (
    MIRA,
    AdaGradLikelihood,
    AveragedPerceptron,
    DualExtragradient,
    Entropic,
    EntropicL1Ball,
    Euclidean,
    Examples,
    Extragradient,
    FrankWolfe,
    L1Ball,
    L2Ball,
    LogLikelihood,
    ProjectedGradient,
    QuadraticProgram,
    StepSearch,
    Subgradient,
    regularization_path,
    train,
)
from assent.models import ChainModel
from tests.learn.problems import FAMILIES, conic_optimum, hinge, random_rings, vertices
from tests.oracles.sweep import FULL, sweep_size

# Sixty problems of each family in the full sweep; saddle methods take seconds for each.
CASES = [(family, seed) for family in FAMILIES for seed in range(sweep_size() * 6 // 100)]
FEW = [(family, seed) for family, seed in CASES if sweep_size() == FULL or seed < 2]
# Left to the full sweep: dual extragradient takes thousands of passes there.
SLOW = [] if sweep_size() == FULL else [("graph", 0)]
MEASURED = 25  # passes between two measurements of the saddle gap
GEOMETRIES = [Euclidean(), Entropic()]


def problem(family: str, seed: int):
    rng = np.random.default_rng(1000 + seed)
    return FAMILIES[family](rng, 2), float(rng.uniform(0.05, 0.3))


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_frank_wolfe_reaches_the_conic_optimum(family, seed):
    examples, C = problem(family, seed)
    best, value = conic_optimum(examples, C=C)
    every = ({}, {"planes": 3}, {"gap_sampling": True}, {"averaged": True})
    for settings in every[:1] if family == "graph" else every:
        trainer = FrankWolfe(C=C, gap_tolerance=1e-3, max_iterations=5000, **settings)
        result = train(examples, trainer, measure_every=20)
        last = result.trace.steps[-1]
        assert result.reason == "the duality gap is within tolerance", settings
        assert last.objective == pytest.approx(
            0.5 * result.weights @ result.weights + C * hinge(examples, result.weights)
        )
        # The certificate holds at every moment, and the optimum is near at the end.
        for step in result.trace.steps:
            assert step.objective - step.gap <= value + 1e-6 <= step.objective + 2e-6
        np.testing.assert_allclose(result.weights, best, atol=0.1)


@pytest.mark.parametrize(("family", "seed"), FEW)
def test_subgradient_nears_the_same_optimum(family, seed):
    examples, C = problem(family, seed)
    _, value = conic_optimum(examples, C=C)
    near = value + 1e-3 * (1.0 + value)
    result = train(
        examples,
        Subgradient(C=C, max_iterations=20_000),
        measure_every=50,
        callback=lambda step: step.objective <= near,
    )
    for step in result.trace.steps:
        assert step.objective - step.gap <= value + 1e-6 <= step.objective + 2e-6
    assert result.trace.objective[-1] <= near


def check_bound(examples, result, trainer):
    """(19): the gap is at most (D_w/β + β D_z) / (step (t + 1))."""
    own = trainer.weights_in.spread(examples.size)
    other = sum(trainer.outputs.spread(example) for example in examples)
    spread = own / result.state.balance + result.state.balance * other
    assert spread <= own + other + 1e-9
    for step in result.trace.steps:
        assert step.gap <= spread / (result.state.step * step.iteration) + 1e-9


def check_saddle(trainer, family, seed):
    """In the ball whose radius is the length of the C-form's optimum, whatever C is."""
    examples, C = problem(family, seed)
    best, value = conic_optimum(examples, C=C)
    radius = float(np.linalg.norm(best))
    no_weights = radius < 1e-4  # is the optimum there: some other ball
    if no_weights:
        radius = 0.5
    _, ball_value = conic_optimum(examples, radius=radius)
    if not no_weights:
        assert ball_value == pytest.approx((value - 0.5 * radius**2) / C, rel=1e-4, abs=1e-6)
    limited = replace(trainer, weights_in=L2Ball(radius), max_iterations=20_000)
    result = train(examples, limited, measure_every=MEASURED)
    assert result.reason == "the saddle gap is within tolerance"
    assert result.trace.hinge[-1] <= ball_value + 1e-3 * (1.0 + result.trace.hinge[-1]) + 1e-6
    for step in result.trace.steps:
        assert step.hinge - step.gap <= ball_value + 1e-6 <= step.hinge + 2e-6
    assert np.linalg.norm(result.weights) <= radius * (1 + 1e-9)
    return examples, result, limited


@pytest.mark.parametrize(("family", "seed"), [c for c in FEW if c not in SLOW])
def test_dual_extragradient_reaches_the_conic_optimum(family, seed):
    check_bound(*check_saddle(DualExtragradient(), family, seed))


@pytest.mark.parametrize(("family", "seed"), [c for c in FEW if c not in SLOW])
def test_adaptive_steps_reach_the_conic_optimum_sooner(family, seed):
    """And obey (19) with the sum of their lengths, which is at least that of constant steps."""
    plain = check_saddle(DualExtragradient(), family, seed)[1]
    examples, result, trainer = check_saddle(DualExtragradient(adaptive=True), family, seed)
    state = result.state
    assert state.length >= state.iteration
    own = trainer.weights_in.spread(examples.size) / state.balance
    other = sum(trainer.outputs.spread(example) for example in examples) * state.balance
    assert result.trace.gap[-1] <= (own + other) / (state.step * state.length) + 1e-9
    # The bound is lower, the gap itself need not be: one measurement later is as soon.
    assert state.iteration <= plain.state.iteration + MEASURED


def test_adaptive_steps_stay_finite_where_nothing_moves_any_more():
    data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
    # They double at most from pass to pass: without a limit they would overflow after 1,023.
    result = train(data, DualExtragradient(adaptive=True, max_iterations=1100), measure_every=1100)
    assert np.isfinite(result.weights).all()
    assert result.trace.hinge[-1] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("trainer", [{"outputs": Entropic()}, {"weights_in": EntropicL1Ball(1.0)}])
def test_adaptive_steps_are_euclidean(trainer):
    with pytest.raises(ModelError, match="adaptive steps are Euclidean"):
        DualExtragradient(adaptive=True, **trainer)


@pytest.mark.parametrize(("family", "seed"), FEW)
def test_extragradient_reaches_the_conic_optimum(family, seed):
    check_saddle(Extragradient(averaged=False), family, seed)


@pytest.mark.parametrize("outputs", GEOMETRIES, ids=["euclidean", "entropic"])
@pytest.mark.parametrize("weights_in", [L2Ball(1.5), L1Ball(1.5), EntropicL1Ball(1.5)],
                         ids=["l2", "l1", "entropic-l1"])  # fmt: skip
@pytest.mark.parametrize("balance", [1.0, None])
@pytest.mark.parametrize("seed", range(sweep_size() // 100))
def test_dual_extragradient_obeys_its_bound(outputs, weights_in, seed, balance):
    """And the gap bounds the error."""
    rng = np.random.default_rng(seed)
    examples = FAMILIES["chain"](rng, 2)
    limit = {"radius": 1.5} if isinstance(weights_in, L2Ball) else {"l1": 1.5}
    _, value = conic_optimum(examples, **limit)
    trainer = DualExtragradient(
        weights_in, outputs, balance=balance, max_iterations=60, gap_tolerance=1e-9
    )
    result = train(examples, trainer)
    check_bound(examples, result, trainer)
    for step in result.trace.steps:
        assert step.hinge - step.gap <= value + 1e-6 <= step.hinge + 2e-6


@pytest.mark.parametrize("outputs", GEOMETRIES, ids=["euclidean", "entropic"])
def test_spread_is_the_largest_divergence(outputs):
    examples = FAMILIES["chain"](np.random.default_rng(5), 3)
    for example in examples:
        every = vertices(example)
        if isinstance(outputs, Euclidean):
            expected = 0.5 * ((every - example.gold) ** 2).sum(axis=1).max()
        else:
            expected = np.log(len(every))  # from the uniform distribution to one output
        assert outputs.spread(example) == pytest.approx(expected)


@pytest.mark.parametrize("trainer", [DualExtragradient, Extragradient, ProjectedGradient])
def test_a_step_search_converges_faster(trainer):
    examples = FAMILIES["chain"](np.random.default_rng(6), 4)
    gaps = {}
    for step in (None, StepSearch(passes=4, factor=2.0)):
        result = train(examples, trainer(L2Ball(2.0), Entropic(), step=step, max_iterations=20))
        gaps[step] = result.trace.gap[-1], result.state.step, result.state.calls
    (safe, short, few), (found, long, many) = gaps.values()
    assert found < 0.8 * safe
    assert long >= 2.0 * short
    assert many > few  # what the search asked is counted
    free = train(examples, trainer(L2Ball(), Entropic(), step=StepSearch(), max_iterations=2))
    assert np.isfinite(free.trace.hinge).all()


def test_step_settings_are_checked():
    with pytest.raises(ValueError, match="StepSearch: factor is larger than 1"):
        StepSearch(factor=1.0)
    with pytest.raises(ValueError, match="Extragradient: balance is a positive number"):
        Extragradient(balance=0.0)


def textbook(examples, sets, outputs, eta, passes):
    """Figures 2 and 4 as printed, with all of s kept; yields the mean weights."""
    s_w, s_z = np.zeros(examples.size), [np.zeros(e.space.size) for e in examples]
    total = np.zeros(examples.size)
    for t in range(passes):
        v_place = sets.move(sets.start(examples.size), eta * s_w)
        v_w = sets.point(v_place)
        v = [outputs.move(e, outputs.start(e), eta * s) for e, s in zip(examples, s_z, strict=True)]
        slope = sum(
            e.matrix.T @ (e.gold - outputs.point(e, p)) for e, p in zip(examples, v, strict=True)
        )
        u_w = sets.point(sets.move(v_place, eta * slope))
        u = [outputs.point(e, outputs.move(e, p, eta * (e.matrix @ v_w + e.costs)))
             for e, p in zip(examples, v, strict=True)]  # fmt: skip
        s_w = s_w + sum(e.matrix.T @ (e.gold - z) for e, z in zip(examples, u, strict=True))
        s_z = [s + e.matrix @ u_w + e.costs for s, e in zip(s_z, examples, strict=True)]
        total += u_w
        yield total / (t + 1)


BALL = L2Ball(0.7)
# Counting matchings and cuts is hard: only chains and trees have marginals.
FORMS = [
    (family, weights_in, outputs, seed)
    for family in FAMILIES
    for outputs in (GEOMETRIES if family in ("chain", "tree") else GEOMETRIES[:1])
    for weights_in in (BALL, L2Ball(), L1Ball(0.7), EntropicL1Ball(0.7))
    for seed in range(60 if weights_in is BALL and sweep_size() == FULL else 1)
]


@pytest.mark.parametrize(("family", "weights_in", "outputs", "seed"), FORMS)
def test_memory_efficient_form_is_the_plain_one(family, weights_in, outputs, seed):
    examples = FAMILIES[family](np.random.default_rng(11 + seed))
    trainer = DualExtragradient(weights_in, outputs, step=0.2, balance=1.0)
    state = trainer.init(examples)
    for expected in textbook(examples, weights_in, outputs, 0.2, 25):
        trainer.advance(examples, state)
        np.testing.assert_allclose(trainer.weights(state), expected, atol=1e-9)
    kept = [v for v in vars(state).values() if isinstance(v, np.ndarray)]
    assert sum(v.size for v in kept) == 2 * examples.size


@pytest.mark.parametrize("outputs", GEOMETRIES, ids=["euclidean", "entropic"])
def test_projected_gradient_has_an_honest_gap(outputs):
    examples = FAMILIES["tree"](np.random.default_rng(3))
    _, value = conic_optimum(examples, radius=1.0)
    trainer = ProjectedGradient(L2Ball(1.0), outputs, step=0.05, max_iterations=400)
    result = train(examples, trainer, measure_every=20)
    for step in result.trace.steps:
        assert step.hinge - step.gap <= value + 1e-6 <= step.hinge + 2e-6
    assert result.trace.gap[-1] < 0.2 * result.trace.gap[0]


def separable(rng, n=8):
    """Chains whose labels are read off the sign of one feature."""
    from assent.learn import Examples
    from assent.models import ChainModel

    inputs = [rng.normal(size=(5, 3)) for _ in range(n)]
    for x in inputs:
        x[:, 0] = np.sign(x[:, 0]) * (0.5 + np.abs(x[:, 0]))
    outputs = [(x[:, 0] > 0).astype(int) for x in inputs]
    return Examples(ChainModel((0, 1), 3), inputs, outputs)


@pytest.mark.parametrize(
    "trainer",
    [AveragedPerceptron(max_iterations=30), AveragedPerceptron(max_iterations=100, batch=True),
     AveragedPerceptron(max_iterations=30, seed=None), MIRA(max_iterations=30),
     MIRA(C=0.1, max_iterations=30, seed=None)],
)  # fmt: skip
def test_mistake_driven_trainers_separate_what_can_be(trainer):
    examples = separable(np.random.default_rng(0))
    result = train(examples, trainer, measure_every=10)
    for x, y in zip(examples.inputs, examples.outputs, strict=True):
        assert examples.model.predict(x, result.weights).tolist() == y.tolist()


def test_average_is_the_mean_of_all_weights():
    examples = separable(np.random.default_rng(1))
    trainer = AveragedPerceptron(seed=None)
    state = trainer.init(examples)
    trainer.advance(examples, state)
    w, total = np.zeros(examples.size), np.zeros(examples.size)
    for example in examples:
        w = w + example.matrix.T @ (example.gold - example.space.maximize(example.matrix @ w))
        total += w
    np.testing.assert_allclose(trainer.weights(state), total / len(examples), atol=1e-12)


def test_frank_wolfe_average_counts_later_weights_more():
    examples = separable(np.random.default_rng(2), 3)
    trainer = FrankWolfe(C=0.3, averaged=True)
    state = trainer.init(examples)
    seen = []
    original = FrankWolfe._move

    def watched(self, example, gradient, state, i, target):
        original(self, example, gradient, state, i, target)
        seen.append(state.w.copy())

    FrankWolfe._move = watched
    try:
        for _ in range(4):
            trainer.advance(examples, state)
    finally:
        FrankWolfe._move = original
    s = np.arange(1, len(seen) + 1)
    np.testing.assert_allclose(trainer.weights(state), s @ np.array(seen) / s.sum(), atol=1e-12)


def test_subgradient_average_counts_later_weights_more():
    examples = separable(np.random.default_rng(2), 3)
    trainer, state = Subgradient(C=0.3, seed=None), None
    state = trainer.init(examples)
    weights = [np.zeros(examples.size)]
    sums, total = np.zeros(examples.size), np.zeros(examples.size)
    for t in range(1, 7):
        example = examples[(t - 1) % 3]
        z = example.violator(weights[-1])[0]
        sums = sums + example.matrix.T @ (example.gold - z)
        weights.append(0.3 * 3 / t * sums)
        total += t * weights[-1]
    for _ in range(2):
        trainer.advance(examples, state)
    np.testing.assert_allclose(trainer.weights(state), total / 21, atol=1e-12)


def test_mira_takes_the_smallest_step_that_suffices():
    examples = separable(np.random.default_rng(4), 1)
    trainer = MIRA(C=1e9)
    state = trainer.init(examples)
    example = examples[0]
    z, _ = example.violator(state.w)
    trainer.advance(examples, state)
    scores = example.scores(state.w)
    assert example.hinge(scores, z) == pytest.approx(0.0, abs=1e-12)


def test_cached_planes_save_oracle_calls():
    rng = np.random.default_rng(7)
    examples = FAMILIES["chain"](rng, 12)
    calls = {}
    for planes in (0, 5):
        result = train(examples, FrankWolfe(C=1.0, planes=planes, max_iterations=3000))
        assert result.reason == "the duality gap is within tolerance"
        calls[planes] = result.state.calls
    assert calls[5] < calls[0]


def test_entropic_steps_multiply_distributions():
    """Example 2: a step multiplies the probability of every output by exp(its score)."""
    rng = np.random.default_rng(8)
    for example in FAMILIES["tree"](rng, 4):
        every = vertices(example)
        chance = np.full(len(every), 1.0 / len(every))
        geometry = Entropic()
        place = geometry.start(example)
        for _ in range(3):
            s = rng.normal(size=example.space.size)
            place = geometry.move(example, place, s)
            chance = chance * np.exp(every @ s)
            chance /= chance.sum()
            np.testing.assert_allclose(geometry.point(example, place), chance @ every, atol=1e-12)


@pytest.mark.parametrize(("family", "seed"), FEW)
def test_quadratic_program_is_the_conic_optimum(family, seed):
    """Through the linear rows of spaces, where the oracle lists every output."""
    examples, C = problem(family, seed)
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2, examples.size))
    cases = [
        (QuadraticProgram(C=C), {"C": C}),
        (QuadraticProgram(weights_in=L2Ball(0.7)), {"radius": 0.7}),
        (QuadraticProgram(weights_in=L1Ball(0.7)), {"l1": 0.7}),
        (QuadraticProgram(weights_in=L2Ball(0.7, nonnegative=[0])),
         {"radius": 0.7, "nonnegative": [0]}),
        (QuadraticProgram(weights_in=L2Ball(0.7, nonnegative=True, above=rows)),
         {"radius": 0.7, "nonnegative": range(examples.size), "above": rows}),
    ]  # fmt: skip
    for trainer, limits in cases:
        result = train(examples, trainer)
        _, value = conic_optimum(examples, **limits)
        assert result.trace.objective[-1] == pytest.approx(value, rel=1e-5, abs=1e-6)
        assert abs(result.trace.gap[-1]) < 1e-5
        assert result.reason == "the program is solved"


def test_regularization_path_falls():
    examples = FAMILIES["chain"](np.random.default_rng(0))
    path = regularization_path(examples, [0.1, 0.5, 1.0])
    for (weights, value), radius in zip(path, [0.1, 0.5, 1.0], strict=True):
        assert np.linalg.norm(weights) <= radius + 1e-6
        assert value == pytest.approx(conic_optimum(examples, radius=radius)[1], abs=1e-5)
    assert path[0][1] >= path[1][1] >= path[2][1]


@pytest.mark.parametrize("family", ["chain", "tree"])
@pytest.mark.parametrize("seed", range(3))
def test_log_likelihood_by_enumeration(family, seed):
    examples, C = problem(family, seed)

    def objective(w):
        total = 0.5 * w @ w
        for example in examples:
            scores = example.matrix @ w
            total += C * (logsumexp(vertices(example) @ scores) - scores @ example.gold)
        return total

    expected = minimize(objective, np.zeros(examples.size), tol=1e-10).fun
    result = train(examples, LogLikelihood(C=C, tolerance=1e-7))
    assert result.reason == "the gradient is within tolerance"
    assert result.trace.objective[-1] == pytest.approx(objective(result.weights))
    assert result.trace.objective[-1] == pytest.approx(expected, abs=1e-6)
    assert (np.diff(result.trace.objective) <= 1e-12).all()
    for step in result.trace.steps:
        assert step.objective - step.gap <= expected + 1e-6
    online = train(examples, AdaGradLikelihood(C=C, rate=0.3, max_iterations=300), measure_every=50)
    assert online.trace.objective[-1] == pytest.approx(expected, rel=0.02)


def scored_pairs():
    """A graph whose pairs have no literals of their own, and so no rows."""
    import assent as at
    from assent.learn import Examples
    from assent.models import GraphInput, GraphModel, Part

    def build(x):
        g = at.FactorGraph()
        on = g.binary(len(x), name="on")
        both = g.add(at.Pair(on[:-1], on[1:], scores=0.0))
        return GraphInput(g, [Part(on, x, "node"), Part(both, None, "both")])

    inputs = [np.ones((3, 1))]
    return Examples(GraphModel(build).shaped(inputs, [[1, 0, 1]]), inputs, [[1, 0, 1]])


RINGS = [(seed, trainer)
         for trainer in (Extragradient(L2Ball(1.0), averaged=False, max_iterations=3000),
                         DualExtragradient(L2Ball(1.0), max_iterations=3000))
         for seed in range(3)]  # fmt: skip


@pytest.mark.parametrize(("seed", "trainer"), RINGS if sweep_size() == FULL else RINGS[:1])
def test_a_loose_relaxation_is_learnt_as_it_is(seed, trainer):
    """Rings of three, which every decoder's relaxation may answer with halves."""
    examples = random_rings(np.random.default_rng(seed))
    exact = train(examples, QuadraticProgram(weights_in=L2Ball(1.0)))
    assert abs(exact.trace.gap[-1]) < 1e-3
    result = train(examples, trainer, measure_every=50)
    assert result.reason == "the saddle gap is within tolerance"
    assert result.trace.hinge[-1] == pytest.approx(exact.trace.hinge[-1], rel=2e-3)


def test_questions_that_are_missing_are_named():
    examples = FAMILIES["matching"](np.random.default_rng(0))
    for trainer in (LogLikelihood(), AdaGradLikelihood()):
        with pytest.raises(ModelError, match="MatchingSpace does not answer marginals, which Log"):
            train(examples, trainer)
    with pytest.raises(ModelError, match="GraphSpace does not answer rows, which QuadraticProgram"):
        train(scored_pairs(), QuadraticProgram(C=1.0))
    with pytest.raises(ValueError, match="either C or weights_in"):
        QuadraticProgram()


@pytest.mark.parametrize(
    "trainer",
    [DualExtragradient(L2Ball(1.0)), DualExtragradient(L2Ball(1.0), Entropic()),
     Extragradient(L2Ball(1.0)), ProjectedGradient(L2Ball(1.0)), LogLikelihood(),
     AveragedPerceptron(batch=True)],
    ids=lambda trainer: type(trainer).__name__,
)  # fmt: skip
def test_threads_change_no_bit(trainer, monkeypatch):
    from assent.learn import Examples, examples

    monkeypatch.setattr(examples, "PER_THREAD", 2)  # several chunks for each thread
    data = FAMILIES["tree"](np.random.default_rng(9), 13)
    found = []
    for n_jobs, keep in ((1, True), (3, True), (2, False)):
        own = Examples(data.model, data.inputs, data.outputs, keep=keep, n_jobs=n_jobs)
        result = train(own, replace(trainer, max_iterations=4))
        found.append((result.weights.tolist(), result.trace.hinge.tolist(), result.state.calls))
    assert found[0] == found[1] == found[2]


def test_numbers_of_threads_are_checked():
    data = FAMILIES["tree"](np.random.default_rng(9), 2)
    from assent.learn import Examples

    assert Examples(data.model, data.inputs, data.outputs, n_jobs=-1).n_jobs >= 1
    for wrong in (0, -2, 1.5, True):
        with pytest.raises(ValueError, match="n_jobs is a number of threads, or -1"):
            Examples(data.model, data.inputs, data.outputs, n_jobs=wrong)
