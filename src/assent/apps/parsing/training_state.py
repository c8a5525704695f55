"""What a parser's training has come to, and the file from which it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.io.array_files import open_arrays
from assent.io.whole_file import whole_file
from assent.kernels.parsing.mira_update import WeightTable
from assent.kernels.parsing.sentence_parts import SentenceScores

_NAMES = {"of", "weights", "late", "total", "numbers", "sizes", "places", "amounts", "costs"}


class Block(NamedTuple):
    """A sentence's own share in the weights: amounts of parts, and the cost that they stand for."""

    places: NDArray[np.int64]  # of parts in a list of all
    amounts: NDArray[np.float64]
    cost: float

    @classmethod
    def of(cls, parts: SentenceScores, cost: float) -> Block:
        """The share of parts, most of which have none."""
        every = np.concatenate(parts)
        (places,) = np.nonzero(every)
        return cls(places, every[places], cost)

    def parts(self, like: SentenceScores) -> SentenceScores:
        """Amounts of all parts of the sentence, as many as in ``like``."""
        every, ends = np.zeros(sum(map(len, like))), np.cumsum([len(own) for own in like])
        every[self.places] = self.amounts
        return SentenceScores(*np.split(every, ends[:-1]))


NO_BLOCK = Block(np.zeros(0, np.int64), np.zeros(0), 0.0)


@dataclass
class TrainingState:
    """All that the next pass needs."""

    of: str  # what is trained, in words: a file is gone on from if these are the same
    table: WeightTable
    total: NDArray[np.float32]  # the sum of the averaged weights of runs that are over
    step: int = 0  # of this run
    passes_done: int = 0  # of all runs
    # Of sentences, for the method of Frank and Wolfe.
    blocks: dict[int, Block] = field(default_factory=dict)
    right: int = 0  # heads in this pass
    words: int = 0  # in this pass

    @classmethod
    def begin(cls, of: str, size: int, path: str | Path | None) -> TrainingState:
        """The state in a file, if there is one, or the first with ``size`` weights."""
        if path is not None and Path(path).exists():
            return cls._load(of, size, path)
        weights, late, difference, total = np.zeros((4, size), np.float32)
        return cls(of, WeightTable(weights, late, difference), total)

    def average(self) -> NDArray[np.float32]:
        """The weights after every step of this run, averaged."""
        return (self.table.weights - self.table.late / (self.step + 1)).astype(np.float32)

    def new_run(self) -> None:
        """Begin again, and keep what was learned."""
        self.total += self.average()
        self.table.weights[:] = 0.0
        self.table.late[:] = 0.0
        self.step = 0
        self.blocks.clear()

    def save(self, path: str | Path) -> None:
        """Replace the file in one step: a crash while writing leaves the one before."""
        blocks = [self.blocks.get(i, NO_BLOCK) for i in range(max(self.blocks, default=-1) + 1)]
        with whole_file(path) as file:
            np.savez(
                file, weights=self.table.weights, late=self.table.late, total=self.total,
                of=np.array(self.of), numbers=np.array([self.step, self.passes_done]),
                sizes=np.array([len(block.places) for block in blocks], np.int64),
                places=np.concatenate([NO_BLOCK.places, *(block.places for block in blocks)]),
                amounts=np.concatenate([NO_BLOCK.amounts, *(block.amounts for block in blocks)]),
                costs=np.array([block.cost for block in blocks]),
            )  # fmt: skip

    @classmethod
    def _load(cls, of: str, size: int, path: str | Path) -> TrainingState:
        with open_arrays(path, "a parser's checkpoint") as file:
            if set(file.files) != _NAMES or str(file["of"]) != of:
                raise ModelError(
                    f"{path} is no checkpoint of a parser with these settings and sentences; "
                    "remove it, or name another file"
                )
            step, passes = (int(number) for number in file["numbers"])
            table = WeightTable(file["weights"], file["late"], np.zeros(size, np.float32))
            ends = np.cumsum(file["sizes"])[:-1]
            places, amounts = np.split(file["places"], ends), np.split(file["amounts"], ends)
            blocks = map(Block, places, amounts, file["costs"].tolist())
            return cls(of, table, file["total"], step, passes, dict(enumerate(blocks)))
