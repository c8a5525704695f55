"""Regular: sequences that an automaton accepts, its builders, and other ways to say the same."""

import itertools
import re

import numpy as np
import pytest

import assent as at
from assent.testing import check_structure
from tests.oracles.sweep import sweep_seeds
from tests.structures import automaton

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


@pytest.fixture
def rng():
    return np.random.default_rng(19)


def spans_are_well_formed(tags):
    """What BIO means, written as a loop."""
    before = "O"
    for tag in tags:
        if tag.startswith("I-") and before not in (f"B-{tag[2:]}", tag):
            return False
        before = tag
    return True


def test_bio_accepts_what_is_well_formed():
    rule = at.bio(TAGS)
    for length in range(5):
        for tags in itertools.product(TAGS, repeat=length):
            assert rule.accepts(tags) == spans_are_well_formed(tags), tags


@pytest.mark.parametrize(("last", "alone"), ["ES", "LU"])
def test_bioes_accepts_what_spans_spell(last, alone):
    tags = ["O", "B-X", "I-X", f"{last}-X", f"{alone}-X"]
    letters = dict(zip(tags, "OBILU", strict=True))
    rule = at.bio(tags)
    for length in range(6):
        for sequence in itertools.product(tags, repeat=length):
            text = "".join(letters[tag] for tag in sequence)
            assert rule.accepts(sequence) == bool(re.fullmatch("(O|U|BI*L)*", text)), text


@pytest.mark.parametrize(
    "pattern",
    ["a", "a b c", "a*", "(a | b)* c", "a+ b? c", "([^a] | a .* c)*", "[a b]* c [^c]",
     "(a b)+ | c", "", "(a* b*)*", "((a | b) c?)+ .", "'a' 'b'"],
)  # fmt: skip
def test_patterns_match_what_those_of_python_do(pattern):
    rule = at.regex(pattern, "abc")
    same = pattern.replace("[^a]", "[bc]").replace("[^c]", "[ab]")
    same = same.replace(" ", "").replace("'", "")
    for length in range(6):
        for word in itertools.product("abc", repeat=length):
            assert rule.accepts(word) == bool(re.fullmatch(same, "".join(word))), word


def test_patterns_become_small_automata():
    rule = at.regex("([^P] | P .* D)*", ["O", "P", "D"])
    assert len(rule.states) == 2 and len(rule.origin) == 6


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [("a (b", "not closed"), ("a )", "unexpected"), ("* a", "nothing stands before"),
     ("x", "'x' is no label"), ("[a x]", "'x' is no label"), ("a [b", "cannot read on"),
     ("[^a b c]", "no sequence")],
)  # fmt: skip
def test_patterns_that_say_nothing_are_refused(pattern, complaint):
    with pytest.raises(at.ModelError, match=complaint):
        at.regex(pattern, "abc")
    with pytest.raises(TypeError, match="as a string"):
        at.regex(3, "abc")


def test_both_automata_together_accept_what_each_does(rng):
    for _ in range(20):
        first, second = automaton(rng, "ab"), automaton(rng, "ba")
        both = first & second
        for length in range(6):
            for word in itertools.product("ab", repeat=length):
                assert both.score(word) == pytest.approx(first.score(word) + second.score(word))


@sweep_seeds()
def test_random_automata_answer_all_questions_as_enumeration_does(seeds):
    for seed in seeds:
        rng = np.random.default_rng([19, seed])
        graph = at.FactorGraph()
        length, states = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        tag = graph.categorical(length, states)
        check_structure(at.Regular(tag, automaton(rng, tuple(range(states)))), trials=4)


