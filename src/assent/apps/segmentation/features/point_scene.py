"""The scene of a point cloud: every point a node, joined with its nearest neighbours."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from assent.apps.segmentation.data.label_set import LabelSet
from assent.apps.segmentation.data.points import PointCloud
from assent.apps.segmentation.features.point_features import (
    TINY,
    nearest_neighbours,
    point_features,
)
from assent.apps.segmentation.features.scene import Scene
from assent.errors import ModelError
from assent.kernels.problem import Float, Int64

# Enough to join a surface, few to pay for.
NEIGHBOURS = 5
# Decays of the price with length, in units of the mean; doubling.
RATES = (0.5, 1.0, 2.0)


def point_scene(
    cloud: PointCloud, labels: LabelSet | None = None, *, neighbours: int = NEIGHBOURS
) -> Scene:
    """Nodes are points, edges join each with its nearest.

    Args:
        cloud: the points; with numbers, and ``labels``, the nodes have labels.
        labels: what the numbers mean.
        neighbours: of each point.
    """
    if len(cloud.points) < 2:
        raise ModelError(f"{cloud.name}: a cloud has at least two points")
    tree = cKDTree(cloud.points)
    nodes, normals = point_features(cloud.points, tree)
    edges, length = nearest_neighbours(tree, cloud.points, neighbours)
    gold = None
    if labels is not None and cloud.numbers is not None:
        gold = labels.indices(cloud.numbers)
    return Scene(nodes, edges, edge_features(cloud.points, normals, edges, length), gold)


def edge_features(points: Float, normals: Float, edges: Int64, length: Float) -> Float:
    """Features >= 0 ``[E, F]``: constant, short edges, and those within one plane or level."""
    j, k = edges.T
    relative = length / max(float(length.mean()), TINY)
    parallel = np.abs((normals[j] * normals[k]).sum(axis=1))
    level = 1.0 - np.abs(points[j, 2] - points[k, 2]) / np.maximum(length, TINY)
    columns = [np.ones(len(edges)), parallel, parallel**8, np.clip(level, 0.0, 1.0)]
    columns += [np.exp(-rate * relative) for rate in RATES]
    return np.stack(columns, axis=1)
