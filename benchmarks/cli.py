"""Command line of the benchmarks: one subcommand per suite, all of them by default."""

from __future__ import annotations

from pathlib import Path

import click

from assent.apps.parsing import ParserTraining
from assent.apps.pretrained import english_model
from benchmarks import (
    alignment,
    answers,
    auto,
    batch,
    certify,
    chunking,
    cold_start,
    consensus,
    corpus,
    decoders,
    decompositions,
    exact,
    grounding,
    ldpc,
    learning,
    lp_optima,
    own_structures,
    parsing_data,
    parsing_solvers,
    per_iteration,
    projections,
    scaling,
    segmentation,
    segmentation_scans,
    sentences,
    soft_logic,
    structured_batch,
    structures,
    summarization,
    tag_rules,
    tagging,
    tail,
    threads,
    tighten,
    to_bound,
    turbo_parsing,
)
from benchmarks.collection import Instance, has_instances, instances, uai_instances
from benchmarks.cpu_clock import count_processor_time
from benchmarks.papers import suite as papers
from benchmarks.tables import new_console

# A quick pass takes about a minute; the full one is bounded by the baselines.
SIDES = {True: (30, 100, 300), False: (30, 100, 300, 1000)}
THREAD_SIDES = {True: (100, 300), False: (100, 300, 1000)}
SIZES = {True: (10**3, 10**4, 10**5, 10**6), False: tuple(10**e for e in range(3, 8))}
BATCH = {True: 120, False: 1024}
EDGES = {True: (10**4, 10**5), False: (10**4, 10**5, 10**6, 5 * 10**6)}
TIME_LIMIT = {True: 20.0, False: 300.0}
LP_LIMIT = 600.0
CERTIFY_LIMIT = {True: 20.0, False: 60.0}  # a bound is meant to reach the LP within a minute

quick_option = click.option("--quick", is_flag=True, help="Small instances: about a minute.")
only_option = click.option("--only", default="*", help="Instances whose name matches this glob.")
data_option = click.option(
    "--data",
    envvar="ASSENT_DATA",
    type=click.Path(path_type=Path),
    help="Folder that holds 'instances'; default $ASSENT_DATA. Without it they are made up.",
)
plots_option = click.option(
    "--plots",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for pictures.",
)


@click.group(invoke_without_command=True)
@quick_option
@data_option
@plots_option
@click.pass_context
def main(context: click.Context, quick: bool, data: Path | None, plots: Path) -> None:
    """Problems x solvers, side by side in one run; without a suite, all of them."""
    if context.invoked_subcommand is None:
        context.invoke(to_bound_command, quick=quick, data=data, only="*", plots=plots)
        context.invoke(per_iteration_command, quick=quick, data=data, only="*", sides="")
        context.invoke(scaling_command, quick=quick, factors="", plots=plots)
        context.invoke(structures_command)
        context.invoke(structured_batch_command)
        context.invoke(own_structures_command)
        context.invoke(projections_command, quick=quick)
        context.invoke(tighten_command, data=data, only="*", uai="")
        context.invoke(auto_command, data=data, only="*", quick=quick, half="both")
        context.invoke(sentences_command)
        context.invoke(threads_command, quick=quick, sides="", count=2)
        context.invoke(decompositions_command, quick=quick)
        context.invoke(decoders_command, quick=quick, plots=plots)
        context.invoke(grounding_command, people="")
        context.invoke(soft_logic_command, quick=quick, rules="")
        context.invoke(batch_command, quick=quick, count=None, threads=2)
        context.invoke(learning_command, quick=quick, data=data)
        context.invoke(chunking_command, quick=quick, data=data)
        if not quick:
            context.invoke(learning_growth_command, quick=quick, edges="", plots=plots)
        context.invoke(consensus_command, quick=quick, only="*", data=data)
        context.invoke(corpus_command, quick=quick, data=data)
        context.invoke(ldpc_command, quick=quick, data=data)
        context.invoke(tag_rules_command, quick=quick)
        context.invoke(tagging_command, quick=quick, data=data)
        context.invoke(alignment_command, quick=quick, data=data, plots=plots)
        for experiment in ("presets", "solvers"):
            context.invoke(parsing_command, quick=quick, data=data, experiment=experiment)
        context.invoke(segmentation_command, quick=quick, data=data, plots=plots)
        if not quick:
            context.invoke(cold_start_command)
        context.invoke(
            certify_command, quick=quick, data=data, only="*", is_exact=False, limit=None
        )


@main.command("to-bound")
@quick_option
@only_option
@data_option
@plots_option
def to_bound_command(quick: bool, only: str, data: Path | None, plots: Path) -> None:
    """Time until the bound reaches the LP optimum, against HiGHS simplex and IPM."""
    chosen = _chosen(data, quick, only)
    to_bound.run(new_console(), chosen, time_limit=TIME_LIMIT[quick], plot_folder=plots)


