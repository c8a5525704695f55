"""Chains under rules: every question is asked over the sequences that are allowed."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import assent as at
from assent.learn import (
    MIRA,
    AdaGradLikelihood,
    AveragedPerceptron,
    DualExtragradient,
    Examples,
    FrankWolfe,
    LogLikelihood,
    QuadraticProgram,
    StructuredPredictor,
    Subgradient,
    train,
)
from assent.models import ChainModel
from assent.models.chain_rules import chain_rules

LABELS = tuple("abc")
EVEN = at.Automaton(  # an even number of a, and no c at the end
    "abc",
    [(q, s, (q[0] ^ (s == "a"), s)) for q in itertools.product((0, 1), "abc") for s in "abc"],
    start=(0, "b"),
    accept=[(0, "a"), (0, "b")],
)


def random_automaton(rng, forbidden):
    """Any automaton over three symbols that accepts something of length 2, 3 and 4."""
    while True:
        states = range(int(rng.integers(1, 4)))
        arcs = [
            (q, s, int(rng.choice(states))) for q in states for s in "abc" if rng.random() < 0.7
        ]
        reached = {0, *(arc[2] for arc in arcs)}
        accept = [q for q in reached if rng.random() < 0.7]
        made = at.Automaton("abc", arcs, start=0, accept=accept)
        if all(allowed(made, forbidden, n) for n in (2, 3, 4)):
            return made


def allowed(automaton, forbidden, n):
    """All sequences of labels that are allowed, one by one."""
    found = []
    for states in itertools.product(range(3), repeat=n):
        names = [LABELS[s] for s in states]
        steps = itertools.pairwise([None, *names, None])
        if (automaton is None or automaton.accepts(names)) and not set(steps) & set(forbidden):
            found.append(states)
    return found


def totals(model, x, weights, sequences):
    named = model.named(weights)
    return np.array([
        sum(float(x[t] @ named["nodes"][:, s]) for t, s in enumerate(states))
        + sum(named["edges"][a, b] for a, b in itertools.pairwise(states))
        + named["start"][states[0]] + named["stop"][states[-1]]
        for states in sequences
    ])  # fmt: skip


def random_model(seed):
    rng = np.random.default_rng(seed)
    forbidden = ((None, "b"), ("a", "c"), ("b", None))[: seed % 4]
    automaton = None if seed % 3 == 2 else random_automaton(rng, forbidden)
    model = ChainModel(LABELS, 2, automaton=automaton, forbidden=forbidden)
    return rng, model


@pytest.mark.parametrize("seed", range(30))
def test_all_questions_by_enumeration(seed):
    rng, model = random_model(seed)
    lengths = [n for n in (1, 2, 3, 4) if allowed(model.automaton, model.forbidden, n)]
    X = [rng.normal(size=(n, 2)) for n in lengths]
    weights = 2.0 * rng.normal(size=model.size)
    gold, value = [], 0.0
    for x, many in zip(X, model.predict_many(X, weights), strict=True):
        sequences = allowed(model.automaton, model.forbidden, len(x))
        scores = totals(model, x, weights, sequences)
        best = [LABELS[s] for s in sequences[scores.argmax()]]
        assert model.predict(x, weights).tolist() == many.tolist() == best
        share, states = np.exp(scores - scores.max()), np.array(sequences)
        marginals, decisions = model.label_marginals(x, weights), model.label_scores(x, weights)
        for t, k in np.ndindex(len(x), 3):
            here = states[:, t] == k
            assert marginals[t, k] == pytest.approx(share[here].sum() / share.sum())
            assert decisions[t, k] == pytest.approx(scores[here].max(initial=-np.inf))
        chosen = int(rng.integers(len(sequences)))
        gold.append([LABELS[s] for s in sequences[chosen]])
        value += scores.max() + np.log(share.sum()) - scores[chosen]
    for keep in (True, False):
        examples = Examples(model, X, gold, keep=keep)
        loss = examples.log_loss(weights)
        assert loss.value == pytest.approx(value)
        step = rng.normal(size=model.size)
        slope = [examples.log_loss(weights + h * step).value for h in (1e-5, -1e-5)]
        assert loss.gradient @ step == pytest.approx((slope[0] - slope[1]) / 2e-5, abs=1e-4)


@pytest.mark.parametrize(
    "trainer", [AveragedPerceptron(), Subgradient(C=0.2), AdaGradLikelihood(C=0.3)]
)
@pytest.mark.parametrize("seed", range(4))
def test_compiled_passes_take_the_steps_of_single_visits(trainer, seed):
    rng, model = random_model(seed)
    lengths = rng.integers(2, 5, 20)
    gold = [allowed(model.automaton, model.forbidden, n) for n in lengths]
    keep = [i for i, found in enumerate(gold) if found]
    y = [[LABELS[s] for s in gold[i][int(rng.integers(len(gold[i])))]] for i in keep]
    X = [rng.normal(size=(lengths[i], 2)) for i in keep]
    trainer = replace(trainer, max_iterations=3)
    one = train(Examples(model, X, y, keep=False), trainer)
    other = train(Examples(model, X, y), trainer)
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-10)
    np.testing.assert_allclose(other.trace.objective, one.trace.objective, rtol=1e-10)


@pytest.mark.parametrize(
    "trainer", [LogLikelihood(), FrankWolfe(), MIRA(), DualExtragradient(max_iterations=20)]
)
def test_trainers_keep_to_the_rules(trainer):
    rng = np.random.default_rng(0)
    model = ChainModel(LABELS, automaton=EVEN, forbidden=(("c", "a"),))
    X, y = [], []
    for n in rng.integers(2, 6, 12):
        x = rng.normal(size=(n, 3))
        sequences = allowed(EVEN, (("c", "a"),), n)
        best = max(sequences, key=lambda states: sum(x[t, s] for t, s in enumerate(states)))
        X.append(x)
        y.append([LABELS[s] for s in best])
    predictor = StructuredPredictor(model, trainer).fit(X, y)
    assert predictor.score(X, y) > 0.9
    new = [rng.normal(size=(7, 3)) for _ in range(20)]
    plain = StructuredPredictor(ChainModel(LABELS), trainer).fit(X, y)
    assert all(EVEN.accepts(p) and "ca" not in "".join(p) for p in predictor.predict(new))
    assert not all(EVEN.accepts(p) for p in plain.predict(new))


def test_tags_of_entities():
    tags = ("B-X", "I-X", "O")
    model = ChainModel(tags, 3, automaton=at.bio(tags))
    weights = np.zeros(model.size)
    weights[:9] = np.eye(3).ravel()
    x = np.array([[0.4, 0.5, 0.0], [0.0, 1.0, 0.9]])
    assert ChainModel(tags, 3).predict(x, weights).tolist() == ["I-X", "I-X"]
    assert model.predict(x, weights).tolist() == ["B-X", "I-X"]
    assert model.label_marginals(x, weights)[0, 1] == 0.0


def test_what_is_no_rule_is_named():
    x, tags = np.ones((2, 1)), ("B-X", "I-X", "O")
    with pytest.raises(TypeError, match=r"automaton is an Automaton such as at\.bio\(tags\)"):
        ChainModel(automaton="bio")
    with pytest.raises(TypeError, match="forbidden is a sequence of pairs"):
        ChainModel(forbidden=3)
    with pytest.raises(at.ModelError, match=r"a forbidden transition is \(label, next label\)"):
        ChainModel(LABELS, 1, forbidden=[("a", "z")]).rules  # noqa: B018
    with pytest.raises(at.ModelError, match="needs a label"):
        chain_rules(LABELS, forbidden=((None, None),))
    with pytest.raises(at.ModelError, match=r"does not know \{a, b, c\}"):
        ChainModel(LABELS, 1, automaton=at.bio(tags)).predict(x, np.zeros(18))
    scored = at.Automaton("abc", [(0, s, 0, 1.5) for s in "abc"], start=0, accept=[0])
    with pytest.raises(at.ModelError, match="has no scores on its arcs"):
        ChainModel(LABELS, 1, automaton=scored).rules  # noqa: B018
    model = ChainModel(tags, 1, automaton=at.bio(tags))
    with pytest.raises(at.ModelError, match="example 0: the gold output is not among the outputs"):
        Examples(model, [x], [["O", "I-X"]])
    assert Examples(model, [x], [["O", "I-X"]], outside=True).outside == 1
    never = ChainModel(LABELS, 1, forbidden=tuple((None, label) for label in LABELS))
    for ask in (never.predict, lambda x, w: never.predict_many([x], w)):
        with pytest.raises(at.ModelError, match="allow no sequence of 2 labels"):
            ask(x, np.zeros(never.size))
    with pytest.raises(at.ModelError, match="does not answer rows"):
        train(Examples(model, [x], [["O", "O"]]), QuadraticProgram(C=1.0))


def test_rules_in_files(tmp_path):
    X, y = [np.ones((2, 1)), -np.ones((3, 1))], [["a", "b"], ["b", "b", "b"]]
    model = ChainModel(forbidden=[("b", "a"), (None, "c")], labels=LABELS)
    predictor = StructuredPredictor(model, MIRA(max_iterations=2)).fit(X, y)
    predictor.save(tmp_path / "rules.npz")
    assert StructuredPredictor.load(tmp_path / "rules.npz").model_ == predictor.model_
