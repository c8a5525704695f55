"""Every suite of the benchmarks runs on made-up instances and records what fails."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.console import Console
from scipy.sparse import csr_array

import assent as at
from assent.io import write_alist
from assent.solvers.programs.compact_lp import build_lp
from benchmarks import (
    answers,
    auto,
    batch,
    certify,
    consensus,
    decoders,
    decompositions,
    exact,
    exact_outcome,
    ldpc,
    learning,
    methods,
    own_structures,
    per_iteration,
    plain,
    projections,
    scaling,
    sentences,
    soft_logic,
    structured_batch,
    structures,
    tag_rules,
    tail,
    threads,
    to_bound,
    treebank,
)
from benchmarks.collection import Instance, instances
from benchmarks.papers import activity, parsing, race, rates
from benchmarks.papers.published import Published
from benchmarks.papers.random_sentences import Sentence, flow_graph, tree_graph
from benchmarks.small_instances import small_instances
from benchmarks.stopwatch import Stopwatch
from benchmarks.synthetic import assignment, torus, torus_edges
from benchmarks.tables import against, duration, new_console
from tests.benchmark_runs import run, write_treebank


@pytest.fixture
def quick_figures(monkeypatch):
    """Timing loops that stop at once: these tests are about working, not about speed."""
    monkeypatch.setattr(per_iteration, "SECONDS", 0.0)
    monkeypatch.setattr(per_iteration, "WARMING", 1)
    monkeypatch.setattr(methods, "MOST_RUNS", 1)


def broken(name="broken"):
    def build():
        raise RuntimeError("no such model")

    return Instance(name, build)


def test_to_bound(tmp_path, quick_figures):
    output = run("to-bound", "--only", "made_up_*_6", "--plots", str(tmp_path))
    assert "made_up_torus_6" in output and "made_up_assignment_6" in output
    assert "failed" not in output
    assert (tmp_path / "bounds_over_time.png").stat().st_size > 0


def test_per_iteration(quick_figures):
    output = run("per-iteration", "--sides", "6", "--only", "made_up_assignment_6")
    assert "torus 6²" in output and "made_up_assignment_6 logic" in output
    assert "Potts 6² × 8" in output and "Dense 6² × 8" in output
    assert "failed" not in output


def test_tighten():
    output = run("tighten", "--only", "ising_n30_rho1.0_made_up")
    assert "ising_n30_rho1.0_made_up" in output and "pass" in output


def test_structures(monkeypatch):
    monkeypatch.setattr(structures, "SECONDS", 0.0)
    monkeypatch.setattr(structures, "SEARCHES", [lambda: structures.chain(3, bar=1.0)])
    output = run("structures")
    assert "chain of 50, 3 states" in output and "441" in output and "pass" in output


def test_sentences(monkeypatch):
    monkeypatch.setattr(sentences, "ROUNDS", 1)
    ((result, cost),) = sentences.run(new_console(), [(9, 0)])
    assert result.status is at.Status.OPTIMAL and 0.0 < cost < 100.0


@pytest.mark.skipif(plain.library() is None, reason="no C compiler")
def test_plain_loops_find_what_the_kernels_find():
    for search in (
        structures.sentence_tree(projective=True, words=7),
        structures.sentence_tree(projective=False, words=7),
        structures.head_automaton(modifiers=6),
    ):
        assert search.plain(2) == pytest.approx(search.run(1)), search.name


def test_projections(monkeypatch):
    tasks = [
        lambda: projections.matching(4, 1.0),
        lambda: projections.cut(30, 50, 1.0, 0.5),
        lambda: projections.shared_cut(30, 50, 0.5, -0.2),
    ]
    monkeypatch.setattr(projections, "QUICK_TASKS", tasks)
    monkeypatch.setattr(projections, "ROUNDS", 1)
    output = run("projections", "--quick")
    assert output.count("bar 20") == 3
    for make in tasks:
        assert projections.measure(make())[-1] <= 1e-3


def test_own_structures(monkeypatch):
    """The user's chain is the library's: their bounds agree."""
    grid = decompositions.Grid(3, 3, 1.0)
    monkeypatch.setattr(own_structures, "GRIDS", [grid])
    output = run("own-structures")
    assert "3² grid, 3 states" in output and "failed" not in output
    theirs, yours = at.decode(own_structures.built_in(grid)), at.decode(own_structures.own(grid))
    assert yours.value == pytest.approx(theirs.value)
    assert yours.bound == pytest.approx(theirs.bound, abs=1e-4)


def test_consensus(monkeypatch):
    small = consensus.Corpus("small", 4, 3, 3, 2, 0.6, 0.5)
    found = consensus.run(new_console(), [small])["small"]
    assert found.keys() == consensus.SOLVERS.keys()
    assert np.isfinite(found["BoxMPLP"][0]) and np.isfinite(found["BoxSubgradient"][0])
    monkeypatch.setitem(consensus.CORPORA, True, [small])
    assert "small: 4 sentences" in run("consensus", "--quick")


def test_ldpc(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(30), 6)
    bits = np.concatenate([rng.permutation(60) for _ in range(3)])
    checks = csr_array((np.ones(len(bits), np.uint8), (rows, bits)))
    (tmp_path / "ldpc" / "alist").mkdir(parents=True)
    (tmp_path / "ldpc" / "references").mkdir()
    write_alist(checks, tmp_path / "ldpc" / "alist" / "small.alist")
    curve = tmp_path / "ldpc" / "references" / "AWGN_BPSK_BP_curve.txt"
    curve.write_text("# Es/N0 | Eb/N0\n -1.0 | 3.00 | 10 | 9 | 8 | 1e-01 | 2.50e-01 || 0 | 0\n")
    monkeypatch.setitem(ldpc.WORDS, True, 40)
    small = ldpc.Code("small", "curve", (3.0,))
    console = Console(record=True, width=150)
    ldpc.run(console, tmp_path, True, [small])
    ldpc.run(console, None, True)
    output = console.export_text()
    assert "small" in output and "25.00%" in output and "skipped" in output
    with pytest.raises(ValueError, match=r"no row for 1\.0 dB"):
        ldpc.published(tmp_path / "ldpc", small, 1.0)


def test_tag_rules(monkeypatch):
    """All ways find the same tags; the suite compares them itself."""
    monkeypatch.setitem(tag_rules.SENTENCES, True, 30)
    monkeypatch.setattr(tag_rules, "SAMPLE", 10)
    monkeypatch.setattr(tag_rules, "ROUNDS", 1)
    assert min(tag_rules.run(new_console(), True).values()) > 0.0
    assert "Viterbi in Python" in run("tag-rules", "--quick")


def test_sum_product_of_one_check_is_exact():
    """One step gives the marginals of enumeration."""
    checks = csr_array(np.ones((1, 4), np.uint8))
    words = np.array(list(np.ndindex(*[2] * 4)))
    words = words[words.sum(axis=1) % 2 == 0]
    llr = np.random.default_rng(1).normal(size=(200, 4)) * 2.0
    weights = np.exp(-llr @ words.T)
    marginals = weights @ words / weights.sum(axis=1, keepdims=True)
    alone = (llr < 0).astype(np.int8)
    done = ldpc.is_word(checks, alone)
    found = ldpc.sum_product(checks, llr, iterations=1)
    assert np.array_equal(found[done], alone[done]) and 20 < done.sum() < 180
    assert np.array_equal(found[~done], marginals[~done] > 0.5)


def test_consensus_on_a_treebank(tmp_path):
    write_treebank(tmp_path)
    small = treebank.Tagged(treebank.archive(tmp_path), trained=2, tested=2)
    assert small.split[1][0][1] == ("yak", "NN") and small.split[1][1][2] == ("and/or", "CC")
    assert len(small.split[0][1]) == 4  # what is not written is none of the words
    assert [part.tolist() for part in small.links] == [[1, 5], [0, 0]]
    names = [each.name for each in consensus.corpora(tmp_path, quick=False, only="tree*")]
    assert names == [f"treebank, {n} trained" for n in (50, 200, 500)]
    found = consensus.run(new_console(), [small])[small.name]
    assert found.keys() == {name for name in consensus.SOLVERS if name.startswith("Box")}


def test_decoders(monkeypatch, tmp_path):
    monkeypatch.setattr(decoders, "SIDE", {"Ising": 3, "Potts": 3})
    monkeypatch.setattr(decoders, "ITERATIONS", 20)
    family = decoders.FAMILIES[0]
    found = decoders.run(new_console(), 1, tmp_path, [family])[family.name]
    assert found.keys() > decoders.solvers().keys()
    assert all(run.bound_off[-1] >= -1e-6 for runs in found.values() for run in runs)
    assert (tmp_path / "decoders.png").is_file()


@pytest.fixture
def short_papers(monkeypatch):
    """The papers' experiments on sentences of three words, with few iterations."""
    monkeypatch.setattr(decoders, "ITERATIONS", 20)
    monkeypatch.setattr(decoders, "SIDE", {"Ising": 3, "Potts": 3})
    monkeypatch.setattr(parsing, "WORDS", 3)
    monkeypatch.setattr(parsing, "LIMITS", (10, 50, 100, 300, 1000))
    monkeypatch.setattr(activity, "WORDS", 3)
    monkeypatch.setattr(activity, "TREE_WORDS", 3)
    monkeypatch.setattr(rates, "MOST", 100)


