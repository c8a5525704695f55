"""Parity-check matrices: files, graphs, and words of real codes."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import assent as at
from assent.io import (
    FormatError,
    alist_from_graph,
    alist_to_graph,
    load_graph,
    read_alist,
    save_graph,
)
from assent.io.alist import write_alist

HAMMING = np.array([[1, 1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1]])


def random_matrix(rng):
    checks = (rng.random((int(rng.integers(1, 6)), int(rng.integers(2, 9)))) < 0.5).astype(int)
    checks[:, 0] = 1  # no check is empty
    return csr_array(checks)


@pytest.mark.parametrize("seed", range(20))
def test_files_and_graphs_keep_the_matrix(seed, tmp_path):
    checks = random_matrix(np.random.default_rng(seed))
    path = tmp_path / "code.alist.xz"
    write_alist(checks, path)
    assert (read_alist(path).toarray() == checks.toarray()).all()
    save_graph(load_graph(path), tmp_path / "again.alist")
    rows = sorted(map(tuple, checks.toarray().tolist()))
    assert sorted(map(tuple, read_alist(tmp_path / "again.alist").toarray().tolist())) == rows


def test_answers_are_the_most_likely_words():
    rng = np.random.default_rng(3)
    g = alist_to_graph(csr_array(HAMMING))
    words = np.array(list(np.ndindex(*[2] * 7)))
    words = words[(words @ HAMMING.T % 2 == 0).all(axis=1)]
    for _ in range(20):
        scores = rng.normal(size=7)
        result = at.decode(g, exact=True, scores={g["x"]: scores})
        assert result.value == pytest.approx((words @ scores).max())
        assert (HAMMING @ result[g["x"]] % 2 == 0).all()


def test_lists_may_be_filled_up_with_zeros_or_not(tmp_path):
    filled, plain = tmp_path / "filled.alist", tmp_path / "plain.alist"
    filled.write_text("3 2\n2 2\n1 2 1\n2 2\n1 0\n1 2\n2 0\n1 2\n2 3\n")
    plain.write_text("3 2\n2 2\n1 2 1\n2 2\n1\n1 2\n2\n1 2\n2 3\n")
    for path in (filled, plain):
        assert read_alist(path).toarray().tolist() == [[1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("3 2\n2 2\n1 2 1\n2 2\n1 0\n1 2\n2 0\n1 2\n2 1\n", "in one half of the file only"),
     ("99999999 2\n", "the number of bits"), ("2 1\n1 2\n1 1\n2\n1\n2\n1 2\n", "a check of bit 2"),
     ("2 1\n1 2\n1 1\n2\n1\n1\n1 1\n", "another one: a bit of check 1"),
     ("1 1\n1 1\n1\n1\n1\n1\n7", "end of the file")],
)  # fmt: skip
def test_what_does_not_follow_the_format_is_named(text, complaint, tmp_path):
    path = tmp_path / "broken.alist"
    path.write_text(text)
    with pytest.raises(FormatError, match=complaint):
        read_alist(path)


def test_what_a_matrix_cannot_say_is_named():
    g = at.FactorGraph()
    x = g.binary(3)
    g.add(at.Parity(x, odd=True))
    with pytest.raises(at.ModelError, match="even parities only"):
        alist_from_graph(g)
    g = at.FactorGraph()
    g.binary(3, scores=1.0)
    with pytest.raises(at.ModelError, match="no scores"):
        alist_from_graph(g)
    g = at.FactorGraph()
    g.categorical(3)
    with pytest.raises(at.ModelError, match="bits only"):
        alist_from_graph(g)


def test_codes_of_the_data_folder():
    root = os.environ.get("ASSENT_DATA")
    if not root or not (Path(root) / "ldpc").is_dir():
        pytest.skip("ASSENT_DATA is unset or has no folder 'ldpc': no real codes at hand")
    for name, shape in (("CCSDS_64_128", (64, 128)), ("WIMAX_288_576", (288, 576))):
        checks = read_alist(Path(root) / "ldpc" / "alist" / f"{name}.alist")
        assert checks.shape == shape
        g = alist_to_graph(checks)
        sent = np.zeros(shape[1], int)
        received = 1.0 - 2.0 * sent + 0.5 * np.random.default_rng(0).normal(size=shape[1])
        result = at.decode(g, scores={g["x"]: -received})
        assert result.status is at.Status.OPTIMAL and (result[g["x"]] == sent).all()
