"""Tag two sentences that share a name: each is a chain, and what they say about the name is one.

A chain is solved exactly by itself. Ties between chains make loops, which no recursion follows;
here they are a few more factors, and the answer still comes with a proof.
"""

import numpy as np

import assent as at

SENTENCES = [
    ["Jordan", "signed", "for", "the", "Bulls"],
    ["the", "crowd", "saw", "Jordan", "score"],
]
LABELS = ["-", "person", "place", "team"]

# What a model of single words might say: in the first sentence it takes Jordan for a country.
scores = np.zeros((2, 5, len(LABELS)))
scores[..., 0] = 1.0
scores[0, 0] = [0.0, 1.0, 1.4, 0.0]
scores[0, 4] = [0.5, 0.0, 0.0, 2.0]
scores[1, 3] = [0.2, 2.0, 0.5, 0.0]

# Names are short: a label is seldom followed by another one.
follows = np.full((4, 4), -1.0)
follows[0] = follows[:, 0] = 0.0


def tag(tie: bool) -> None:
    """Decode both sentences, with or without the tie, and print what they say."""
    graph = at.FactorGraph()
    label = graph.categorical(states=LABELS, scores=scores, name="label")
    chains = graph.add(at.Chain(label, transitions=follows, at_most=("team", 1)))
    if tie:
        graph.add(at.Potts(label[0, 0], label[1, 3], scores=1.0))
    result = at.decode(graph)
    for words, labels in zip(SENTENCES, result.labels[label], strict=True):
        named = zip(words, labels, strict=True)
        print("  " + "  ".join(f"{w}/{k}" if k != "-" else w for w, k in named))
    used = result.marginals[chains][:, :, 0, 0].sum()
    print(f"  {used:.0f} of 8 transitions stay outside of names; {result.certificate}")


print("Each sentence alone:")
tag(tie=False)
print("The same name, the same kind of thing:")
tag(tie=True)
