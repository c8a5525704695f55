"""Parse two sentences that differ in their last word: what is eaten with what?

Scores of single arcs cannot tell whether "with" belongs to the pizza or to the eating: both
sentences have the same ones. Scores of a word with its head and the head's head can. A tree finds
the best arcs alone, automata find the best modifiers of each head alone, and decoding makes them
agree.
"""

import numpy as np

import assent as at

# What a model of word pairs might say about arcs (head, word).
ARCS = {
    ("ROOT", "ate"): 3.0, ("ate", "they"): 3.0, ("ate", "pizza"): 3.0, ("pizza", "the"): 3.0,
    ("pizza", "with"): 1.2, ("ate", "with"): 1.0,
    ("with", "anchovies"): 2.0, ("with", "friends"): 2.0,
}  # fmt: skip

# ... and one of triples (grandparent, head, word).
TRIPLES = {("pizza", "with", "anchovies"): 1.0, ("ate", "with", "friends"): 1.0}

# What follows what on one side of a head (head, before, after).
SIBLINGS = {("ate", "pizza", "with"): 0.3}


def table(words, scores, default):
    """Scores of words as an array over their numbers, 0 being the root."""
    number = {word: i for i, word in enumerate(["ROOT", *words])}
    size = len(next(iter(scores)))
    array = np.full((len(number),) * size, default)
    for names, score in scores.items():
        if all(name in number for name in names):
            array[tuple(number[name] for name in names)] = score
    return array


def parse(words):
    """The best tree with a single root, the heads of its words, and the result they come from."""
    n = len(words)
    graph = at.FactorGraph()
    arc = graph.binary((n + 1, n), scores=table(words, ARCS, -2.0)[:, 1:], name="arc")
    graph.add(at.Arborescence(arc, single_root=True))
    siblings = np.pad(table(words, SIBLINGS, 0.0), ((0, 0), (0, 0), (0, 1)))
    at.add_grandparent_automata(graph, arc, table(words, TRIPLES, 0.0), siblings)
    result = at.decode(graph)
    return result[arc].argmax(axis=0), result


def draw(words, heads, head=0, margin=""):
    """Print what hangs on a head, one word per line."""
    below = [i + 1 for i, h in enumerate(heads) if h == head]
    for word in below:
        last = word == below[-1]
        print(f"  {margin}{'└─' if last else '├─'} {words[word - 1]}")
        draw(words, heads, word, margin + ("   " if last else "│  "))


for sentence in ("they ate the pizza with anchovies", "they ate the pizza with friends"):
    words = sentence.split()
    heads, result = parse(words)
    print(sentence)
    draw(words, heads)
    print(f"  value {result.value:.1f}, bound {result.bound:.1f}: {result.status.name}")
