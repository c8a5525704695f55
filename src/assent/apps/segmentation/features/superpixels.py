"""Superpixels: regions of alike pixels, and which of them touch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.apps.segmentation.extras import needed
from assent.kernels.problem import Float, Int64

# On photographs of 150,000 to 300,000 pixels that makes regions of some 15 pixels a side.
SUPERPIXELS = 1400
# SLIC weighs distance in the picture by this against distance in Lab colour; its authors' value
# first.  In noise its regions fall to pieces that are then swallowed by few large ones: larger
# values are taken until half as many are left as wanted; with the last they are all but squares.
COMPACTNESS = (10.0, 30.0, 100.0, 1000.0)


class Superpixels(NamedTuple):
    """A picture cut into regions."""

    regions: Int64  # [height, width] the region of every pixel, 0 to n - 1
    edges: Int64  # [E, 2] regions that touch, the smaller first
    length: Float  # [E] the number of pairs of neighbouring pixels on both sides
    step: Float  # [E] the mean colour difference of these pairs, in Lab units


def superpixels(picture: NDArray[np.uint8], lab: Float, count: int = SUPERPIXELS) -> Superpixels:
    """About ``count`` superpixels of a picture ``[height, width, 3]``, by SLIC.

    Steps are measured in ``lab``, the same in Lab colours.
    """
    slic = needed("skimage.segmentation").slic
    for compactness in COMPACTNESS:
        found = slic(picture, count, compactness, start_label=0, channel_axis=-1)
        regions = np.unique(found, return_inverse=True)[1].reshape(lab.shape[:2])
        if 2 * int(regions.max()) >= count:
            break
    return _touching(lab, regions)


def single_pixels(lab: Float) -> Superpixels:
    """Every pixel a region of its own, joined with its four neighbours."""
    height, width = lab.shape[:2]
    return _touching(lab, np.arange(height * width).reshape(height, width))


def _touching(lab: Float, regions: NDArray[np.integer]) -> Superpixels:
    """Regions that touch, with the length of their boundary and the step of colour across it."""
    pairs, steps = [], []
    for own, other in (((slice(None), slice(1, None)), (slice(None), slice(None, -1))),
                       ((slice(1, None),), (slice(None, -1),))):  # fmt: skip
        differ = regions[own] != regions[other]
        pairs.append(np.stack([regions[own][differ], regions[other][differ]], axis=1))
        steps.append(np.linalg.norm(lab[own][differ] - lab[other][differ], axis=1))
    ends = np.sort(np.concatenate(pairs), axis=1).astype(np.int64)
    count = int(regions.max(initial=0)) + 1
    keys, place = np.unique(ends[:, 0] * count + ends[:, 1], return_inverse=True)
    length = np.bincount(place, minlength=len(keys)).astype(np.float64)
    step = np.bincount(place, np.concatenate(steps), minlength=len(keys)) / length
    edges = np.stack([keys // count, keys % count], axis=1)
    return Superpixels(regions.astype(np.int64), edges, length, step)
