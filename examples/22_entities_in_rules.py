"""Label names and the relations between them together, with type constraints as one rule.

Example 06 writes an implication per relation; here the signature of every relation is data, and a
single rule serves for all: whoever stands in a relation has the type that it asks for.
"""

import numpy as np
from rich.console import Console

import assent as at
from assent import logic

NAMES = ["Ada", "Byron Ltd", "Charlotte", "Paris", "Turing Inc"]
TYPES = ["person", "company", "place"]
SIGNATURE = [
    ("works for", "person", "company"),
    ("lives in", "person", "place"),
    ("based in", "company", "place"),
]
LINKS = ["none", *(name for name, *_ in SIGNATURE)]

# What two models say, each for itself: types of names, and relations of pairs of names.
type_scores = np.array([[2.0, 0.1, 0.3], [1.1, 0.9, 0.0], [1.0, 0.2, 1.2],
                        [0.3, 0.1, 2.0], [0.2, 1.0, 0.9]])  # fmt: skip
link_scores = np.full((5, 5, len(LINKS)), -1.0)
link_scores[..., 0] = 0.0
link_scores[0, 1, 1] = 1.5  # Ada works for Byron Ltd
link_scores[1, 3, 3] = 0.8  # Byron Ltd is based in Paris
link_scores[2, 3, 2] = 1.4  # Charlotte lives in Paris
link_scores[2, 4, 2] = 1.3  # Charlotte lives in Turing Inc: surely not
link_scores[2, 4, 1] = 0.9  # … but she may work there

name = logic.Domain("name", NAMES)
graph = at.FactorGraph()
kind = graph.categorical(states=TYPES, scores=type_scores, name="kind")
link = graph.categorical(states=LINKS, scores=link_scores, name="link")
is_a, related = logic.predicate(kind, name), logic.predicate(link, name, name)
kinds, links = is_a.domains[1], related.domains[2]
signature = logic.relation("signature", SIGNATURE, links, kinds, kinds)

x, y, r, s, t = logic.variables("x y r s t")
rules = logic.Rules(graph)
rules.add((related(x, y, r) & signature(r, s, t)) >> (is_a(x, s) & is_a(y, t)), name="types fit")
rules.add(related(x, x, "none"), name="nobody is related to himself")
rules.add(logic.at_most(1, y, related(x, y, "lives in")), name="one home")
print(rules.report())
print()

result = at.decode(graph)
console = Console(highlight=False)
colours = dict(zip(TYPES, ("cyan", "magenta", "green"), strict=True))
before = np.array(TYPES)[type_scores.argmax(axis=1)]
for who, alone, found in zip(NAMES, before, result.labels[kind], strict=True):
    note = "" if alone == found else f"   (alone: {alone})"
    console.print(f"[{colours[found]}]{who:12}[/] {found}{note}")
print()
chosen = result.labels[link]
for i, j in zip(*np.nonzero(chosen != "none"), strict=True):
    console.print(f"{NAMES[i]} [bold]{chosen[i, j]}[/] {NAMES[j]}")
print()
print(result.certificate)
