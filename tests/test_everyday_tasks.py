"""Everyday tasks as examples of at most 40 lines, each against an answer found without Assent."""

import itertools
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

EXAMPLES = Path(__file__).parents[1] / "examples"
TASKS = sorted(EXAMPLES.glob("3?_*.py"))
MOST_LINES = 40


def run(name):
    """What an example leaves behind, by name."""
    (path,) = EXAMPLES.glob(f"3?_{name}.py")
    return runpy.run_path(str(path))


def best_program(scores, rows, below):
    """Value of the best 0/1 vector ``x`` with ``rows @ x <= below``."""
    found = milp(
        -np.asarray(scores, float), integrality=np.ones(len(scores)),
        bounds=(0, 1), constraints=LinearConstraint(np.array(rows), -np.inf, below),
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_a_task_is_short(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_ten_tasks_beside_the_notebook():
    assert len(TASKS) == 10


def test_entity_tags_against_all_sequences():
    names = run("entity_tags")
    tags = names["TAGS"]
    letters = ["o", "P", "p", "L", "l"]  # spans as text: Pp* is a person, Ll* a place
    sequences = np.array(list(itertools.product(range(5), repeat=len(names["WORDS"]))))
    assert [tags[i] for i in range(5)] == ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    spelt = ["".join(letters[i] for i in row) for row in sequences]
    rule = re.compile("(o|Ll*)*|.*L[^P]*")
    allowed = [bool(re.fullmatch("(o|Pp*|Ll*)*", s) and rule.fullmatch(s)) for s in spelt]
    allowed = sequences[allowed]
    for b in range(10):
        totals = names["logits"][b][np.arange(allowed.shape[1]), allowed].sum(axis=1)
        assert names["results"].values[b] == pytest.approx(totals.max())
        assert names["results"]["tag"][b].tolist() == allowed[totals.argmax()].tolist()


def test_entities_and_relations_against_all_types():
    names = run("entity_relations")
    best = -np.inf
    for types in itertools.product(range(3), repeat=3):
        value = sum(names["type_scores"][i][t] for i, t in enumerate(types))
        labels = [names["TYPES"][t] for t in types]
        for pair, scores in zip(
            zip(names["first"], names["second"], strict=True), names["relation_scores"], strict=True
        ):
            fits = [True] + [
                (labels[pair[0]], labels[pair[1]]) == n for n in names["NEEDS"].values()
            ]
            value += max(s for s, fit in zip(scores, fits, strict=True) if fit)
        best = max(best, value)
    assert names["result"].value == pytest.approx(best)


def test_roster_against_an_integer_program():
    names = run("roster")
    wishes = names["wishes"]
    place = np.arange(wishes.size).reshape(wishes.shape)
    rows, below = [], []

    def at_most(variables, limit, sign=1.0):
        row = np.zeros(wishes.size)
        row[np.ravel(variables)] = sign
        rows.append(row)
        below.append(sign * limit)

    for person in place:
        at_most(person, 4)
        for day in person:
            at_most(day, 1)
        for today, tomorrow in itertools.pairwise(person):
            at_most([today[2], tomorrow[0]], 1)
    for shift in np.moveaxis(place, 0, 2).reshape(-1, len(place)):
        at_most(shift, 1)
        at_most(shift, 1, sign=-1.0)  # at least one
    for team in ("red", "blue"):
        at_most(place[np.array(names["TEAM"]) == team, :, 2], 3)
    assert names["result"].value == pytest.approx(best_program(wishes.ravel(), rows, below))


def test_tracks_against_an_integer_program():
    names = run("tracking")
    graph = names["graph"]
    links = [v.scores.reshape(v.symbol.shape) for v in graph.variables]
    scores = np.concatenate([own.ravel() for own in links])
    begins = np.cumsum([0, *(own.size for own in links)])
    frames = names["frames"]
    bonus = []
    for t, (a, b, c) in enumerate(zip(frames, frames[1:], frames[2:], strict=False)):
        for i, j, k in itertools.product(range(len(a)), range(len(b)), range(len(c))):
            bend = np.linalg.norm(a[i] - 2 * b[j] + c[k])
            if bend < 1.0:
                first = begins[t] + i * len(b) + j
                bonus.append((first, begins[t + 1] + j * len(c) + k, 1.0 - bend))
    size = len(scores) + len(bonus)
    rows, below = [], []
    for own, begin in zip(links, begins, strict=False):
        place = begin + np.arange(own.size).reshape(own.shape)
        for line in (*place, *place.T):
            rows.append(np.isin(np.arange(size), line).astype(float))
            below.append(1.0)
    for number, (one, other, _) in enumerate(bonus):
        for end in (one, other):  # a bonus is earned where both links are
            row = np.zeros(size)
            row[[len(scores) + number, end]] = 1.0, -1.0
            rows.append(row)
            below.append(0.0)
    total = np.concatenate([scores, [worth for _, _, worth in bonus]])
    assert names["result"].value == pytest.approx(best_program(total, rows, below))


def test_words_of_a_code_against_all_words():
    names = run("ldpc_code")
    checks = names["checks"].toarray().astype(np.float32)  # sums of a few bits are exact
    bits = np.arange(names["BITS"], dtype=np.int32)
    words = ((np.arange(2 ** len(bits), dtype=np.int32)[:, None] >> bits) & 1).astype(np.float32)
    code = words[((words @ checks.T) % 2 == 0).all(axis=1)]
    best = names["ratios"] @ code.T
    assert np.array_equal(names["words"], code[best.argmax(axis=1)])
    assert names["results"].values == pytest.approx(best.max(axis=1))
    assert names["proven"].all()


def test_segmentation_against_a_linear_program():
    """Cuts are integral programs: pixels, and per edge what is 1 where its ends differ."""
    names = run("segmentation")
    place = np.arange(names["picture"].size).reshape(names["picture"].shape)
    ends = [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]
    a, b = (np.concatenate([pair[side].ravel() for pair in ends]) for side in (0, 1))
    edges, size = np.arange(len(a)), place.size + len(a)
    data = np.repeat([1.0, -1.0, -1.0], len(a))
    rows = [
        csr_array((data, (np.tile(edges, 3), np.concatenate([x, y, place.size + edges]))),
                  shape=(len(a), size))
        for x, y in ((a, b), (b, a))
    ]  # fmt: skip
    cost = np.concatenate([-2.0 * names["picture"].ravel(), np.full(len(a), names["AGREE"])])
    found = linprog(cost, A_ub=vstack(rows), b_ub=np.zeros(2 * len(a)), bounds=(0, 1))
    assert names["result"].value == pytest.approx(names["AGREE"] * len(a) - found.fun)


def test_tagger_against_all_tag_sequences():
    names = run("tagger")
    tagger = names["tagger"]
    weights = tagger.model_.named(tagger.weights_)
    row = {name: i for i, name in enumerate(tagger.get_feature_names_out())}
    for words, predicted in zip(names["new"], tagger.predict(names["new"]), strict=True):
        unary = []
        for i, word in enumerate(words):
            seen = [f"word={word}", f"ending={word[-2:]}"] + ["first"] * (i == 0)
            unary.append(sum(weights["nodes"][row[name]] for name in seen if name in row))

        def score(tags, unary=unary):
            steps = sum(weights["edges"][a, b] for a, b in itertools.pairwise(tags))
            ends = weights["start"][tags[0]] + weights["stop"][tags[-1]]
            return sum(own[tag] for own, tag in zip(unary, tags, strict=True)) + steps + ends

        best = max(itertools.product(range(len(tagger.classes_)), repeat=len(words)), key=score)
        assert predicted.tolist() == tagger.classes_[list(best)].tolist()


def test_dependency_trees_against_all_heads():
    names = run("dependency_tree")
    n = names["n"]
    heads = np.array(list(itertools.product(range(n + 1), repeat=n)))
    above = np.column_stack([np.zeros(len(heads), int), heads])  # the root is its own head
    top = above.copy()
    for _ in range(n):
        top = np.take_along_axis(above, top, axis=1)
    is_tree = (top == 0).all(axis=1) & ((heads == 0).sum(axis=1) == 1)
    value = names["scores"][heads, np.arange(n)].sum(axis=1)
    assert names["free"].value == pytest.approx(value[is_tree].max())
    limited = is_tree & ((heads == 2).sum(axis=1) <= 2)
    assert names["result"].value == pytest.approx(value[limited].max())
    assert names["result"].value < names["free"].value


def test_runs_of_machines_against_all_runs():
    names = run("own_structure")
    size = names["hours"].shape[1]
    runs = np.array(
        [[i <= t < j for t in range(size)] for i in range(size) for j in range(i, size + 1)]
    )
    runs = np.unique(runs, axis=0)
    worth = names["hours"] @ runs.T
    both = runs[:, None].astype(int) + runs[None]
    best = -np.inf
    for number, third in enumerate(runs):
        fits = (both + third <= 2).all(axis=2)
        total = worth[0][:, None] + worth[1][None] + worth[2][number]
        best = max(best, total[fits].max())
    assert names["result"].value == pytest.approx(best)


def test_the_command_line_against_all_states():
    answer = run("command_line")["answer"]
    one, two = [[1.0, 2.0], [3.0, 1.0], [1.0, 1.5]], [[[5, 1], [1, 5]], [[1, 4], [4, 1]]]

    def weight(s):
        return np.prod([one[v][s[v]] for v in range(3)]) * two[0][s[0]][s[1]] * two[1][s[1]][s[2]]

    states = list(itertools.product((0, 1), repeat=3))
    best = max(states, key=weight)
    assert answer["assignment"] == list(best) and answer["status"] == "OPTIMAL"
    assert answer["value"] == pytest.approx(np.log(weight(best)))
