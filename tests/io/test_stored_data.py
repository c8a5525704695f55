"""Files people have: every stored model is read, and some are compared with known optima."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

import assent as at
from assent.io import (
    FgModel,
    load_graph,
    load_models,
    read_uai,
    uai_order,
    uai_to_graph,
    write_fg,
)

FG_TYPES = ["XOR", "XOROUT", "ATMOSTONE", "OR", "OROUT", "ANDOUT", "IMPLY", "PAIR"]


@pytest.fixture(scope="module")
def data():
    folder = os.environ.get("ASSENT_DATA")
    if folder is None:
        pytest.skip("ASSENT_DATA is not set: no stored models to read")
    return Path(folder)


def table(path):
    with open(path) as lines:
        return {row["file"]: row for row in csv.DictReader(lines, delimiter="\t")}


def test_every_uai_model_is_read_and_becomes_a_graph(data):
    rows = table(data / "uai" / "instances.tsv")
    assert rows
    for name, row in rows.items():
        path = data / "uai" / name
        model = read_uai(f"{path}.gz", evidence=f"{path}.evid")
        found = (model.kind, model.n_variables, model.n_factors, len(model.evidence))
        expected = (row["kind"], *(int(row[key]) for key in ("nvars", "nfactors", "nevid")))
        assert found == expected, name
        assert len(model.log_tables) == int(row["table_entries"]), name
        graph = uai_to_graph(model)
        assert len(uai_order(model)) == model.n_variables, name
        assert graph.size >= model.n_variables, name


@pytest.mark.parametrize(
    "name",
    [
        "bayes/water.uai",
        "dbn/rus_20_40_9_3.uai",
        "grids/grid40x40.f2.uai",
        "pedigree/Family2Dominant.1.5loci.uai",
        "promedas/or_chain_111.uai",
        "segmentation/Segmentation_12.uai",
        "sidechain/pdb1etl.uai",
        "sidechain/pdb1fxd.uai",
        "sidechain/pdb1pen.uai",
        "wcsp_uai14/wcsp_15.uai",
    ],
)
def test_relaxations_of_uai_models(data, name):
    row = table(data / "uai" / "instances.tsv")[name]
    path = data / "uai" / name
    [loaded] = load_models(f"{path}.gz", evidence=f"{path}.evid")
    result = at.decode(loaded.graph, at.LinearProgram())
    assert result.bound == pytest.approx(float(row["lp_logscore"]), rel=1e-6, abs=1e-6)
    if row["map_status"] == "optimal":  # the best known of the others may yet be beaten
        assert result.value <= float(row["map_logscore"]) + 1e-5
    model = read_uai(f"{path}.gz", evidence=f"{path}.evid")
    score = model.score(loaded.assignment(result))
    assert score == pytest.approx(result.value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["repo_coref.npz", "repo_parsing_excerpt.npz"])
def test_relaxations_of_fg_models(data, name, tmp_path):
    stored = np.load(data / "instances" / name)
    literals = np.where(stored["fneg"], ~stored["fvar"], stored["fvar"])
    parts = np.split(literals, stored["fptr"][1:-1])
    factors = [
        (FG_TYPES[kind], part.tolist(), [score] if FG_TYPES[kind] == "PAIR" else [])
        for kind, part, score in zip(stored["ftype"], parts, stored["fpot"], strict=True)
    ]
    path = tmp_path / "model.fg.xz"
    write_fg(FgModel.from_factors(stored["var_logpot"], factors), path)
    result = at.decode(load_graph(path), at.LinearProgram())
    reference = float(table(data / "instances" / "reference.tsv")[name]["lp_optimum"])
    assert result.bound == pytest.approx(reference, rel=1e-7)
