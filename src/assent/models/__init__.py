"""Joint feature maps: from inputs, outputs and weights to scores over a structure."""

from assent.models.cut_model import CutInput, CutLabels, CutModel, CutSpace
from assent.models.example import Example, LinearExample
from assent.models.graph_model import GraphInput, GraphModel, GraphSpace, Part
from assent.models.joint_model import Model
from assent.models.kernel_chain import Gaussian, KernelChainModel, Polynomial
from assent.models.losses import Hamming, LabelCosts, Loss, WeightedHamming
from assent.models.matching_model import (
    MatchingExample,
    MatchingModel,
    MatchingSpace,
    PartialMatching,
)
from assent.models.potts_model import PottsModel, PottsSpace
from assent.models.space import Rows, Space
from assent.models.structure_space import StructureSpace
from assent.models.tree_model import ChainModel, TreeInput, TreeModel
from assent.models.tree_space import TreeSpace

__all__ = [
    "ChainModel",
    "CutInput",
    "CutLabels",
    "CutModel",
    "CutSpace",
    "Example",
    "Gaussian",
    "GraphInput",
    "GraphModel",
    "GraphSpace",
    "Hamming",
    "KernelChainModel",
    "LabelCosts",
    "LinearExample",
    "Loss",
    "MatchingExample",
    "MatchingModel",
    "MatchingSpace",
    "Model",
    "Part",
    "PartialMatching",
    "Polynomial",
    "PottsModel",
    "PottsSpace",
    "Rows",
    "Space",
    "StructureSpace",
    "TreeInput",
    "TreeModel",
    "TreeSpace",
    "WeightedHamming",
]
