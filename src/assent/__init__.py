"""Assent: many overlapping models, one answer they agree on, and a proof of how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assent.binarize import Binarized, Restored, binarize
from assent.certificate import Certificate
from assent.compare import Comparison, compare
from assent.decode import decode
from assent.decode_many import decode_many
from assent.errors import ModelError, NoFeasibleAssignment, RecompileWarning
from assent.factors import (
    Agree,
    All,
    Arborescence,
    AtLeast,
    AtLeastOne,
    AtMost,
    AtMostOne,
    Cardinality,
    Chain,
    Compression,
    Custom,
    Cut,
    Dense,
    Exactly,
    ExactlyOne,
    GrandparentAutomaton,
    HeadAutomaton,
    HeadSequence,
    Implies,
    Knapsack,
    Matching,
    Pair,
    Parity,
    Potts,
    ProjectiveTree,
    Regular,
    Soft,
    SoftCount,
    Tree,
    TriSiblingAutomaton,
)
from assent.k_best import k_best
from assent.model.array_functions import concatenate, stack, where
from assent.model.automata import add_grandparent_automata, add_head_automata
from assent.model.decompose import grid_chains, tree_cover
from assent.model.finite_automaton import Automaton
from assent.model.graph import FactorGraph
from assent.model.regular_expression import regex
from assent.model.tag_scheme import bio
from assent.model.template import Template
from assent.model.variables import Categorical, Literals
from assent.model.views import group
from assent.presolve import presolve
from assent.project import Projected, project
from assent.proof.gap_rule import AbsoluteGap
from assent.result import Result, Status
from assent.result_list import Results
from assent.trace import Progress, Trace

if TYPE_CHECKING:
    from assent.presolved import Presolved
    from assent.solvers.ad3.ad3 import AD3
    from assent.solvers.auto.auto import Auto
    from assent.solvers.boxes.box_mplp import BoxMPLP
    from assent.solvers.boxes.box_subgradient import BoxSubgradient
    from assent.solvers.cutting_planes.branch_and_cut import BranchAndCut
    from assent.solvers.cutting_planes.tightened import Tightened
    from assent.solvers.direct.roof_duality import RoofDuality
    from assent.solvers.direct.variable_elimination import Elimination
    from assent.solvers.messages.accelerated import Accelerated
    from assent.solvers.messages.max_product import MaxProduct
    from assent.solvers.messages.mplp import MPLP
    from assent.solvers.messages.star_diffusion import StarDiffusion
    from assent.solvers.messages.subgradient import Subgradient
    from assent.solvers.messages.trws import TRWS
    from assent.solvers.programs.integer_program import IntegerProgram
    from assent.solvers.programs.linear_program import LinearProgram
    from assent.solvers.search.branch_and_bound import BranchAndBound
    from assent.solvers.search.depth_first import DepthFirst

__version__ = "0.1.0"

# Solvers load Numba; they, and what needs them, are imported when first named, so that
# `import assent` stays quick.
_LAZY = {
    "Accelerated": "assent.solvers.messages.accelerated",
    "AD3": "assent.solvers.ad3.ad3",
    "Auto": "assent.solvers.auto.auto",
    "BoxMPLP": "assent.solvers.boxes.box_mplp",
    "BoxSubgradient": "assent.solvers.boxes.box_subgradient",
    "BranchAndBound": "assent.solvers.search.branch_and_bound",
    "BranchAndCut": "assent.solvers.cutting_planes.branch_and_cut",
    "DepthFirst": "assent.solvers.search.depth_first",
    "Elimination": "assent.solvers.direct.variable_elimination",
    "IntegerProgram": "assent.solvers.programs.integer_program",
    "LinearProgram": "assent.solvers.programs.linear_program",
    "MPLP": "assent.solvers.messages.mplp",
    "MaxProduct": "assent.solvers.messages.max_product",
    "Presolved": "assent.presolved",
    "RoofDuality": "assent.solvers.direct.roof_duality",
    "StarDiffusion": "assent.solvers.messages.star_diffusion",
    "TRWS": "assent.solvers.messages.trws",
    "Tightened": "assent.solvers.cutting_planes.tightened",
    "Subgradient": "assent.solvers.messages.subgradient",
}

__all__ = [  # noqa: RUF022 (plain alphabetical order)
    "AD3", "AbsoluteGap", "Accelerated", "Agree", "All", "Arborescence", "AtLeast", "AtLeastOne",
    "AtMost", "AtMostOne", "Auto", "Automaton", "Binarized", "BoxMPLP", "BoxSubgradient",
    "BranchAndBound", "BranchAndCut", "Cardinality", "Categorical", "Certificate", "Chain",
    "Comparison", "Compression", "Custom", "Cut", "Dense", "DepthFirst", "Elimination", "Exactly",
    "ExactlyOne", "FactorGraph", "GrandparentAutomaton", "HeadAutomaton", "HeadSequence", "Implies",
    "IntegerProgram", "Knapsack", "LinearProgram", "Literals", "MPLP", "Matching", "MaxProduct",
    "ModelError", "NoFeasibleAssignment", "Pair", "Parity", "Potts", "Presolved", "Progress",
    "Projected", "ProjectiveTree", "RecompileWarning", "Regular", "Restored", "Result", "Results",
    "RoofDuality", "Soft", "SoftCount", "StarDiffusion", "Status", "Subgradient", "TRWS",
    "Template", "Tightened", "Trace", "Tree", "TriSiblingAutomaton", "add_grandparent_automata",
    "add_head_automata", "binarize", "bio", "compare", "concatenate", "decode", "decode_many",
    "grid_chains", "group", "k_best", "presolve", "project", "regex", "stack", "tree_cover",
    "where",
]  # fmt: skip


# Parts of the library that a decode does not need: `assent.learn.FrankWolfe`.
_PACKAGES = ("learn", "models")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"assent.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'assent' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