@main.command("cold-start")
@click.option(
    "--wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A wheel of `make wheel`; by default the one in dist/.",
)
@click.option("--warm-only", is_flag=True, help="Leave out what compiles: that takes half an hour.")
def cold_start_command(wheel: Path | None = None, warm_only: bool = False) -> None:
    """What a fresh process pays before its first answer, of every README snippet and example."""
    built = sorted(Path("dist").glob("assent-*.whl"))
    cold_start.run(new_console(), wheel or next(iter(built), None), cold=not warm_only)


@main.command("per-iteration")
@quick_option
@only_option
@data_option
@click.option("--sides", default="", help="Sides of the tori, separated by commas.")
def per_iteration_command(quick: bool, only: str, data: Path | None, sides: str) -> None:
    """Nanoseconds per pair factor and per link of one iteration, AD3's and other decoders'."""
    chosen = _chosen(data, quick, only)
    tori = _numbers(sides) or SIDES[quick]
    per_iteration.run(new_console(), tori, chosen)
    per_iteration.run_tables(new_console(), min(20, max(tori)))
    per_iteration.compare(new_console(), min(100, max(tori)))


@main.command("structures")
def structures_command() -> None:
    """Nanoseconds per step of the inner loop of chains, trees and other structures."""
    structures.run(new_console())


@main.command("structured-batch")
def structured_batch_command() -> None:
    """Many sentences and alignments whose structures share variables, in one call."""
    structured_batch.run(new_console())


@main.command("projections")
@quick_option
def projections_command(quick: bool) -> None:
    """Nearest matchings and cuts, against a quadratic programming solver."""
    projections.run(new_console(), quick)


@main.command("tighten")
@data_option
@only_option
@click.option("--uai", default="", help="Stored UAI models whose name matches this glob as well.")
def tighten_command(data: Path | None, only: str, uai: str) -> None:
    """Grids and labels proven optimal by cutting off frustrated cycles."""
    chosen = [i for i in instances(data, only=only) if tighten.bar_of(i.name) is not None]
    tighten.run(new_console(), [*chosen, *(uai_instances(data, only=uai) if uai else ())])


@main.command("auto")
@data_option
@only_option
@quick_option
@click.option(
    "--half",
    type=click.Choice([auto.SEEN, auto.HELD_OUT, "both"]),
    default="both",
    show_default=True,
    help="Models that settings were chosen by, or others.",
)
def auto_command(data: Path | None, only: str, quick: bool, half: str) -> None:
    """Auto against every single solver, on stored models and on random ones."""
    halves = (auto.SEEN, auto.HELD_OUT) if half == "both" else (half,)
    models = {name: auto.chosen(data, name, only, quick) for name in halves}
    auto.run(new_console(), models, auto.LIMIT)


@main.command("own-structures")
def own_structures_command() -> None:
    """A user's compiled chain against the built-in one, inside AD3."""
    own_structures.run(new_console())


@main.command("corpus")
@quick_option
@data_option
def corpus_command(quick: bool, data: Path | None) -> None:
    """A text tagged as a whole: gains in accuracy, and calls to sentences by solver."""
    corpus.run(new_console(), data, quick)


@main.command("summarization")
@quick_option
@data_option
@click.option("--model", type=click.Path(exists=True, path_type=Path), help="Tagger and parser.")
def summarization_command(quick: bool, data: Path | None, model: Path | None) -> None:
    """Summaries: ROUGE, and AD3 with a search beside HiGHS."""
    summarization.run(new_console(), data, quick, model or english_model())


@main.command("tagging")
@quick_option
@data_option
def tagging_command(quick: bool, data: Path | None) -> None:
    """The tagger on treebanks: accuracy, and words per second."""
    tagging.run(new_console(), tagging.treebanks(data, quick))


@main.command("alignment")
@quick_option
@data_option
@plots_option
def alignment_command(quick: bool, data: Path | None, plots: Path) -> None:
    """Word alignment of the Hansards: all trainers, fertility, time."""
    alignment.run(new_console(), data, quick, plots)


