"""Assent: many overlapping models, one answer they agree on, and a proof of how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assent.automata import add_grandparent_automata, add_head_automata
from assent.binarize import Binarized, Restored, binarize
from assent.compare import Comparison, compare
from assent.decode import decode
from assent.decode_many import decode_many
from assent.decompose import grid_chains, tree_cover
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
    Custom,
    Cut,
    Dense,
    Exactly,
    ExactlyOne,
    GrandparentAutomaton,
    HeadAutomaton,
    Implies,
    Knapsack,
    Matching,
    Pair,
    Parity,
    Potts,
    ProjectiveTree,
    Soft,
    SoftCount,
    Tree,
)
from assent.graph import FactorGraph
from assent.k_best import k_best
from assent.presolve import Presolved, presolve
from assent.project import Projected, project
from assent.result import Certificate, Result, Status
from assent.results import Results
from assent.trace import Progress, Trace
from assent.variables import Categorical, Literals
from assent.views import group

if TYPE_CHECKING:
    from assent.solvers.accelerated import Accelerated
    from assent.solvers.ad3 import AD3
    from assent.solvers.auto import Auto
    from assent.solvers.box_mplp import BoxMPLP
    from assent.solvers.box_subgradient import BoxSubgradient
    from assent.solvers.branch_and_bound import BranchAndBound
    from assent.solvers.branch_and_cut import BranchAndCut
    from assent.solvers.depth_first import DepthFirst
    from assent.solvers.elimination import Elimination
    from assent.solvers.integer_program import IntegerProgram
    from assent.solvers.linear_program import LinearProgram
    from assent.solvers.max_product import MaxProduct
    from assent.solvers.mplp import MPLP
    from assent.solvers.roof_duality import RoofDuality
    from assent.solvers.star_diffusion import StarDiffusion
    from assent.solvers.subgradient import Subgradient
    from assent.solvers.tightened import Tightened
    from assent.solvers.trws import TRWS

__version__ = "0.1.0"

# Solvers load Numba; they are imported when first named, so that `import assent` stays quick.
_LAZY = {
    "Accelerated": "assent.solvers.accelerated",
    "AD3": "assent.solvers.ad3",
    "Auto": "assent.solvers.auto",
    "BoxMPLP": "assent.solvers.box_mplp",
    "BoxSubgradient": "assent.solvers.box_subgradient",
    "BranchAndBound": "assent.solvers.branch_and_bound",
    "BranchAndCut": "assent.solvers.branch_and_cut",
    "DepthFirst": "assent.solvers.depth_first",
    "Elimination": "assent.solvers.elimination",
    "IntegerProgram": "assent.solvers.integer_program",
    "LinearProgram": "assent.solvers.linear_program",
    "MPLP": "assent.solvers.mplp",
    "MaxProduct": "assent.solvers.max_product",
    "RoofDuality": "assent.solvers.roof_duality",
    "StarDiffusion": "assent.solvers.star_diffusion",
    "TRWS": "assent.solvers.trws",
    "Tightened": "assent.solvers.tightened",
    "Subgradient": "assent.solvers.subgradient",
}

__all__ = [  # noqa: RUF022 (plain alphabetical order)
    "AD3",
    "Accelerated",
    "Agree",
    "All",
    "Arborescence",
    "AtLeast",
    "AtLeastOne",
    "AtMost",
    "AtMostOne",
    "Auto",
    "Binarized",
    "BoxMPLP",
    "BoxSubgradient",
    "BranchAndBound",
    "BranchAndCut",
    "Cardinality",
    "Categorical",
    "Certificate",
    "Chain",
    "Comparison",
    "Custom",
    "Cut",
    "Dense",
    "DepthFirst",
    "Elimination",
    "Exactly",
    "ExactlyOne",
    "FactorGraph",
    "GrandparentAutomaton",
    "HeadAutomaton",
    "Implies",
    "IntegerProgram",
    "Knapsack",
    "LinearProgram",
    "Literals",
    "MPLP",
    "Matching",
    "MaxProduct",
    "ModelError",
    "NoFeasibleAssignment",
    "Pair",
    "Parity",
    "Potts",
    "Presolved",
    "Progress",
    "Projected",
    "ProjectiveTree",
    "RecompileWarning",
    "Restored",
    "Result",
    "Results",
    "RoofDuality",
    "Soft",
    "SoftCount",
    "StarDiffusion",
    "Status",
    "Subgradient",
    "TRWS",
    "Tightened",
    "Trace",
    "Tree",
    "add_grandparent_automata",
    "add_head_automata",
    "binarize",
    "compare",
    "decode",
    "decode_many",
    "grid_chains",
    "group",
    "k_best",
    "presolve",
    "project",
    "tree_cover",
]


# Whole parts of the library that a decode does not need: `assent.learn.FrankWolfe`.
_PACKAGES = ("learn", "models")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"assent.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'assent' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