def test_papers_on_parsing(short_papers, tmp_path):
    bounds = parsing.decomposition(new_console(), 1, tmp_path)
    assert all(run.bound_off[-1] >= -1e-6 for runs in bounds.values() for run in runs)
    shares = parsing.certificates(new_console(), 1, tmp_path)
    assert all(((share >= 0.0) & (share <= 1.0)).all() for share in shares.values())
    assert shares["AD3, second order"][0, -1] == 1.0  # proven
    timed = race.race(new_console(), 1, tmp_path, lengths=(3, 4))
    assert len(timed) == 4 and all(np.isfinite([t.ad3, t.lp]).all() for t in timed)
    names = ["parsing_decomposition.png", "parsing_certificates.png", "race.png"]
    assert all((tmp_path / name).is_file() for name in names)


def test_papers_on_caching_and_rates(short_papers, tmp_path):
    for share in activity.activity(new_console(), 1, tmp_path).values():
        assert share.shape == (activity.ITERATIONS, 3) and (share <= 1.0).all()
    calls = activity.oracle_calls(new_console(), 1, tmp_path)
    assert all((np.diff(line) >= 0.0).all() for line in calls.values())
    assert calls["AD3, not over-relaxed"][-1] <= calls["AD3, nobody sleeps, cold supports"][-1]
    for by_solver in rates.rates(new_console(), 1, tmp_path).values():
        for rate in by_solver.values():
            reached = rate.iterations[np.isfinite(rate.iterations)]
            assert (np.diff(reached) >= 0.0).all()  # a better bound takes no fewer
    assert (tmp_path / "rates.png").is_file() and (tmp_path / "oracle_calls.png").is_file()


