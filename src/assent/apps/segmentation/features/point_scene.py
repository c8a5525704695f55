"""The scene of a point cloud: points joined with their nearest, or voxels with those they touch."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from assent.apps.segmentation.data.label_set import LabelSet
from assent.apps.segmentation.data.points import PointCloud
from assent.apps.segmentation.features.point_features import (
    TINY,
    nearest_neighbours,
    point_features,
    voxels,
)
from assent.apps.segmentation.features.scene import Scene, region_labels
from assent.errors import ModelError
from assent.kernels.problem import Float, Int64

# Enough to join a surface, few to pay for.
NEIGHBOURS = 5
# Decays of the price with length, in units of the mean; doubling.
RATES = (0.5, 1.0, 2.0)
# Cells touch, at corners if nowhere else, whose places differ by 1 at most in every direction: the
# farthest by the root of 3, the nearest others by 2.
TOUCHING = 1.8

# Below this side cells of far points could no longer be counted in whole numbers of 64 bits.
SMALLEST = 1e-6


def point_scene(
    cloud: PointCloud, labels: LabelSet | None = None, *, neighbours: int = NEIGHBOURS,
    voxel: float = 0.0,
) -> Scene:  # fmt: skip
    """Nodes are points, edges join each with its nearest; or voxels, joined where they touch.

    Args:
        cloud: the points; with numbers, and ``labels``, the nodes have labels.
        labels: what the numbers mean.
        neighbours: of each point.
        voxel: the side of cubic cells, in the file's units, that are the nodes in place of points;
            far fewer of them in dense clouds.
    """
    if len(cloud.points) < 2:
        raise ModelError(f"{cloud.name}: a cloud has at least two points")
    if not (voxel == 0.0 or SMALLEST <= voxel < np.inf):
        raise ModelError(f"the side of a voxel is a number from {SMALLEST:g} on, or 0, got {voxel}")
    gold = None
    if labels is not None and cloud.numbers is not None:
        gold = labels.indices(cloud.numbers)
    if voxel == 0.0:
        tree = cKDTree(cloud.points)
        edges = nearest_neighbours(tree, cloud.points, neighbours)
        return _scene(cloud.points, tree, edges, gold)
    found = voxels(cloud.points, voxel)
    edges = cKDTree(found.cells).query_pairs(TOUCHING, output_type="ndarray").astype(np.int64)
    if not len(edges):
        problem = f"no voxels of side {voxel:g} touch; take larger ones"
        if len(found.cells) == 1:
            problem = f"one voxel of side {voxel:g} holds all points; take smaller ones"
        raise ModelError(f"{cloud.name}: {problem}")
    if gold is not None and labels is not None:
        gold = region_labels(found.number, gold, len(labels))
    scene = _scene(found.means, cKDTree(found.means), edges, gold)
    return scene._replace(regions=found.number)


def _scene(points: Float, tree: cKDTree, edges: Int64, gold: Int64 | None) -> Scene:
    nodes, normals = point_features(points, tree)
    return Scene(nodes, edges, edge_features(points, normals, edges), gold)


def edge_features(points: Float, normals: Float, edges: Int64) -> Float:
    """Features >= 0 ``[E, F]``: constant, short edges, and those within one plane or level."""
    j, k = edges.T
    length = np.linalg.norm(points[j] - points[k], axis=1)
    relative = length / max(float(length.mean()), TINY)
    parallel = np.abs((normals[j] * normals[k]).sum(axis=1))
    level = 1.0 - np.abs(points[j, 2] - points[k, 2]) / np.maximum(length, TINY)
    columns = [np.ones(len(edges)), parallel, parallel**8, np.clip(level, 0.0, 1.0)]
    columns += [np.exp(-rate * relative) for rate in RATES]
    return np.stack(columns, axis=1)
