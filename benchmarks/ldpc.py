"""Suite ``ldpc``: words of error-correcting codes over a noisy channel, beside belief propagation.

The linear program over the parity checks of a code (Feldman et al., 2005), solved by AD3, against
sum-product decoding, which most published curves are of.  An integral answer of the program is
proven to be the most likely word; where it is not the word that was sent, no decoder could know.
Sum-product proves nothing, but is a better guess where the program's answer is fractional, so its
error rates are lower the more noise there is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

import assent as at
from assent.io import alist_to_graph, read_alist
from benchmarks import tables

ITERATIONS = 100  # of sum-product, as published for the longer code
WORDS = {True: 40, False: 2000}  # fractional words take AD3 a second each


class Code(NamedTuple):
    """A code of the data folder, with a published curve and the noise levels to look at."""

    name: str
    curve: str
    levels: tuple[float, ...]  # Eb/N0 in dB


CODES = (
    Code("CCSDS_64_128", "HORIZONTAL_LAYERED_SPA_LDPC_N128_K64_hlayered_SPA_i50_CCSDS",
         (2.5, 3.0, 3.5)),
    Code("WIMAX_288_576", "FLOODING_SPA_LDPC_N576_K288_flooding_SPA_i100_WiMAX", (1.5, 2.0, 2.5)),
)  # fmt: skip


def run(console: Console, data: Path | None, quick: bool, codes: Sequence[Code] = CODES) -> None:
    """Print word error rates and times."""
    if data is None or not (data / "ldpc").is_dir():
        console.print("ldpc: there are no codes without ASSENT_DATA; skipped")
        return
    rows = [
        measure(data / "ldpc", code, level, WORDS[quick]) for code in codes for level in code.levels
    ]
    tables.show(
        console,
        f"Word error rates of {WORDS[quick]} words, and milliseconds per word",
        ("code", "Eb/N0", "linear program", "proven", "wrong though proven", "sum-product",
         "published", "ms", "ms, sum-product"),
        rows,
        caption=f"± two standard errors; {tables.circumstances()}",
    )  # fmt: skip


def measure(folder: Path, code: Code, level: float, words: int) -> tuple[str, ...]:
    """One row: both decoders on the same received words."""
    checks = read_alist(folder / "alist" / f"{code.name}.alist")
    bits = checks.shape[1]
    sigma = noise(level, rate=1.0 - checks.shape[0] / bits)
    rng = np.random.default_rng([bits, int(100 * level)])
    # The channel and both decoders treat all words alike: the one of zeros stands for any.
    llr = 2.0 * (1.0 + sigma * rng.normal(size=(words, bits))) / sigma**2
    graph = alist_to_graph(checks)
    at.decode_many(graph, scores={"x": -llr[:2]})
    begun = time.perf_counter()
    results = at.decode_many(graph, at.AD3(), scores={"x": -llr})
    answers = np.ma.filled(results["x"], 1)
    own = 1e3 * (time.perf_counter() - begun) / words
    begun = time.perf_counter()
    guesses = sum_product(checks, llr)
    theirs = 1e3 * (time.perf_counter() - begun) / words
    proven = np.array([status is at.Status.OPTIMAL for status in results.statuses])
    wrong = answers.any(axis=1) | ~proven
    # A proof says that nothing is more likely, the word sent and the other decoder's among it.
    rivals = np.where(is_word(checks, guesses), -(llr * guesses).sum(axis=1), -np.inf)
    best = np.maximum(rivals, 0.0)
    assert (results.values[proven] >= best[proven] - 1e-6 * (1.0 + np.abs(best[proven]))).all()
    return (
        code.name, f"{level:.1f} dB", _share(wrong), f"{proven.mean():.1%}",
        _share(wrong & proven), _share(guesses.any(axis=1)),
        f"{published(folder, code, level):.2%}", f"{own:.2f}", f"{theirs:.2f}",
    )  # fmt: skip


def noise(level: float, rate: float) -> float:
    """Standard deviation of the noise on ±1 at ``level`` dB per bit of information.

    Example:
        >>> round(noise(0.0, rate=0.5), 3)
        1.0
    """
    return float(np.sqrt(1.0 / (2.0 * rate * 10.0 ** (level / 10.0))))


def published(folder: Path, code: Code, level: float) -> float:
    """The word error rate of a published curve."""
    path = folder / "references" / f"AWGN_BPSK_BP_{code.curve}.txt"
    for line in path.read_text().splitlines():
        cells = re.split(r"\s*\|+\s*", line.strip())
        if not line.startswith("#") and len(cells) > 7 and float(cells[1]) == level:
            return float(cells[6])
    raise ValueError(f"{path.name} has no row for {level} dB")


def is_word(checks, words):
    """Which of ``words[B, n]`` pass all checks."""
    return ~((checks.astype(int) @ words.T) % 2).any(axis=0)


def sum_product(checks, llr, iterations: int = ITERATIONS):
    """Decoded words ``[B, n]`` of log-likelihood ratios, all in parallel (flooding schedule).

    A word that passes all checks is done.
    """
    begin, bit = checks.indptr[:-1], checks.indices
    check = np.repeat(np.arange(checks.shape[0]), np.diff(checks.indptr))
    order = np.argsort(bit, kind="stable")
    of_bit = np.searchsorted(bit[order], np.arange(checks.shape[1]))
    words = (llr < 0).astype(np.int8)
    todo = np.flatnonzero(~is_word(checks, words))
    up = np.zeros((len(todo), len(bit)))  # from checks to bits
    total = llr[todo]
    for _ in range(iterations):
        if not len(todo):
            break
        down = total[:, bit] - up
        sizes = _phi(np.abs(down))
        negative = np.add.reduceat(down < 0, begin, axis=1, dtype=int)[:, check] - (down < 0)
        others = np.add.reduceat(sizes, begin, axis=1)[:, check] - sizes
        up = np.where(negative % 2, -1.0, 1.0) * _phi(others)
        total = llr[todo] + np.add.reduceat(up[:, order], of_bit, axis=1)
        words[todo] = total < 0
        left = ~is_word(checks, words[todo])
        todo, up, total = todo[left], up[left], total[left]
    return words


def _phi(x):
    """``-log(tanh(x / 2))``, its own inverse; clipped where it leaves floating point."""
    return -np.log(np.tanh(0.5 * np.clip(x, 1e-12, 40.0)))


def _share(which) -> str:
    """A share in percent with two standard errors."""
    p = float(np.mean(which))
    return f"{p:.2%} ± {2.0 * np.sqrt(p * (1.0 - p) / len(which)):.2%}"
