"""Pictures, masks and point clouds, read from files."""

from assent.apps.segmentation.data.label_pairs import LabelPair, LabelPairs, is_cloud
from assent.apps.segmentation.data.label_set import UNKNOWN, LabelSet
from assent.apps.segmentation.data.pictures import (
    Photograph,
    read_mask,
    read_photographs,
    read_picture,
    write_mask,
)
from assent.apps.segmentation.data.points import PointCloud, cloud_name, read_points, write_points

__all__ = [
    "UNKNOWN",
    "LabelPair",
    "LabelPairs",
    "LabelSet",
    "Photograph",
    "PointCloud",
    "cloud_name",
    "is_cloud",
    "read_mask",
    "read_photographs",
    "read_picture",
    "read_points",
    "write_mask",
    "write_points",
]
