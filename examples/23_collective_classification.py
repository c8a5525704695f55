"""Topics of papers from weak hints and citations: soft rules on a small graph.

Each paper has a few words that hint at its topic, often wrongly. Papers mostly cite papers on the
same topic: a soft rule, broken at a price. The relation of citations is joined in the rule's
premise, so that only pairs that do cite each other cost anything.
"""

import numpy as np
from rich.console import Console

import assent as at
from assent import logic

TOPICS = ["logic", "vision", "speech"]
COLOURS = ["cyan", "magenta", "yellow"]
PAPERS, CITATIONS = 60, 150

rng = np.random.default_rng(2)
truth = np.sort(rng.integers(0, 3, PAPERS))
hints = rng.normal(size=(PAPERS, 3)) + 1.0 * np.eye(3)[truth]
pairs = []
while len(pairs) < CITATIONS:
    a, b = rng.integers(0, PAPERS, 2)
    likely = 0.9 if truth[a] == truth[b] else 0.06
    if a != b and (a, b) not in pairs and rng.random() < likely:
        pairs.append((int(a), int(b)))

paper = logic.Domain("paper", PAPERS)
graph = at.FactorGraph()
topic = graph.categorical(states=TOPICS, scores=hints, name="topic")
about = logic.predicate(topic, paper)
cites = logic.relation("cites", pairs, paper, paper)

x, y, z, t = logic.variables("x y z t")
rules = logic.Rules(graph)
rules.add((cites(x, y) & about(x, t)) >> about(y, t), penalty=0.6, name="a citation stays on topic")
rules.add(
    (cites(x, y) & cites(x, z) & about(y, t) & about(z, t)) >> about(x, t),
    where=y < z, penalty=0.3, name="a paper is about what it cites",
)  # fmt: skip
for known in (0, 30, 59):
    about.observe([(known, TOPICS[truth[known]])])
print(rules.report())
print()

result = at.decode(graph)
alone = hints.argmax(axis=1)
joint = result[topic]

console = Console(highlight=False)
for title, answer in (("truth", truth), ("hints alone", alone), ("jointly", joint)):
    marks = "".join(
        f"[{COLOURS[k]}{'' if k == own else ' reverse'}]{TOPICS[k][0]}[/]"
        for k, own in zip(answer, truth, strict=True)
    )
    wrong = int((answer != truth).sum())
    console.print(f"{title:12} {marks}  {wrong} wrong", soft_wrap=True)
print()
print(result.status)
paid = rules.explain(result).paid
cost = sum(finding.amount for finding in paid)
print(f"{len(paid)} ground rules are broken, at a cost of {cost:.1f}; one of them:")
print(f"  {paid[0].rule} for {paid[0].binding}")