def test_ad3_as_published_converges_to_the_same_optimum():
    sentence = Sentence(4, seed=1)
    graph, _ = flow_graph(sentence)
    exact = at.decode(graph, at.LinearProgram()).bound
    assert at.decode(tree_graph(sentence)[0], at.LinearProgram()).bound == pytest.approx(exact)
    for solver in (Published(0.3, 1.5), Published(0.03, 1.5, adapt=True), Published(0.3)):
        bound = at.decode(graph, solver).bound
        assert exact - 1e-7 <= bound <= exact + 1e-3 * (1.0 + abs(exact))


def test_threads(monkeypatch, quick_figures):
    monkeypatch.setattr(threads, "SECONDS", 0.0)
    output = run("threads", "--sides", "8")
    assert "torus 8²" in output and "failed" not in output


def test_decompositions(monkeypatch):
    monkeypatch.setattr(methods, "MOST_RUNS", 1)
    monkeypatch.setattr(decompositions, "GRIDS", {True: (decompositions.Grid(3, 2, 1.0),)})
    output = run("decompositions", "--quick")
    assert "3² grid, 2 states" in output and "failed" not in output and "limit" not in output


def test_batch(monkeypatch):
    monkeypatch.setattr(threads, "SECONDS", 0.0)
    monkeypatch.setattr(batch, "RUNS", 1)
    output = run("batch", "--count", "9")
    assert "annotation" in output and "proven" in output
    (total,) = (line.split("│") for line in output.splitlines() if "│ all" in line)
    assert total[-2].strip() == "0"  # nothing disagrees
    assert "From data to a compiled graph" in output


