"""From pictures and points to graphs with features of nodes and edges."""

from assent.apps.segmentation.features.photograph_scene import photograph_scene
from assent.apps.segmentation.features.point_scene import point_scene
from assent.apps.segmentation.features.scene import Scene, fill_unknown, region_labels

__all__ = ["Scene", "fill_unknown", "photograph_scene", "point_scene", "region_labels"]
