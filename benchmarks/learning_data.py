"""Real learning problems as models take them: handwritten words and snakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import assent as at
from assent.models import GraphInput, Part

LABELS = 11  # of a snake: background, and ten segments in order


class Split(NamedTuple):
    """Inputs and outputs, for training and for testing."""

    inputs: list[Any]
    outputs: list[Any]
    test_inputs: list[Any]
    test_outputs: list[Any]


def letters(data: Path, *, quadratic: bool = False, most: int | None = None) -> Split:
    """Handwritten words of 16 × 8 pixels: fold 1 to train with, the others (``most``) to test."""
    with np.load(data / "learning" / "ocr_letters" / "letters.npz", allow_pickle=False) as file:
        pixels = np.unpackbits(file["bits"], axis=1).astype(np.float64)
        ends = np.cumsum(file["lengths"])[:-1]
        words, labels = np.split(pixels, ends), np.split(file["y"].astype(int), ends)
        first = file["folds"] == 1
    chosen = np.flatnonzero(first), np.flatnonzero(~first)[:most]
    if most is not None:  # a fair sample: folds stand one after the other
        rest = np.flatnonzero(~first)
        chosen = chosen[0], np.random.default_rng(0).choice(rest, most, replace=False)
    make = with_products if quadratic else np.asarray
    parts: list[Any] = []
    for rows in chosen:
        parts += [[make(words[i]) for i in rows], [labels[i] for i in rows]]
    return Split(*parts)


def with_products(pixels: np.ndarray) -> Any:
    """Pixels and products of two, as long as one: the features of a quadratic kernel."""
    i, j = np.triu_indices(pixels.shape[1], 1)
    features = np.hstack([pixels, np.sqrt(2.0) * pixels[:, i] * pixels[:, j]])
    length = np.linalg.norm(features, axis=1, keepdims=True)
    return sparse.csr_array(features / np.maximum(length, 1e-9))


def snakes(data: Path) -> Split:
    """Pictures of snakes: 5 colours, of which 4 say where the next segment is."""
    with np.load(data / "learning" / "snakes" / "snakes.npz", allow_pickle=False) as file:
        colours = np.unique(
            np.concatenate([file[k].reshape(-1, 3) for k in file.files if k[0] == "X"]), axis=0
        )
        parts: list[Any] = []
        for part in ("train", "test"):
            count = sum(name.startswith(f"X_{part}_") for name in file.files)
            pictures = [file[f"X_{part}_{i}"] for i in range(count)]
            parts.append([
                (x[:, :, None] == colours).all(axis=-1).astype(np.float64) for x in pictures
            ])  # fmt: skip
            parts.append([file[f"Y_{part}_{i}"].astype(int) for i in range(count)])
    return Split(*parts)


def snake_graph(colours: np.ndarray) -> GraphInput:
    """A grid of labels: colours nearby score labels, colours of both ends score neighbours."""
    height, width, _ = colours.shape
    padded = np.pad(colours, ((1, 1), (1, 1), (0, 0)))
    nearby = [padded[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    graph = at.FactorGraph()
    label = graph.categorical((height, width), states=LABELS, name="label")
    nothing = np.zeros((LABELS, LABELS))
    across = graph.add(at.Dense(label[:, :-1], label[:, 1:], scores=nothing))
    down = graph.add(at.Dense(label[:-1], label[1:], scores=nothing))
    return GraphInput(
        graph,
        [
            Part(label, np.concatenate(nearby, axis=2), "node"),
            Part(across, np.concatenate([colours[:, :-1], colours[:, 1:]], axis=2), "across"),
            Part(down, np.concatenate([colours[:-1], colours[1:]], axis=2), "down"),
        ],
    )
