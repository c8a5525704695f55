"""What is learnt from summaries and compressions together."""

from dataclasses import replace

import numpy as np
import pytest

from assent.apps.summarization import (
    Collection,
    Compressor,
    SummaryWeights,
    bigram_concepts,
    phrase_deletions,
    summarize,
    train_compressor,
    train_summarizer,
)
from assent.apps.summarization.concept_features import NAMES, concept_features
from assent.apps.summarization.summary_training import (
    ARCS,
    SummarySpace,
    TwoTasks,
    cut_arcs,
    recalls,
)
from assent.apps.summarization.summary_weights import RELATIONS
from assent.errors import ModelError
from assent.io import Sentence


def clause(adjective, noun, verb, adverb):
    """Such as "green rooms shine today": the adjective and the adverb may be deleted."""
    return Sentence.from_words([adjective, noun, verb, adverb]).with_columns(
        upos=["ADJ", "NOUN", "VERB", "ADV"], xpos=["JJ", "NN", "VB", "RB"],
        heads=[2, 3, 0, 3], deprels=["amod", "nsubj", "root", "advmod"],
    )  # fmt: skip


def collection(seed):
    """People mention what has an adjective; pairs with adverbs are as frequent, and come first."""
    random = np.random.default_rng(seed)
    names = [f"{kind}{seed}" for kind in ("green", "rooms", "shine", "today")]
    common = [clause(f"rare{i}", names[1], names[2], names[3]) for i in range(4)]
    other = [clause(names[0], f"noun{seed}", f"verb{i}", f"late{i}") for i in range(4)]
    sentences = [*common, *other]
    order = random.permutation(len(sentences))
    return Collection([sentences[i] for i in order], [f"{names[0]} noun{seed}."])


def test_recalls_and_features_by_hand():
    own = collection(1)
    concepts = bigram_concepts(own.sentences, least=3)
    words = [word for sentence in own.sentences for word in sentence.words]
    pairs = {}
    for kind, (i, j) in zip(concepts.types, concepts.words, strict=True):
        pairs[words[i], words[j]] = kind
    assert set(pairs) == {("rooms1", "shine1"), ("shine1", "today1"), ("green1", "noun1")}
    found = recalls(own._replace(references=["Green1 noun1, shine1 today1!", "none"]), concepts)
    assert found[pairs["green1", "noun1"]] == pytest.approx(1 / 6)
    assert found[pairs["shine1", "today1"]] == pytest.approx(1 / 6)
    assert found[pairs["rooms1", "shine1"]] == 0.0
    features = concept_features(own.sentences, concepts, starts=[])
    row = dict(zip(NAMES, features[pairs["green1", "noun1"]], strict=True))
    assert row["adjective"] == row["noun"] == 1.0 and row["verb"] == row["opening"] == 0.0
    assert row["log"] == pytest.approx(np.log(4)) and row["adjective, share"] == 5.0


def test_features_of_a_summary_are_linear_in_what_it_is_worth():
    """The space's answer is worth by scores what `summarize` says its summary is worth."""
    own = collection(2)
    space = SummarySpace(own, 4, phrase_deletions)
    random = np.random.default_rng(0)
    scores = np.concatenate([random.uniform(0.5, 2.0, space.size - ARCS),
                             -random.uniform(0.1, 1.0, ARCS)])  # fmt: skip
    z = space.maximize(scores)
    weights = SummaryWeights(np.zeros(len(NAMES)), scores[-ARCS:])
    found = summarize(
        own.sentences, 4, deletions=weights.priced(phrase_deletions),
        concepts=replace(space.concepts, weights=scores[:-ARCS]),
    )  # fmt: skip
    assert scores @ z == pytest.approx(found.value) and found.value > 0


def test_what_people_mention_is_learnt():
    train = [collection(seed) for seed in range(4)]
    new = collection(9)
    assert "green9" not in summarize(new.sentences, 3, starts=()).text.lower()
    learnt = train_summarizer(train, budget=3)
    found = summarize(
        new.sentences, 3, concepts=learnt.weighted(new.sentences, 3),
        deletions=learnt.priced(phrase_deletions),
    )  # fmt: skip
    assert "green9" in found.text.lower() and found.verify()
    model = TwoTasks(3, phrase_deletions)
    weights = np.concatenate([np.zeros(2 * ARCS), learnt.deletions, learnt.concepts])
    assert model.predict(new, weights).text == found.text


def test_compressions_tell_what_deletions_cost():
    own = clause("green", "rooms", "shine", "today")
    kept = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0]], bool)  # no verb, no arc to it
    arcs = cut_arcs(own, kept, phrase_deletions)
    adverb, adjective = (RELATIONS.index(name) for name in ("advmod", "amod"))
    assert sorted(arcs.cut.tolist()) == [False, False, False, True, True]
    assert arcs.features[arcs.cut][:, adverb].all()
    assert arcs.features[~arcs.cut][:, adjective].all()
    alone = train_summarizer([collection(0)], budget=3).deletions
    both = train_summarizer([collection(0)], [(own, kept)] * 10, budget=3).deletions
    assert both[adverb] - both[adjective] > alone[adverb] - alone[adjective]


def test_a_compressor_with_summaries(tmp_path):
    own = clause("green", "rooms", "shine", "today")
    kept = np.array([[1, 1, 1, 0], [0, 1, 1, 0]], bool)
    compressor = train_compressor([own] * 4, [kept] * 4)
    assert compressor.concepts([own], 3) is None
    weights = train_summarizer([collection(0)], budget=3)
    both = replace(compressor, summaries=weights)
    both.save(tmp_path / "it.model")
    again = Compressor.load(tmp_path / "it.model")
    new = collection(5).sentences
    assert again.summaries is not None
    np.testing.assert_allclose(again.summaries.concepts, weights.concepts)
    np.testing.assert_allclose(again.concepts(new, 3).weights, weights.weighted(new, 3).weights)
    allowed = compressor.deletions(own) > -np.inf
    np.testing.assert_array_equal(both.deletions(own) > -np.inf, allowed)
    assert (both.deletions(own)[allowed] < 0.0).all() and allowed.any()


def test_errors():
    with pytest.raises(ModelError, match="no summaries to learn from"):
        train_summarizer([], budget=3)
    with pytest.raises(ModelError, match="collection 2 has no sentences"):
        train_summarizer([collection(0), Collection([], ["Green rooms."])], budget=3)
    with pytest.raises(ModelError, match="19 and 13 numbers"):
        SummaryWeights(np.zeros(2), np.zeros(ARCS))
