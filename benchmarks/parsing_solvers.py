"""AD3 beside other solvers on the sentences of a trained parser, as that leaves them: pruned.

Time to a proof by length of the sentence (Martins et al. 2015, Figure 1.5 left), sentence by
sentence (Martins et al. 2011, Figure 4), proofs by iteration, and what caching and warm starts
save.  Graphs are already written and compiled when the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import assent as at
from assent.apps.parsing import Parser
from assent.apps.parsing.pipeline import Pipeline
from assent.io import Sentence
from benchmarks import plots, tables
from benchmarks.cpu_clock import count_processor_time, processor_seconds
from benchmarks.methods import flat
from benchmarks.tagging import parts

# Words of a sentence (the last number is not included), and how many sentences are decoded.
LENGTHS = {(5, 10): 20, (10, 20): 20, (20, 30): 20, (30, 40): 12, (40, 60): 6}
QUICK_SHARE = 4  # of that many sentences one, for a quick look
LIMIT = 10.0  # processor seconds for a sentence

SOLVERS: dict[str, Callable[[at.FactorGraph], at.Result]] = {
    "AD3": lambda graph: at.decode(graph, at.AD3(max_iterations=1000), time_limit=LIMIT),
    "AD3, then search": lambda graph: at.decode(graph, exact=True, time_limit=LIMIT),
    "subgradient": lambda graph: at.decode(graph, at.Subgradient(), time_limit=LIMIT),
    "HiGHS, relaxation": lambda graph: at.decode(graph, at.LinearProgram(), time_limit=LIMIT),
    "HiGHS, integers": lambda graph: at.decode(graph, at.IntegerProgram(), time_limit=LIMIT),
}

SHOWN = (10, 20, 50, 100, 200, 500, 1000)  # iterations by which proofs are counted

# Variants of AD3, and whether the vertices of the iteration before are where the next one begins.
VARIANTS: dict[str, tuple[at.AD3, bool]] = {
    "AD3": (at.AD3(), True),
    "no factor sleeps": (at.AD3(cache_idle=False), True),
    "no factor sleeps, cold starts": (at.AD3(cache_idle=False), False),
    "not over-relaxed": (at.AD3(over_relaxation=1.0), True),
    "not over-relaxed, no factor sleeps": (at.AD3(over_relaxation=1.0, cache_idle=False), True),
}
VARIANT_LENGTHS, VARIANT_SENTENCES, VARIANT_ITERATIONS = (20, 40), 10, 100


class Attempt(NamedTuple):
    """One solver on one sentence."""

    words: int
    seconds: float
    proven: bool
    iterations: int


@dataclass(frozen=True)
class Attempts:
    """One solver on all sentences."""

    all: Sequence[Attempt]

    def of(self, low: int, high: int) -> list[Attempt]:
        """Those with so many words."""
        return [own for own in self.all if low <= own.words < high]

    def proven_by(self, iterations: int) -> float:
        """The share of sentences that are proven after so many iterations."""
        return float(np.mean([own.proven and own.iterations <= iterations for own in self.all]))


def run(console: Console, folder: Path, model: Path, quick: bool, plot_folder: Path) -> None:
    """Tables and a picture for a parser and the development part of a treebank."""
    count_processor_time()
    pipeline = Pipeline.load(model)
    own = choose(parts(folder)["dev"], QUICK_SHARE if quick else 1)
    tagged = list(pipeline.tagger.tag(own))
    warm_up(pipeline.parser, tagged[0])
    found = race(console, pipeline.parser, tagged)
    title = f"{folder.name}, {', '.join(pipeline.parser.settings.parts)}"
    show_race(console, title, found)
    show_proofs(console, title, found)
    console.print(f"drawn to {draw(found, plot_folder)}")
    low, high = VARIANT_LENGTHS
    show_variants(console, pipeline.parser, [s for s in tagged if low <= len(s) < high])


def choose(sentences: Sequence[Sentence], share: int) -> list[Sentence]:
    """Sentences of all lengths, spread over the text; of those, one in ``share``."""
    chosen = []
    for (low, high), count in LENGTHS.items():
        own = [sentence for sentence in sentences if low <= len(sentence) < high]
        places = np.linspace(0, len(own) - 1, min(-(-count // share), len(own))).astype(int)
        chosen += [own[i] for i in places]
    return chosen


def warm_up(parser: Parser, sentence: Sentence) -> None:
    """Let everything be compiled before the clock starts."""
    for solve in SOLVERS.values():
        solve(parser.graph(sentence)[0])
    milliseconds_per_iteration(parser, sentence, at.AD3(), warm=False)


def race(console: Console, parser: Parser, sentences: Sequence[Sentence]) -> dict[str, Attempts]:
    """Every solver on every sentence."""
    found: dict[str, list[Attempt]] = {name: [] for name in SOLVERS}
    for number, sentence in enumerate(sentences, start=1):
        with console.status(f"sentence {number} of {len(sentences)}"):
            for name, solve in SOLVERS.items():
                graph, _ = parser.graph(sentence)
                graph.compile()
                begun = processor_seconds()
                result = solve(graph)
                seconds = processor_seconds() - begun
                proven = result.status is at.Status.OPTIMAL
                found[name].append(Attempt(len(sentence), seconds, proven, result.iterations))
    return {name: Attempts(own) for name, own in found.items()}


def show_race(console: Console, title: str, found: Mapping[str, Attempts]) -> None:
    """Mean time of each solver by length, and the share of sentences that it proved."""
    rows = []
    for low, high in LENGTHS:
        count = len(next(iter(found.values())).of(low, high))
        row = [f"{low}–{high - 1}", str(count)]
        for own in found.values():
            chosen = own.of(low, high)
            row.append(tables.duration(float(np.mean([a.seconds for a in chosen]))))
            row.append(f"{sum(a.proven for a in chosen)}")
        rows.append(row)
    columns = ["words", "sentences"]
    for name in found:
        columns += [name, "proven"]
    caption = f"mean processor seconds, at most {LIMIT:g} each; {tables.circumstances()}"
    tables.show(console, f"{title}: time to a proof", columns, rows, caption=caption)


def show_proofs(console: Console, title: str, found: Mapping[str, Attempts]) -> None:
    """The share of sentences proven after so many iterations, and of integral relaxations."""
    rows = [
        [name, *(f"{100.0 * found[name].proven_by(shown):.0f} %" for shown in SHOWN)]
        for name in ("AD3", "subgradient")
    ]
    integral = found["HiGHS, relaxation"].proven_by(SHOWN[-1])
    tables.show(
        console, f"{title}: proofs by iteration", ["solver", *map(str, SHOWN)], rows,
        caption=f"relaxations that are integral, by HiGHS: {100.0 * integral:.1f} %",
    )  # fmt: skip


def milliseconds_per_iteration(
    parser: Parser, sentence: Sentence, solver: at.AD3, warm: bool
) -> float:
    """Processor time of an iteration; the run goes on where it has converged."""
    problem, scores = flat(parser.graph(sentence)[0])
    workspace = solver.init(problem, scores, None)
    begun = processor_seconds()
    for _ in range(VARIANT_ITERATIONS):
        if not warm and workspace.outside is not None:
            structures = workspace.outside.structures
            structures.supports.size[:] = structures.supports.kept[:] = 0
        solver.advance(problem, scores, workspace, 1)
    return 1e3 * (processor_seconds() - begun) / VARIANT_ITERATIONS


def show_variants(console: Console, parser: Parser, sentences: Sequence[Sentence]) -> None:
    """What caching and warm starts are worth."""
    rows = []
    chosen = sentences[:: max(1, len(sentences) // VARIANT_SENTENCES)]
    for name, (solver, warm) in VARIANTS.items():
        spent = [milliseconds_per_iteration(parser, own, solver, warm) for own in chosen]
        results = [_decoded(parser, own, solver) if warm else None for own in chosen]
        proven = [r.iterations for r in results if r and r.status is at.Status.OPTIMAL]
        median = f"{np.median(proven):.0f}" if proven else tables.DASH
        share = f"{len(proven)} of {len(chosen)}" if warm else tables.DASH
        rows.append([name, f"{np.mean(spent):.2f}", median, share])
    low, high = VARIANT_LENGTHS
    tables.show(
        console, f"AD3 on {len(chosen)} sentences of {low} to {high - 1} words",
        ("variant", "ms per iteration", "iterations to a proof, median", "proven"), rows,
        caption=f"mean over the first {VARIANT_ITERATIONS} iterations; {tables.circumstances()}",
    )  # fmt: skip


def _decoded(parser: Parser, sentence: Sentence, solver: at.AD3) -> at.Result:
    return at.decode(parser.graph(sentence)[0], solver, time_limit=LIMIT)


def draw(found: Mapping[str, Attempts], folder: Path) -> Path:
    """Time against length, AD3 against HiGHS sentence by sentence, and proofs by iteration."""
    figure = plots.new_figure(13.0, 4.0)
    by_length, one_by_one, by_iteration = figure.subplots(1, 3)
    for name, own in found.items():
        buckets = [own.of(low, high) for low, high in LENGTHS]
        lengths = [np.mean([a.words for a in bucket]) for bucket in buckets]
        by_length.semilogy(lengths, [np.mean([a.seconds for a in b]) for b in buckets], "o-",
                           label=name)  # fmt: skip
    by_length.set(xlabel="words", ylabel="processor seconds", title="time to a proof, mean")
    by_length.legend(fontsize="small")
    _scatter(one_by_one, found)
    for name in ("AD3", "subgradient"):
        limits = np.unique(np.geomspace(5, SHOWN[-1], 60).astype(int))
        shares = [100.0 * found[name].proven_by(limit) for limit in limits]
        by_iteration.semilogx(limits, shares, label=name)
    by_iteration.set(xlabel="iterations", ylabel="%", title="sentences proven", ylim=(0, 100))
    by_iteration.legend(fontsize="small")
    return plots.save(figure, folder, "parsing_solvers.svg")


def _scatter(panel: Any, found: Mapping[str, Attempts]) -> None:
    """Each sentence a point; those that AD3 alone does not prove are hollow."""
    ours, theirs = found["AD3, then search"].all, found["HiGHS, integers"].all
    integral = np.array([own.proven for own in found["AD3"].all])
    x, y = (np.array([own.seconds for own in both]) for both in (ours, theirs))
    panel.loglog(x[integral], y[integral], "o", markersize=4, label="relaxation is integral")
    panel.loglog(x[~integral], y[~integral], "o", markersize=4, markerfacecolor="none",
                 label="it is not")  # fmt: skip
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]
    panel.loglog(ends, ends, color="0.7", linewidth=0.8)
    panel.set(xlabel="AD3, then search", ylabel="HiGHS, integers", title="seconds per sentence")
    panel.legend(fontsize="small")
