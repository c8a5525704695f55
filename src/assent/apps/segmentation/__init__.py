"""Segmentation of pictures and point clouds by networks whose neighbours rather agree.

Nodes (superpixels, points) have features, neighbours have a price of being different; two labels
are decoded exactly by a cut, several by expansion moves.
"""

from assent.apps.segmentation.data import (
    LabelSet,
    Photograph,
    PointCloud,
    read_photographs,
    read_points,
)
from assent.apps.segmentation.decode import label_nodes
from assent.apps.segmentation.features import Scene, photograph_scene, point_scene
from assent.apps.segmentation.metrics import SegmentationScore, segmentation_score
from assent.apps.segmentation.model import Segmenter, SegmenterSettings, train_segmenter

__all__ = [
    "LabelSet",
    "Photograph",
    "PointCloud",
    "Scene",
    "SegmentationScore",
    "Segmenter",
    "SegmenterSettings",
    "label_nodes",
    "photograph_scene",
    "point_scene",
    "read_photographs",
    "read_points",
    "segmentation_score",
    "train_segmenter",
]
