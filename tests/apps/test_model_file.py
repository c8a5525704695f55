"""Model files come back as they were written, and others are refused with words."""

import numpy as np
import pytest

from assent.apps.model_file import join_models, read_model, write_model
from assent.errors import ModelError

SETTINGS = {"labels": ["NOUN", "Ü"], "threshold": 0.5, "nested": {"a": [1, 2]}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def test_a_model_comes_back(path):
    arrays = {"weights": np.linspace(-1, 1, 7, dtype=np.float32), "ends": np.arange(3)}
    write_model(path, "toy", SETTINGS, arrays)
    found = read_model(path, "toy")
    assert found.settings == SETTINGS
    assert list(found.arrays) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype == array.dtype


def test_eight_bits_are_the_nearest_of_255_steps(path):
    weights = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    write_model(
        path, "toy", {}, {"weights": weights, "none": np.zeros(3)}, eight_bits=["weights", "none"]
    )
    found = read_model(path, "toy").arrays
    step = np.abs(weights).max() / 127
    assert np.abs(found["weights"] - weights).max() <= step * 0.5001
    assert found["weights"].dtype == np.float32
    assert not found["none"].any()


def test_equal_models_give_equal_files(path, tmp_path):
    for name in ("one", "two"):
        write_model(tmp_path / name, "toy", SETTINGS, {"weights": np.arange(5.0)})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_other_kinds_versions_and_files_are_refused(path):
    write_model(path, "tagger", {}, {})
    with pytest.raises(ModelError, match="holds a tagger, and a parser is needed"):
        read_model(path, "parser")
    with pytest.raises(ModelError, match="version 1, this library reads version 2: train it again"):
        read_model(path, "tagger", version=2)
    with path.open("wb") as file:
        np.savez(file, weights=np.zeros(2))
    with pytest.raises(ModelError, match="is no model, and a tagger is needed"):
        read_model(path, "tagger")
    path.write_bytes(b"anything")
    with pytest.raises(ModelError, match=r"damaged or no file of a tagger .*no archive of arrays"):
        read_model(path, "tagger")
    with pytest.raises(OSError):
        read_model(path.with_name("missing"), "tagger")


def test_damage_anywhere_is_told(path):
    write_model(path, "toy", SETTINGS, {"weights": np.arange(50.0)})
    whole = path.read_bytes()
    for cut in range(0, len(whole), 37):
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelError):
            read_model(path, "toy")


def test_pickles_are_not_read(path):
    with pytest.raises(ValueError, match="pickle"):
        write_model(path, "toy", {}, {"things": np.array([{}], dtype=object)})
    with path.open("wb") as file:
        np.savez(file, about=np.array([{}], dtype=object))
    with pytest.raises(ModelError, match="pickle"):
        read_model(path, "toy")


def test_models_in_one_file(path, tmp_path):
    weights = np.linspace(-1, 1, 9, dtype=np.float32)
    write_model(tmp_path / "a", "tagger", {"a": 1}, {"weights": weights}, eight_bits=["weights"])
    write_model(tmp_path / "b", "parser", {"b": 2}, {"weights": -weights}, version=3)
    join_models(path, {"tagger": tmp_path / "a", "parser": tmp_path / "b"})
    for kind, name, version in (("tagger", "a", 1), ("parser", "b", 3)):
        alone = read_model(tmp_path / name, kind, version=version)
        found = read_model(path, kind, version=version)
        assert found.settings == alone.settings
        assert list(found.arrays) == list(alone.arrays)
        np.testing.assert_array_equal(found.arrays["weights"], alone.arrays["weights"])
    with pytest.raises(ModelError, match="holds a tagger and a parser, and an aligner is needed"):
        read_model(path, "aligner")
    with pytest.raises(ModelError, match="version 3"):
        read_model(path, "parser")


def test_a_model_that_cannot_be_written_leaves_the_one_before(path):
    write_model(path, "toy", SETTINGS, {"weights": np.ones(2)})
    with pytest.raises(ValueError, match="pickle"):
        write_model(path, "toy", {}, {"weights": np.ones(9), "none": np.array([object()])})
    assert read_model(path, "toy").settings == SETTINGS
    assert [other.name for other in path.parent.iterdir()] == [path.name]
