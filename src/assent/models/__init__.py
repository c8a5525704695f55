"""Joint feature maps: from inputs, outputs and weights to scores over a structure."""

from assent.models.base import Model
from assent.models.example import Example, LinearExample
from assent.models.losses import Hamming, LabelCosts, Loss, WeightedHamming
from assent.models.space import Rows, Space
from assent.models.tree import ChainModel, TreeInput, TreeModel
from assent.models.tree_space import TreeSpace

__all__ = [
    "ChainModel",
    "Example",
    "Hamming",
    "LabelCosts",
    "LinearExample",
    "Loss",
    "Model",
    "Rows",
    "Space",
    "TreeInput",
    "TreeModel",
    "TreeSpace",
    "WeightedHamming",
]
