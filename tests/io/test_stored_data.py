"""Files people have: every stored model is read, and some are compared with known optima."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

import assent as at
from assent.io import FgModel, load_graph, read_uai, write_fg

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


def test_every_uai_model_is_read(data):
    rows = table(data / "uai" / "instances.tsv")
    assert rows
    for name, row in rows.items():
        path = data / "uai" / name
        model = read_uai(f"{path}.gz", evidence=f"{path}.evid")
        found = (model.kind, model.n_variables, model.n_factors, len(model.evidence))
        expected = (row["kind"], *(int(row[key]) for key in ("nvars", "nfactors", "nevid")))
        assert found == expected, name
        assert len(model.log_tables) == int(row["table_entries"]), name


@pytest.mark.parametrize(
    "name",
    ["grids/grid40x40.f2.uai", "segmentation/Segmentation_12.uai", "dbn/rus_20_40_9_3.uai"],
)
def test_relaxations_of_uai_models(data, name):
    row = table(data / "uai" / "instances.tsv")[name]
    path = data / "uai" / name
    graph = load_graph(f"{path}.gz", evidence=f"{path}.evid")
    result = at.decode(graph, at.LinearProgram())
    assert result.bound == pytest.approx(float(row["lp_logscore"]), rel=1e-7)
    assert result.value <= float(row["map_logscore"]) + 1e-5
    model = read_uai(f"{path}.gz", evidence=f"{path}.evid")
    assert model.score(result[graph["x"]]) == pytest.approx(result.value, rel=1e-9)


@pytest.mark.parametrize("name", ["repo_coref.npz", "repo_parsing_excerpt.npz"])
def test_relaxations_of_fg_models(data, name, tmp_path):
    stored = np.load(data / "instances" / name)
    literals = np.where(stored["fneg"], ~stored["fvar"], stored["fvar"])
    parts = np.split(literals, stored["fptr"][1:-1])
    factors = [
        (FG_TYPES[kind], part.tolist(), float(score))
        for kind, part, score in zip(stored["ftype"], parts, stored["fpot"], strict=True)
    ]
    path = tmp_path / "model.fg.xz"
    write_fg(FgModel.from_factors(stored["var_logpot"], factors), path)
    result = at.decode(load_graph(path), at.LinearProgram())
    reference = float(table(data / "instances" / "reference.tsv")[name]["lp_optimum"])
    assert result.bound == pytest.approx(reference, rel=1e-7)
