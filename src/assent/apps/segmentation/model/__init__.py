"""Learning to segment, and what was learnt."""

from assent.apps.segmentation.model.segmenter import Segmenter
from assent.apps.segmentation.model.training import SegmenterSettings, train_segmenter

__all__ = ["Segmenter", "SegmenterSettings", "train_segmenter"]