@main.command("parsing")
@quick_option
@data_option
@plots_option
@click.option("--only", default="", help="One treebank, by its folder's name; 'penn' the sample.")
@click.option(
    "--experiment",
    type=click.Choice([*turbo_parsing.EXPERIMENTS, "solvers"]),
    default="presets",
    show_default=True,
    help="Presets, parts one by one, crossing arcs or not, parts of all ancestors (for short "
    "sentences), solvers on the pretrained model.",
)
@click.option("--passes", default=3, show_default=True, help="Of training.")
@click.option("--words", default=30_000, show_default=True, help="To train on at most; 0: all.")
def parsing_command(
    quick: bool, data: Path | None, plots: Path, only: str, experiment: str, passes: int, words: int
) -> None:
    """The turbo parser on treebanks: accuracy, words per second, proofs; AD3 beside others."""
    found = {} if data is None else parsing_data.treebanks(data)
    if only and only not in found:
        raise click.UsageError(f"no treebank {only!r}; there are {', '.join(found) or 'none'}")
    if experiment == "solvers":
        folder = found.get(only or "UD_English-EWT")
        if folder is not None:
            parsing_solvers.run(new_console(), folder, english_model(), quick, plots)
        return
    chosen = [only] if only else [tagging.QUICK] if quick else list(found)
    paths = [found[name] for name in chosen if name in found]
    parsers = turbo_parsing.EXPERIMENTS[experiment]
    training = ParserTraining(1 if quick else passes)
    # Which parts there should be is a choice: that is not made on test parts.
    part = "dev" if experiment in ("ablation", "ancestors") else "test"
    turbo_parsing.run(new_console(), paths, parsers, training, words, part)


@main.command("sentences")
def sentences_command() -> None:
    """Second-order parsing: milliseconds per iteration, iterations and status."""
    sentences.run(new_console())


@main.command("consensus")
@quick_option
@click.option("--only", default="*", help="Corpora whose name matches this glob.")
@data_option
def consensus_command(quick: bool, only: str, data: Path | None) -> None:
    """Sentences that should agree: box solvers against copies of variables."""
    consensus.run(new_console(), consensus.corpora(data, quick, only))


@main.command("ldpc")
@quick_option
@data_option
def ldpc_command(quick: bool, data: Path | None) -> None:
    """Error-correcting codes: word error rates beside sum-product and published curves."""
    ldpc.run(new_console(), data, quick)


@main.command("tag-rules")
@quick_option
def tag_rules_command(quick: bool) -> None:
    """BIO tags of many sentences in one call, beside Viterbi by hand."""
    tag_rules.run(new_console(), quick)


@main.command("decoders")
@quick_option
@plots_option
def decoders_command(quick: bool, plots: Path) -> None:
    """All decoders on random Ising and Potts grids."""
    decoders.run(new_console(), decoders.SEEDS[quick], plots)


@main.command("papers")
@click.option("--only", type=click.Choice(list(papers.EXPERIMENTS)), help="One experiment.")
@click.option("--seeds", type=click.IntRange(min=1), default=10, show_default=True)
@plots_option
def papers_command(only: str | None, seeds: int, plots: Path) -> None:
    """The papers' experiments, reproduced: tables and pictures (a quarter of an hour)."""
    papers.run(new_console(), seeds, plots, only or "")


@main.command("decompositions")
@quick_option
def decompositions_command(quick: bool) -> None:
    """A grid edge by edge, binarized, as chains and as trees: iterations to the LP optimum."""
    grids = decompositions.GRIDS[quick]
    decompositions.run(new_console(), grids, time_limit=TIME_LIMIT[True])


@main.command("grounding")
@click.option("--people", default="", help="Sizes, separated by commas.")
def grounding_command(people: str) -> None:
    """A million ground factors from five rules: seconds and bytes."""
    grounding.run(new_console(), _numbers(people) or grounding.SIZES)


@main.command("soft-logic")
@quick_option
@click.option("--rules", default="", help="Numbers of ground rules, separated by commas.")
def soft_logic_command(quick: bool, rules: str) -> None:
    """Soft rules, relaxed, side by side with PSL where `pslpython` is installed."""
    soft_logic.run(new_console(), _numbers(rules) or soft_logic.SIZES[: 2 if quick else 3])


@main.command("batch")
@quick_option
@click.option("--count", type=click.IntRange(min=9), help="How many problems.")
@click.option("--threads", type=click.IntRange(min=2), default=2, help="To compare with one.")
def batch_command(quick: bool, count: int | None, threads: int) -> None:
    """Many small problems at once, against a loop over scipy's milp."""
    batch.run(new_console(), count or BATCH[quick], threads)


@main.command("answers")
@data_option
@only_option
@click.option("--limit", type=float, default=5.0, show_default=True, help="CPU seconds for each.")
def answers_command(data: Path | None, only: str, limit: float) -> None:
    """Answers of the stored UAI models without a limit, with one, and with exact=True."""
    count_processor_time()
    answers.run(new_console(), uai_instances(data, only=only), limit)