def test_a_wrong_optimum_is_a_disagreement():
    results = at.decode_many(small_instances(3))
    proven = np.array([s is at.Status.OPTIMAL for s in results.statuses])
    assert proven.all()
    optima = np.array([batch.solve_milp(build_lp(*methods.flat(g))) for g in small_instances(3)])
    assert batch.disagreements(results, proven, optima) == 0
    assert batch.disagreements(results, proven, optima + np.array([0.0, 1.0, -1.0])) == 2


def test_small_instances_are_small_and_repeat_themselves():
    graphs = small_instances(60, seed=4)
    assert all(20 <= graph.size <= 200 for graph in graphs)
    again = small_instances(60, seed=4)
    assert all(np.array_equal(a.variables[0].scores, b.variables[0].scores)
               for a, b in zip(graphs, again, strict=True))  # fmt: skip


def test_scaling_prints_and_draws(tmp_path, monkeypatch, quick_figures):
    monkeypatch.setattr(scaling, "in_fresh_process", scaling.measure)
    output = run("scaling", "--factors", "200, 1e3", "--plots", str(tmp_path))
    assert "968" in output and "failed" not in output
    assert (tmp_path / "scaling.png").stat().st_size > 0


def test_scaling_point_is_json(quick_figures):
    point = scaling.Point(**json.loads(run("scaling-point", "200")))
    assert point.factors == 200
    assert point.build > 0 and point.iteration > 0 and point.gap >= 0


def test_certify(quick_figures):
    output = run("certify", "--only", "made_up_*_6")
    assert "made_up_assignment_6" in output and "yes" in output
    output = run("certify", "--only", "made_up_*_6", "--exact", "--limit", "5")
    assert "claims hold on 2 of 2 instances, 2 are proven" in output


def test_tail(monkeypatch, capsys, quick_figures):
    monkeypatch.setattr(tail, "MOST", 1000)
    graph = torus(5)
    lp = at.decode(graph, at.LinearProgram()).bound
    known = Instance("small", lambda: graph, certify.Reference(lp, None, 0.0))
    rows = tail.run(new_console(), [known, Instance("unknown", lambda: graph)])
    assert {row[0] for row in rows} == {"small"}
    assert rows[0][1] == "as it is" and int(rows[0][2]) <= 1000
    assert "no over-relaxation" in capsys.readouterr().out


def test_certify_notices_a_value_above_the_linear_program():
    result = at.decode(torus(4))
    known = certify.Reference(None, result.value - 1.0, 0.0)
    assert "value above the optimum" in certify._problems(result, result.bound, known)
    assert "bound below the LP" in certify._problems(result, result.bound + 1.0, known)
    better = certify.Reference(None, None, 0.0, result.value + 1.0)
    assert any("a better one is known" in p for p in certify._problems(result, np.nan, better))


def test_a_failing_instance_is_a_row_that_says_so(capsys, quick_figures):
    console = new_console()
    race = to_bound.run(console, [broken()], time_limit=1.0)[0]
    assert race.ad3.note == "failed: RuntimeError: no such model"
    assert "no such model" in certify.run(console, [broken()], time_limit=1.0)[0].problems[0]
    assert "no such model" in per_iteration.run(console, [], [broken()])[0].note
    assert capsys.readouterr().out.count("no such model") == 3


def test_stopping_short_of_the_linear_program_is_recorded():
    lp_nobody_reaches = -1e9
    outcome = methods.ad3_to_bound(torus(4), lp_nobody_reaches, time_limit=1.0)
    assert not outcome.finished and "above the LP" in outcome.note


def test_torus_scores_equal_neighbours():
    graph = torus(3, seed=1)
    rng = np.random.default_rng(1)
    c, theta = rng.uniform(-1, 1, 18), rng.uniform(-1, 1, 9)
    x = rng.integers(0, 2, 9)
    edges = torus_edges(3)
    expected = theta @ x + c @ (x[edges[:, 0]] == x[edges[:, 1]])
    unary, pairs = graph.variables[0].scores, graph.handles[0].factor.scores
    written = unary @ x + pairs @ (x[edges[:, 0]] & x[edges[:, 1]]) + graph.constant
    assert written == pytest.approx(expected)


