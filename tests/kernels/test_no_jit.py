"""Everything also runs with the compiler off, so that coverage and debuggers work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# One of each: contract, compilation, certificates and random graphs, in a minute of plain Python.
SUBSET = [
    "tests/factors/test_factors.py::test_every_kind_is_covered_and_described",
    "tests/factors/test_factors.py::test_projections_of_far_points_stay_in_the_hull",
    "tests/compile/test_compiled.py::test_k_of_none_and_of_all",
    "tests/compile/test_compiled.py::test_one_literal_factors",
    "tests/compile/test_compiled.py::test_forbidden_pairs",
    "tests/compile/test_compiled.py::test_evidence_that_propagates",
    "tests/factors/test_tables.py::test_variables_of_one_value_in_tables",
    "tests/factors/test_tables.py::test_evidence_fills_a_knapsack",
    "tests/factors/test_tables.py::test_evidence_completes_a_parity",
    "tests/factors/test_tables.py::test_a_potts_that_forbids_every_label_keeps_its_variables_apart",
    "tests/factors/test_sequences.py::test_a_chain_equals_its_edges",
    "tests/factors/test_matching.py::test_evidence_takes_capacity",
    "tests/factors/test_cut.py::test_evidence",
    "tests/factors/test_cut.py::test_tables_and_negated_nodes",
    "tests/factors/test_sentence_trees.py::test_two_roots_are_infeasible_where_one_is_asked_for",
    "tests/factors/test_sentence_trees.py::test_inner_marginals_of_automata_are_tables_as_written",
    "tests/proof/test_certify.py::test_a_certificate_states_and_proves_its_claims",
    "tests/proof/test_certify.py::test_infeasibility_by_a_ray[AD3]",
    "tests/test_decode.py::test_reading_a_result",
    "tests/test_decode_many.py::test_one_graph_under_many_scores",
    "tests/test_decode_many.py::test_infeasible_problems_in_the_batch",
    "tests/test_k_best.py::test_ties_are_told_apart",
    "tests/solvers/direct/test_variable_elimination.py::test_evidence_is_kept",
    "tests/solvers/search/test_depth_first.py::test_evidence_is_kept",
    "tests/solvers/direct/test_roof_duality.py::test_ties_are_decided_where_they_can_be",
    "tests/solvers/cutting_planes/test_tightened.py::test_a_cycle_is_exact[batch0]",
    "tests/test_decode.py::test_a_relaxed_answer_is_feasible_and_bounded",
]


def test_a_subset_passes_without_the_compiler():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUBSET],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