@main.command("exact")
@quick_option
@data_option
@only_option
@click.option(
    "--kind",
    type=click.Choice(["all", "uai-small", "uai", "stored", "constrained"]),
    default="all",
    show_default=True,
    help="Which models.",
)
@click.option("--limit", type=float, default=20.0, show_default=True, help="CPU seconds for each.")
@click.option("--solvers", default=",".join(exact.SOLVERS), show_default=True)
@click.option("--results", type=click.Path(path_type=Path), help="File that keeps every outcome.")
@click.option("--resume", is_flag=True, help="What stands in --results is not measured again.")
def exact_command(
    quick: bool, data: Path | None, only: str, kind: str, limit: float, solvers: str,
    results: Path | None, resume: bool,
) -> None:  # fmt: skip
    """Time to a proof of optimality: ours, HiGHS, CP-SAT and toulbar2."""
    sizes = exact.SIZES[:2] if quick else exact.SIZES
    chosen = solvers.split(",")
    exact.run(new_console(), data, kind, only, limit, chosen, sizes, results, resume)


@main.command("learning")
@quick_option
@data_option
def learning_command(quick: bool, data: Path | None) -> None:
    """All trainers on handwritten words and snakes: accuracy, time, questions asked."""
    learning.run(new_console(), data, quick)


@main.command("segmentation")
@quick_option
@data_option
@plots_option
def segmentation_command(quick: bool, data: Path | None, plots: Path) -> None:
    """Photographs and laser scans: nodes alone, their averages, trained networks."""
    segmentation.run(new_console(), data, quick, plots)


@main.command("segmentation-points")
@data_option
def segmentation_points_command(data: Path | None) -> None:
    """Laser scans with every point a node: dual extragradient, half an hour."""
    segmentation_scans.run_points(new_console(), data)


@main.command("chunking")
@quick_option
@data_option
def chunking_command(quick: bool, data: Path | None) -> None:
    """Phrases of CoNLL-2000: chunk F1 and time, beside sklearn-crfsuite."""
    chunking.run(new_console(), data, quick)


@main.command("learning-growth")
@quick_option
@click.option("--edges", default="", help="Numbers of edges, separated by commas.")
@plots_option
def learning_growth_command(quick: bool, edges: str, plots: Path) -> None:
    """Time and memory of dual extragradient as the training data grow."""
    learning.run_growth(new_console(), _numbers(edges) or EDGES[quick], plots)


@main.command("scaling")
@quick_option
@click.option("--factors", default="", help="Numbers of pair factors, separated by commas.")
@plots_option
def scaling_command(quick: bool, factors: str, plots: Path) -> None:
    """Build, compile, iterate and decode from a thousand to ten million factors."""
    scaling.run(new_console(), _numbers(factors) or SIZES[quick], plots)


@main.command("threads")
@quick_option
@click.option("--sides", default="", help="Sides of the tori, separated by commas.")
@click.option("--count", type=click.IntRange(min=2), default=2, help="Threads to compare with one.")
def threads_command(quick: bool, sides: str, count: int) -> None:
    """One thread against several, per iteration and to a good bound."""
    threads.run(new_console(), _numbers(sides) or THREAD_SIDES[quick], count)


@main.command("scaling-point", hidden=True)
@click.argument("factors", type=int)
def scaling_point_command(factors: int) -> None:
    """One size, measured in this very process, as JSON."""
    click.echo(scaling.point_as_json(factors))


@main.command("certify")
@quick_option
@only_option
@data_option
@click.option("--exact", "is_exact", is_flag=True, help="Answers that are proven optimal.")
@click.option("--limit", type=float, help="CPU seconds for each.")
def certify_command(
    quick: bool, only: str, data: Path | None, is_exact: bool, limit: float | None
) -> None:
    """Value <= optimum <= bound on every instance; a broken claim ends with exit code 1.

    Stored UAI models are those whose name has a slash: --only '*/*'.
    """
    chosen = _chosen(data, quick, only) + ([] if quick else uai_instances(data, only=only))
    time_limit = CERTIFY_LIMIT[quick] if limit is None else limit
    checks = certify.run(new_console(), chosen, time_limit=time_limit, exact=is_exact)
    if any(check.problems for check in checks):
        raise SystemExit(1)


@main.command("tail")
@only_option
@data_option
def tail_command(only: str, data: Path | None) -> None:
    """Iterations to the last digits of a bound, with parts of AD3 switched off."""
    tail.run(new_console(), _chosen(data, only == "*", only))


@main.command("lp-optima", hidden=True)
@only_option
@data_option
@click.option("--limit", default=LP_LIMIT, show_default=True, help="Seconds for each.")
def lp_optima_command(only: str, data: Path | None, limit: float) -> None:
    """Find LP optima that are stated nowhere and keep them beside the benchmarks."""
    chosen = _chosen(data, False, only) + uai_instances(data, only=only)
    lp_optima.run(new_console(), chosen, time_limit=limit)


def _chosen(data: Path | None, quick: bool, only: str) -> list[Instance]:
    """The instances to run, after a word on where they come from."""
    if not has_instances(data):
        click.echo("No stored instances (set ASSENT_DATA): these are made up.")
    return instances(data, quick=quick, only=only)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(",") if part.strip())
