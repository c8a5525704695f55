"""Pictures, masks and point clouds, read from files."""

from assent.apps.segmentation.data.label_set import UNKNOWN, LabelSet
from assent.apps.segmentation.data.mask_pairs import MaskPairs, NumberPair
from assent.apps.segmentation.data.pictures import (
    Photograph,
    read_mask,
    read_photographs,
    read_picture,
    write_mask,
)

__all__ = [
    "UNKNOWN",
    "LabelSet",
    "MaskPairs",
    "NumberPair",
    "Photograph",
    "read_mask",
    "read_photographs",
    "read_picture",
    "write_mask",
]
