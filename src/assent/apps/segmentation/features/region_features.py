"""Features of a picture's regions, and of the boundaries between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from assent.apps.segmentation.features.superpixels import Superpixels
from assent.kernels.problem import Float

# Widths, in Lab units, of the kernels that compare colours: from what an eye can just tell (2.3)
# to what names tell apart, doubling.
WIDTHS = (2.5, 5.0, 10.0, 20.0)
# Of the marked pixels about as many are compared with each region, which bounds the time.
SAMPLE = 2000
AT_ONCE = 4096  # regions compared with them together, which bounds the memory

# Ratios of distances to scribbles are cut off at a hundredth of the picture's diagonal, and of a
# Lab unit: nearer is as good as on the scribble.
NEAR = 0.01
# Decays of the price with squared contrast, in units of its mean; doubling.
RATES = (0.5, 1.0, 2.0, 4.0)
# A picture of one colour has no contrast to measure by.
TINY = 1e-12

UNMARKED, BACKGROUND, FIGURE = -1, 0, 1


def region_means(regions: NDArray[np.integer], values: Float) -> Float:
    """Means ``[n, F]`` over regions of values ``[height, width, F]``.

    Example:
        >>> region_means(np.array([[0, 0, 1]]), np.array([[[1.0], [3.0], [5.0]]])).tolist()
        [[2.0], [5.0]]
    """
    flat, columns = regions.ravel(), values.reshape(regions.size, -1)
    sizes = np.bincount(flat)
    sums = [np.bincount(flat, column, minlength=len(sizes)) for column in columns.T]
    return np.stack(sums, axis=1) / sizes[:, None]


def region_features(lab: Float, parts: Superpixels, marks: NDArray[np.integer] | None) -> Float:
    """Features ``[n, D]``: colour, texture, place, and relation to scribbles where there are any.

    ``marks[height, width]`` are FIGURE or BACKGROUND under a scribble, else UNMARKED.
    """
    height, width = lab.shape[:2]
    y, x = np.mgrid[:height, :width]
    place = np.stack([x / width - 0.5, y / height - 0.5], axis=2)
    means = region_means(parts.regions, np.concatenate([lab, lab**2, place], axis=2))
    colour, place = means[:, :3], means[:, 6:]
    spread = np.sqrt(np.maximum(means[:, 3:6] - colour**2, 0.0))
    columns = [colour, spread, place, place**2, np.linalg.norm(place, axis=1)[:, None],
               np.abs(place).max(axis=1)[:, None]]  # fmt: skip
    if marks is not None:
        columns.append(scribble_features(lab, parts, marks, colour))
    return np.concatenate(columns, axis=1)


def scribble_features(
    lab: Float, parts: Superpixels, marks: NDArray[np.integer], colour: Float
) -> Float:
    """How near a region is to the scribbles of figure and background: in colour and in place."""
    flat = parts.regions.ravel()
    size = np.hypot(*marks.shape)
    y, x = np.mgrid[: marks.shape[0], : marks.shape[1]]
    centre = region_means(parts.regions, np.stack([y, x], axis=2))
    near = {}
    for label in (BACKGROUND, FIGURE):
        here = marks == label
        covered = np.bincount(flat, here.ravel()) / np.bincount(flat)
        if not here.any():  # as far as can be from everything
            near[label] = np.zeros((len(colour), len(WIDTHS) + 3))
            continue
        densities = colour_densities(colour, _sample(lab[here]))
        distance = cKDTree(np.argwhere(here)).query(centre)[0] / size
        nearest = cKDTree(_sample(lab[here])).query(colour)[0]
        near[label] = np.column_stack([densities, distance, nearest, covered])
    own, other = near[FIGURE], near[BACKGROUND]
    ratios = np.log((own[:, -3:-1] + NEAR) / (other[:, -3:-1] + NEAR))
    return np.column_stack([own - other, own[:, -3:], other[:, -3:], ratios])


def _sample(colours: Float) -> Float:
    """Evenly spaced rows, at most `SAMPLE`."""
    return colours[:: max(1, len(colours) // SAMPLE)]


def colour_densities(colours: Float, marked: Float) -> Float:
    """Log-densities ``[n, widths]`` of colours ``[n, 3]`` among marked ones, by kernels.

    Example:
        >>> near, far = colour_densities(np.array([[0.0] * 3, [50.0] * 3]), np.zeros((1, 3)))
        >>> bool((near > far).all())
        True
    """
    # One pixel's worth of evidence spread evenly keeps the logarithm finite.
    floor = 1.0 / (len(marked) + 1.0)
    found = np.empty((len(colours), len(WIDTHS)))
    for begin in range(0, len(colours), AT_ONCE):
        squared = cdist(colours[begin : begin + AT_ONCE], marked, "sqeuclidean")
        for i, width in enumerate(WIDTHS):
            near = np.exp(squared / (-2.0 * width * width)).mean(axis=1)
            found[begin : begin + AT_ONCE, i] = np.log(near + floor)
    return found


def boundary_features(parts: Superpixels, colour: Float) -> Float:
    """Features >= 0 ``[E, F]`` of boundaries: how much there is, and how little colour changes.

    Colour changes across the boundary (``step``) and between the regions; both are measured by
    their mean in the picture, as contrast is in GrabCut (Rother et al. 2004).
    """
    j, k = parts.edges.T
    apart = np.linalg.norm(colour[j] - colour[k], axis=1)
    length = np.sqrt(parts.length / parts.length.mean())
    columns = [length]
    for change in (parts.step, apart):
        squared = change**2 / max(float((change**2).mean()), TINY)
        columns += [length * np.exp(-rate * squared) for rate in RATES]
    return np.stack(columns, axis=1)
