"""Features of points: the shape of their surroundings, at several sizes, and their height."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from assent.apps.segmentation.features.region_features import region_means
from assent.kernels.problem import Float, Int64

# Neighbours that surroundings consist of, threefold each: from an edge to a wall.
SURROUNDINGS = (10, 30, 90)
# Side, in the file's units (metres), of the cells to each of which one point is left before spin
# images are made: a laser sees what is near a hundred times as densely as what is far.
CELL = 0.3
SPUN = 90  # points of the thinned cloud that a spin image counts
# Sides, in the file's units (metres), of the columns in which a point's height is measured: a car,
# a tree, a house.
COLUMNS = (2.0, 5.0, 15.0)
# Points taken together, which bounds the memory of their neighbours.
AT_ONCE = 20_000
# An empty range of heights or distances is as good as this one.
TINY = 1e-9
# Cylinders around the vertical axis, as the spin images of Johnson and Hebert (1999) but with the
# axis that laser scans know best: bins of distance from the axis and of height, in metres.
RADII = (0.0, 0.3, 0.8, 2.0)
HEIGHTS = (-np.inf, -1.0, -0.3, -0.05, 0.05, 0.3, 1.0, np.inf)


def point_features(points: Float, tree: cKDTree) -> tuple[Float, Float]:
    """Features ``[n, D]`` of points ``[n, 3]``, and their normals ``[n, 3]``."""
    thin = voxels(points, CELL).means
    sparse = cKDTree(thin)
    shapes, spun, normals = [], [], []
    for begin in range(0, len(points), AT_ONCE):
        centres = points[begin : begin + AT_ONCE]
        shape, normal = _surroundings(points, centres, tree)
        near = _nearest(sparse, centres, SPUN)[1]
        shapes.append(shape)
        normals.append(normal)
        spun.append(spin_images(thin[near] - centres[:, None]))
    columns = [np.concatenate(shapes), np.concatenate(spun), column_heights(points)]
    return np.concatenate(columns, axis=1), np.concatenate(normals)


def _nearest(tree: cKDTree, centres: Float, count: int) -> tuple[Float, Int64]:
    """Distances and indices ``[n, count]`` of the nearest; of all where there are fewer."""
    distance, near = tree.query(centres, min(count, tree.n))
    return distance.reshape(len(centres), -1), near.reshape(len(centres), -1)


def _surroundings(points: Float, centres: Float, tree: cKDTree) -> tuple[Float, Float]:
    """Shapes of the surroundings of some points, and normals by the middle size."""
    distance, near = _nearest(tree, centres, SURROUNDINGS[-1])
    columns, normals = [], []
    for count in SURROUNDINGS:
        shape, normal = principal_shape(points[near[:, :count]])
        columns += [shape, np.log(distance[:, :count][:, -1:] + TINY)]
        normals.append(normal)
    return np.concatenate(columns, axis=1), normals[1]


class Voxels(NamedTuple):
    """The cubic cells of a side that have points."""

    cells: Int64  # [m, 3] whole numbers: where they are
    means: Float  # [m, 3] of their points
    number: Int64  # [n] the cell of every point


def voxels(points: Float, side: float) -> Voxels:
    """Cells of points ``[n, 3]``.

    Example:
        >>> found = voxels(np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [5.0, 0.0, 0.0]]), 1.0)
        >>> found.means.tolist(), found.number.tolist()
        ([[0.1, 0.0, 0.0], [5.0, 0.0, 0.0]], [0, 0, 1])
    """
    at = np.floor(points / side).astype(np.int64)
    cells, number = np.unique(at, axis=0, return_inverse=True)
    return Voxels(cells, region_means(number, points), number)


def principal_shape(neighbours: Float) -> tuple[Float, Float]:
    """Shapes ``[n, 7]`` of point sets ``[n, k, 3]`` by principal components, and normals.

    How far a set is a line, a plane or a volume (roots of the variances along its axes), how much
    it varies off its plane, how upright its plane and its line are, and the spread of its heights.

    Example:
        >>> line = np.array([[[0.0, 0.0, z] for z in range(5)]])
        >>> principal_shape(line)[0][0, [0, 5]].tolist()  # a line, upright
        [1.0, 1.0]
    """
    offset = neighbours - neighbours.mean(axis=1, keepdims=True)
    covariance = np.einsum("nki,nkj->nij", offset, offset) / neighbours.shape[1]
    variance, axes = np.linalg.eigh(covariance)
    low, middle, high = np.sqrt(np.maximum(variance, 0.0)).T
    largest = np.maximum(high, TINY)
    off_plane = variance[:, 0] / np.maximum(variance.sum(axis=1), TINY)
    normal, along = axes[:, :, 0], axes[:, :, 2]
    shape = np.stack(
        [(high - middle) / largest, (middle - low) / largest, low / largest, off_plane,
         np.abs(normal[:, 2]), np.abs(along[:, 2]), np.sqrt(covariance[:, 2, 2])], axis=1
    )  # fmt: skip
    return shape, normal


def spin_images(offsets: Float) -> Float:
    """Shares ``[n, bins]`` of neighbours ``[n, k, 3]`` by distance from the axis and height."""
    ring = np.digitize(np.hypot(offsets[..., 0], offsets[..., 1]), RADII) - 1
    floor = np.digitize(offsets[..., 2], HEIGHTS) - 1
    rings, floors = len(RADII), len(HEIGHTS) - 1
    n, k = offsets.shape[:2]
    bins = (np.arange(n)[:, None] * rings + ring) * floors + floor
    counts = np.bincount(bins.ravel(), minlength=n * rings * floors)
    # Roots: a few points say nearly as much as many.
    return np.sqrt(counts.reshape(n, rings * floors) / k)


def column_heights(points: Float) -> Float:
    """Heights ``[n, 2 columns]`` above the lowest point and below the highest, in square columns.

    Example:
        >>> column_heights(np.array([[0.0, 0.0, 1.0], [0.1, 0.1, 4.0]]))[:, 0].tolist()
        [0.0, 3.0]
    """
    found = []
    for side in COLUMNS:
        cells = np.floor(points[:, :2] / side).astype(np.int64)
        _, cell = np.unique(cells, axis=0, return_inverse=True)
        lowest, highest = np.full(cell.max() + 1, np.inf), np.full(cell.max() + 1, -np.inf)
        np.minimum.at(lowest, cell, points[:, 2])
        np.maximum.at(highest, cell, points[:, 2])
        found += [points[:, 2] - lowest[cell], highest[cell] - points[:, 2]]
    return np.stack(found, axis=1)


def nearest_neighbours(tree: cKDTree, points: Float, count: int) -> Int64:
    """Edges ``[E, 2]`` from every point to its ``count`` nearest, each once."""
    n = len(points)
    near = _nearest(tree, points, count + 1)[1]
    own = np.repeat(np.arange(n), near.shape[1])
    pairs = np.sort(np.stack([own, near.ravel()], axis=1), axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # a point is its own nearest, but for twins
    keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
    return np.stack([keys // n, keys % n], axis=1).astype(np.int64)
