"""Restore a noisy black-and-white picture: one variable per pixel, neighbours like to agree.

Every pixel has two opinions on it. What was measured pulls it one way, by a score for "ink". Its
four neighbours pull it their way: each pair of neighbours earns a bonus when both are ink or both
are paper. The best picture is a compromise over the whole grid, found at once.
"""

import numpy as np

import assent as at

HEIGHT, WIDTH = 32, 64
FLIPPED = 0.15  # share of pixels that noise turned over
BONUS = 1.2  # what agreeing neighbours earn


def draw() -> np.ndarray:
    """A ring, a disc and a bar: True is ink."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    ring = np.abs(np.hypot(y - 15.5, x - 16) - 10) < 3
    disc = np.hypot(y - 12, x - 46) < 8
    bar = (abs(y - 25) < 3) & (abs(x - 46) < 13)
    return ring | disc | bar


def show(picture: np.ndarray) -> None:
    """Print two rows of pixels per line of text."""
    for upper, lower in zip(picture[::2], picture[1::2], strict=True):
        print("  " + "".join(" ▀▄█"[a + 2 * b] for a, b in zip(upper, lower, strict=True)))


clean = draw()
rng = np.random.default_rng(1)
noisy = clean ^ (rng.random(clean.shape) < FLIPPED)

# The score of "ink" is its log-odds given the measured pixel: log(P(ink) / P(paper)).
confidence = np.log((1 - FLIPPED) / FLIPPED)
graph = at.FactorGraph()
ink = graph.binary(scores=np.where(noisy, confidence, -confidence), name="ink")

# Slices pair up neighbours: one line of code makes thousands of factors.
for a, b in [(ink[:, :-1], ink[:, 1:]), (ink[:-1, :], ink[1:, :])]:
    graph.add(at.Pair(a, b, scores=BONUS))
    graph.add(at.Pair(~a, ~b, scores=BONUS))

result = at.decode(graph)
restored = result[ink].astype(bool)

print("Measured:")
show(noisy)
print("Restored:")
show(restored)
print(f"Wrong pixels: {(noisy != clean).sum()} before, {(restored != clean).sum()} after.")
gap = result.certificate.relative_gap
print(f"{graph.n_factors} pair factors; {result.status.name}, relative gap {gap:.0e}.")