def test_vertices_are_the_accepted_sequences(rng):
    """What the structure calls a vertex, by the automaton itself."""
    for _ in range(20):
        graph = at.FactorGraph()
        tag = graph.categorical(4, 3, scores=rng.normal(size=(4, 3)))
        rule = automaton(rng, (0, 1, 2))
        graph.add(at.Regular(tag, rule))
        words = list(itertools.product(range(3), repeat=4))
        scores = graph.variables[0].scores.reshape(4, 3)
        totals = [rule.score(word) + scores[np.arange(4), list(word)].sum() for word in words]
        result = at.decode(graph)
        assert result.value == pytest.approx(max(totals))
        assert tuple(result[tag]) == words[int(np.argmax(totals))]


def test_bio_is_a_chain_with_forbidden_transitions(rng):
    follows = [[b[0] != "I" or a in (f"B-{b[2:]}", b) for b in TAGS] for a in TAGS]
    transitions = np.where(follows, 0.0, -np.inf)
    start = np.where([tag.startswith("I-") for tag in TAGS], -np.inf, 0.0)
    for _ in range(10):
        scores = rng.normal(size=(3, 8, 5))
        values = []
        for factor in (
            lambda tag: at.Regular(tag, at.bio(TAGS)),
            lambda tag: at.Chain(tag, transitions=transitions, start=start),
        ):
            graph = at.FactorGraph()
            tag = graph.categorical(states=TAGS, scores=scores)
            graph.add(factor(tag))
            # Not too many names, so that the relaxation has something to do.
            graph.add(at.AtMost(3, tag.indicators[..., 1:].reshape(-1)))
            values.append(at.decode(graph, exact=True).value)
        assert values[0] == pytest.approx(values[1])


def test_scores_of_arcs_are_given_with_new_scores(rng):
    graph = at.FactorGraph()
    tag = graph.categorical(3, "ab", scores=rng.normal(size=(3, 2)))
    rule = at.Automaton(
        "ab", [(0, "a", 1), (0, "b", 0), (1, "a", 1), (1, "b", 0)], start=0, accept=[0, 1]
    )
    handle = graph.add(at.Regular(tag, rule))
    scores = rng.normal(size=(3, 4)) * 3.0
    found = at.decode(graph, scores={handle: scores})
    best = -np.inf
    for word in itertools.product((0, 1), repeat=3):
        state, total = 0, 0.0
        for t, symbol in enumerate(word):
            total += scores[t, 2 * state + symbol] + graph.variables[0].scores[2 * t + symbol]
            state = 1 - symbol
        best = max(best, total)
    assert found.value == pytest.approx(best)
    taken = found.marginals[handle]
    assert taken.shape == (3, 4) and taken.sum(axis=1) == pytest.approx(1.0)


def test_mistakes_are_named():
    graph = at.FactorGraph()
    tag = graph.categorical(2, "ab")
    with pytest.raises(TypeError, match=r"takes an Automaton such as at\.bio"):
        at.Regular(tag, "ab")
    with pytest.raises(at.ModelError, match=r"does not know \{b\}"):
        at.Regular(tag, at.Automaton("a", [(0, "a", 0)], start=0, accept=[0]))
    with pytest.raises(at.ModelError, match="accepts no sequence of length 2"):
        at.Regular(tag, at.regex("a", "ab"))
    with pytest.raises(at.ModelError, match="two arcs read the same symbol"):
        at.Automaton("a", [(0, "a", 0), (0, "a", 1)], start=0, accept=[0])
    with pytest.raises(at.ModelError, match="not among the symbols"):
        at.Automaton("a", [(0, "x", 0)], start=0, accept=[0])
    with pytest.raises(at.ModelError, match=r"no arc leads to \{7\}"):
        at.Automaton("a", [(0, "a", 0)], start=0, accept=[7])
    with pytest.raises(at.ModelError, match="an arc is"):
        at.Automaton("a", [(0, "a")], start=0, accept=[0])
    with pytest.raises(at.ModelError, match="stands twice"):
        at.Automaton("aa", [], start=0, accept=[0])
    with pytest.raises(at.ModelError, match="neither O nor begins"):
        at.bio(["O", "PER"])
    with pytest.raises(at.ModelError, match="different alphabets"):
        at.regex("a*", "a") & at.regex("b*", "b")