def test_logic_alone_keeps_the_logic_factors():
    problem, scores = methods.flat(assignment(6, 4))
    logic, logic_scores = per_iteration.without_pairs(problem, scores)
    assert logic.n_links == len(problem.lits) and logic.n_pairs == len(logic_scores.pair) == 0
    assert logic.degree.sum() == len(problem.lits)


def test_stopwatch_is_a_solver_that_counts():
    watch = Stopwatch(at.AD3(max_iterations=5))
    result = at.decode(torus(4), watch)
    assert result.certificate.verify()
    assert watch.spent["advance"] > 0


def test_bars_belong_to_the_families_they_are_set_for():
    bar = {n: Instance(n, torus).bar for n in (
        "ising_n30_rho1.0_s0", "ising_n100_rho1.0_s0", "ising_n300_rho1.0_s0",
        "parse_planted_n10_s0", "parse_planted_n40_s1", "parse_flow_n20_s0", "parse_flow_n10_s1",
    )}  # fmt: skip
    assert list(bar.values()) == [None, 20.0, 30.0, None, 10.0, 3.0, None]


def test_made_up_instances_are_chosen_by_name():
    assert [i.name for i in instances(None, only="*_6")] == [
        "made_up_torus_6",
        "made_up_assignment_6",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(2e-5, "20 µs"), (0.0123, "12.3 ms"), (2.5, "2.5 s"), (np.nan, "–")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_a_missing_figure_misses_its_bar():
    assert "miss" in against(np.nan, 10.0, at_least=True)
    assert "pass" in against(5.0, 10.0, at_least=False)
    assert against(5.0, None, at_least=True) == ""


def test_grounding():
    output = run("grounding", "--people", "60")
    assert "factors" in output and "MiB" in output and "miss" not in output


def test_soft_logic():
    output = run("soft-logic", "--rules", "60")
    assert "voters" in output and "trust" in output
    for make in soft_logic.TASKS.values():
        task = make(60)
        done = soft_logic.run_assent(task, at.AD3())
        relaxed = -at.decode(task.build()[0], at.LinearProgram()).bound
        assert done.bound == pytest.approx(relaxed, abs=1e-3)
        assert relaxed - 1e-3 <= done.objective <= relaxed + 0.5


def test_learning_without_data_says_so():
    assert "no data" in run("learning", "--quick")


def test_learning_on_made_up_data():
    rng = np.random.default_rng(0)
    words = [rng.normal(size=(4, 2)) for _ in range(12)]
    labels = [(x[:, 0] > 0).astype(int) for x in words]
    split = learning.Split(words[:6], labels[:6], words[6:], labels[6:])
    trainer = learning.FrankWolfe(max_iterations=3)
    task = learning.Task("letters", learning.ChainModel(), split, (trainer,))
    row = learning.measure(task, trainer)
    assert (row.trainer, row.passes, row.calls) == ("FrankWolfe", 3, 18)
    assert row.accuracy > 0.7


def test_learning_growth(tmp_path):
    output = run("learning-growth", "--edges", "400", "--plots", str(tmp_path))
    assert "400" in output and "MB" in output
    assert (tmp_path / "learning_growth.png").stat().st_size > 0


def test_exact_solvers_run_side_by_side(tmp_path, monkeypatch):
    solvers, results = ("assent", "HiGHS"), tmp_path / "outcomes.jsonl"
    asked = (None, "constrained", "*_50_s0", 20.0, solvers, (50,), results)
    found = exact.run(new_console(), *asked)
    assert set(map(exact_outcome.family_of, found)) == {"assignment", "labelling", "budget"}
    for outcomes in found.values():
        assert all(outcome.proven for outcome in outcomes.values())
        assert outcomes["assent"].value == pytest.approx(outcomes["HiGHS"].value, abs=1e-4)
        assert not list(exact_outcome.disagreements(outcomes))
    monkeypatch.setattr(exact, "measure", None)  # nothing is measured again
    assert exact.run(new_console(), *asked, resume=True) == found


def test_claims_that_exclude_each_other_are_named():
    found = {"a": exact.Outcome(1.0, 1.0, True), "b": exact.Outcome(2.0, 2.0, True)}
    assert list(exact_outcome.disagreements(found)) == ["b found 2, above the bound 1 of a"]


def test_outcomes_are_summed_up_by_family():
    quick, slow = exact.Outcome(1.0, 1.0, True, 0.1), exact.Outcome(1.0, 1.0, True, 0.4)
    left, lost = exact.Outcome(1.0, 2.0, False, 20.0), exact.Outcome(note="refused")
    found = {
        "f_1": {"assent": quick, "HiGHS": slow},
        "f_2": {"assent": slow, "HiGHS": left},
        "g_1": {"assent": slow, "HiGHS": lost},
    }
    solvers = ("assent", "HiGHS")
    assert list(exact_outcome.by_family(found, solvers)) == [
        ("f", "2", "2 · 0.1 s · 0", "1 · 0.4 s · 0.5"),
        ("g", "1", "1 · – s · 0", "0 · – s · – (1 without)"),
        ("all", "3", "3 · 0.1 s · 0", "1 · 0.4 s · 0.5 (1 without)"),
    ]
    assert list(exact_outcome.against_ours(found, "assent", solvers)) == [
        ("f", "0.25 (1)"), ("g", "–"), ("all", "0.25 (1)"),
    ]  # fmt: skip


def test_auto_beside_single_solvers():
    models = instances(None, only="made_up_*_6")
    found = auto.run(new_console(), {auto.SEEN: models}, 20.0)[auto.SEEN]
    assert [o.plan for o in found] == ["Elimination", "Elimination"]  # both are narrow
    assert all(np.isfinite(o.seconds["Auto"]) and o.gap["Auto"] <= 1e-6 for o in found)
    assert found[1].seconds["RoofDuality"] == np.inf  # refused
    assert all(o.ratio >= 0.5 for o in found)


def test_answers_with_a_limit_and_without():
    models = instances(None, only="made_up_*_6")
    for found in answers.run(new_console(), models, 20.0).values():
        assert {answer.status for answer in found.values()} == {"OPTIMAL"}
        assert len(set(answers.values(found))) == 1 and found["none"].seconds > 0.0
    answer = answers.Answer(value=98.0, seconds=1.0, status="RELAXED")
    assert answers.missing(99.0, answer) == pytest.approx(0.01)


def test_auto_to_the_same_result_and_to_the_end():
    """An effort that brings nothing counts to the end; one that helps excuses nobody's delay."""
    gaps = dict.fromkeys(auto.SOLVERS, 0.5)
    times = dict.fromkeys(auto.SOLVERS, 9.0)
    way = [(2.0, 0.3), (3.0, 0.2), (8.0, 0.1)]
    same = auto.Outcome(
        "a", "", {**times, "Auto": 8.0, "AD3": 1.0}, {**gaps, "Auto": 0.2, "AD3": 0.2}
    )
    same.on_the_way = way[:2]
    assert same.ratio == 8.0 and same.ratio_to_same == 3.0
    better = auto.Outcome("b", "", dict(same.seconds), {**same.gap, "Auto": 0.1}, way)
    assert better.ratio == 0.5 and better.ratio_to_same == 3.0
    worse = auto.Outcome("c", "", dict(same.seconds), {**same.gap, "Auto": 0.4}, [(8.0, 0.4)])
    assert worse.ratio == worse.ratio_to_same == 8.0


def test_halves_of_the_models_for_auto_share_nothing():
    halves = [auto.chosen(None, half, "*", True) for half in (auto.SEEN, auto.HELD_OUT)]
    names = [{one.name for one in half} for half in halves]
    assert names[0] and names[1] and not names[0] & names[1]
    assert {auto.is_seen(name) for name in ("a", "b", "c", "d", "e", "f")} == {True, False}
    graphs = [one.build() for one in halves[0] if "_100_" not in one.name]
    assert all(graph.compile().conflict is None for graph in graphs)


def test_structured_batch(monkeypatch):
    monkeypatch.setattr(structured_batch, "SENTENCES", 2)
    monkeypatch.setattr(structured_batch, "LONGEST", 8)
    monkeypatch.setattr(structured_batch, "ALIGNMENTS", 2)
    monkeypatch.setattr(structured_batch, "REPEATS", 1)
    rows = structured_batch.run(new_console())
    assert [row[1] for row in rows] == ["2"] * 5
    output = run("structured-batch")
    assert "head bigrams" in output and "alignments: Matching" in output
