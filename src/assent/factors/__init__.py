"""The kinds of factors, one file each; ``KINDS`` is the registry tests and docs run over."""

from __future__ import annotations

from assent.factors.agree import Agree
from assent.factors.all_true import All
from assent.factors.arborescence import Arborescence
from assent.factors.at_least import AtLeast
from assent.factors.at_least_one import AtLeastOne
from assent.factors.at_most import AtMost
from assent.factors.at_most_one import AtMostOne
from assent.factors.base import Factor, Logic
from assent.factors.cardinality import Cardinality
from assent.factors.chain import Chain
from assent.factors.compression import Compression
from assent.factors.custom import Custom
from assent.factors.cut import Cut
from assent.factors.dense import Dense
from assent.factors.exactly import Exactly
from assent.factors.exactly_one import ExactlyOne
from assent.factors.grandparent_automaton import GrandparentAutomaton
from assent.factors.head_automaton import HeadAutomaton
from assent.factors.head_sequence import HeadSequence
from assent.factors.implies import Implies
from assent.factors.knapsack import Knapsack
from assent.factors.matching import Matching
from assent.factors.pair import Pair
from assent.factors.parity import Parity
from assent.factors.potts import Potts
from assent.factors.projective_tree import ProjectiveTree
from assent.factors.regular import Regular
from assent.factors.scored import Scored
from assent.factors.soft import Soft, SoftCount
from assent.factors.structure import Structure
from assent.factors.table import Table
from assent.factors.tree import Tree
from assent.factors.tri_sibling_automaton import TriSiblingAutomaton

KINDS: tuple[type[Factor], ...] = (
    Pair, ExactlyOne, AtMostOne, AtLeastOne, All, Implies, AtMost, AtLeast, Exactly, Agree, Parity,
    Knapsack, Dense, Potts, Cardinality, Chain, Tree, Regular, Arborescence, ProjectiveTree,
    HeadAutomaton, GrandparentAutomaton, TriSiblingAutomaton, HeadSequence, Compression,
    Soft, SoftCount, Matching, Cut, Custom,
)  # fmt: skip

__all__ = [
    "KINDS",
    "Factor",
    "Logic",
    "Scored",
    "Structure",
    "Table",
    *(kind.__name__ for kind in KINDS),
]
