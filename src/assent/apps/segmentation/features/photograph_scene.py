"""The scene of a photograph: superpixels or pixels, and which of them touch."""

from __future__ import annotations

from assent.apps.segmentation.data.label_set import LabelSet
from assent.apps.segmentation.data.pictures import Photograph
from assent.apps.segmentation.extras import needed
from assent.apps.segmentation.features.region_features import (
    boundary_features,
    region_features,
)
from assent.apps.segmentation.features.scene import Scene, region_labels
from assent.apps.segmentation.features.superpixels import SUPERPIXELS, single_pixels, superpixels


def photograph_scene(
    photograph: Photograph, labels: LabelSet | None = None, *, count: int = SUPERPIXELS
) -> Scene:
    """Nodes are superpixels, edges join those that touch.

    Args:
        photograph: the picture; with a mask, and ``labels``, the nodes have labels.
        labels: what the numbers of the mask mean.
        count: of superpixels, about; 0 for single pixels.
    """
    lab = needed("skimage.color").rgb2lab(photograph.picture)
    parts = superpixels(photograph.picture, lab, count) if count else single_pixels(lab)
    nodes = region_features(lab, parts, photograph.scribbles)
    edges = boundary_features(parts, nodes[:, :3])
    gold = None
    if labels is not None and photograph.mask is not None:
        gold = region_labels(parts.regions, labels.indices(photograph.mask), len(labels))
    return Scene(nodes, parts.edges, edges, gold, parts.regions)
