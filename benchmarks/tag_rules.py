"""Suite ``tag-rules``: BIO tags of many sentences from logits, beside Viterbi written by hand.

Three hands: loops in plain Python, NumPy vectorised over tags (one sentence at a time), and NumPy
vectorised over tags and sentences.  All take turns in one run; times are the least of several, and
ratios are of processor time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import assent as at
from benchmarks import tables

KINDS = ("PER", "LOC", "ORG", "MISC")
TAGS = ["O", *(f"{prefix}-{kind}" for kind in KINDS for prefix in "BI")]
WORDS = 30
SENTENCES = {False: 10_000, True: 1_000}
ROUNDS = 5
# Of the slow ones so many sentences are tagged, and the time is scaled.
SAMPLE = 500

Logits = NDArray[np.float64]

FOLLOWS = np.where(
    [[tag[0] != "I" or before in (f"B{tag[1:]}", tag) for tag in TAGS] for before in TAGS],
    0.0, -np.inf,
)  # fmt: skip
BEGINS = np.where([tag[0] == "I" for tag in TAGS], -np.inf, 0.0)


def run(console: Console, quick: bool) -> dict[str, float]:
    """Print times, and ratios to one call of ours; returns processor seconds."""
    logits = np.random.default_rng(0).normal(size=(SENTENCES[quick], WORDS, len(TAGS)))
    regular, chain = tagger(is_regular=True), tagger(is_regular=False)
    ways: dict[str, tuple[Callable[[Logits], Any], int]] = {
        "Regular, 1 thread": (lambda own: regular(own, 1), len(logits)),
        "Regular, 2 threads": (lambda own: regular(own, 2), len(logits)),
        "Chain, 1 thread": (lambda own: chain(own, 1), len(logits)),
        "Viterbi in Python": (lambda own: [plain(x.tolist()) for x in own], SAMPLE),
        "Viterbi in NumPy, by sentence": (lambda own: [by_sentence(x) for x in own], SAMPLE),
        "Viterbi in NumPy, all at once": (at_once, len(logits)),
    }
    seconds, used = dict.fromkeys(ways, np.inf), dict.fromkeys(ways, np.inf)
    answers = {name: np.array(way(logits[:SAMPLE])) for name, (way, _) in ways.items()}
    for found in answers.values():
        assert np.array_equal(found, answers["Viterbi in Python"])
    for _ in range(ROUNDS):
        for name, (way, count) in ways.items():
            begun, share = (time.perf_counter(), time.process_time()), len(logits) / count
            way(logits[:count])
            seconds[name] = min(seconds[name], (time.perf_counter() - begun[0]) * share)
            used[name] = min(used[name], (time.process_time() - begun[1]) * share)
    ours = used["Regular, 1 thread"]
    rows = [
        (name, f"{seconds[name]:.3f}", f"{spent:.3f}", f"{spent / ours:.1f}")
        for name, spent in used.items()
    ]
    tables.show(
        console,
        f"Tags of {len(logits)} sentences of {WORDS} words, {len(TAGS)} tags",
        ("way", "seconds", "CPU seconds", "ratio"),
        rows,
        caption=f"the least of {ROUNDS}; {tables.circumstances()}",
    )
    return used


def tagger(is_regular: bool) -> Callable[[Logits, int], Any]:
    """A call of `decode_many` on one graph, by an automaton or by forbidden transitions."""
    graph = at.FactorGraph()
    tag = graph.categorical(WORDS, TAGS, name="tag")
    if is_regular:
        graph.add(at.Regular(tag, at.bio(TAGS)))
    else:
        graph.add(at.Chain(tag, transitions=FOLLOWS, start=BEGINS))
    return lambda own, threads: at.decode_many(graph, scores={"tag": own}, threads=threads)["tag"]


def plain(scores: list[list[float]]) -> list[int]:
    """The best tags of one sentence, in loops."""
    follows, back = FOLLOWS.tolist(), []
    best = [own + begin for own, begin in zip(scores[0], BEGINS.tolist(), strict=True)]
    for own in scores[1:]:
        new, came = [], []
        for j in range(len(own)):
            top, before = -1e300, 0
            for i in range(len(best)):
                value = best[i] + follows[i][j]
                if value > top:
                    top, before = value, i
            new.append(top + own[j])
            came.append(before)
        best = new
        back.append(came)
    tags = [best.index(max(best))]
    for came in reversed(back):
        tags.append(came[tags[-1]])
    return tags[::-1]


def by_sentence(scores: Logits) -> list[int]:
    """The same with a matrix per word."""
    best, back = scores[0] + BEGINS, []
    for own in scores[1:]:
        values = best[:, None] + FOLLOWS
        back.append(values.argmax(axis=0))
        best = values.max(axis=0) + own
    tags = [int(best.argmax())]
    for came in reversed(back):
        tags.append(int(came[tags[-1]]))
    return tags[::-1]


def at_once(scores: Logits) -> NDArray[np.int64]:
    """The same for all sentences together."""
    best, back = scores[:, 0] + BEGINS, []
    for t in range(1, scores.shape[1]):
        values = best[:, :, None] + FOLLOWS
        back.append(values.argmax(axis=1))
        best = values.max(axis=1) + scores[:, t]
    tags = [best.argmax(axis=1)]
    for came in reversed(back):
        tags.append(came[np.arange(len(came)), tags[-1]])
    return np.stack(tags[::-1], axis=1)
