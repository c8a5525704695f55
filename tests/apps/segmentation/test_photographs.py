"""Photographs from files to masks, by the command line."""

import json
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image
from skimage.color import rgb2lab

from assent.apps.segmentation import LabelSet, read_photographs, segmentation_score
from assent.apps.segmentation.data import read_mask
from assent.apps.segmentation.features.superpixels import superpixels
from assent.cli import main
from assent.io.text import FormatError
from tests.apps.segmentation.discs import SIZE, disc, write_discs


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder to train on, one to test on, and a model."""
    root = tmp_path_factory.mktemp("discs")
    seen, unseen = write_discs(root / "seen", range(8)), write_discs(root / "unseen", range(20, 24))
    done = run("train", "segmenter", "--images", seen / "images", "--masks", seen / "masks",
               "--scribbles", seen / "scribbles", "--superpixels", 0,
               "--output", root / "model")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "2 labels learnt from 8 photographs" in done.stdout
    return root, unseen


def test_discs_are_found(trained):
    root, unseen = trained
    done = run("segment", "--model", root / "model", "--images", unseen / "images",
               "--scribbles", unseen / "scribbles", "--output", root / "found")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert set(np.unique(read_mask(root / "found" / "disc20.png"))) == {0, 255}
    done = run("evaluate", "segmentations", unseen / "masks", root / "found", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["error"] < 0.02
    assert answer["iou"]["255"] > 0.9
    assert [file["name"] for file in answer["files"]] == [f"disc{i}" for i in range(20, 24)]
    shown = run("evaluate", "segmentations", unseen / "masks", root / "found")
    assert f"mean IoU {answer['mean_iou']:.4f}" in shown.stdout
    done = run("show", "segmentation", unseen / "images", root / "found", "--gold",
               unseen / "masks", "--output", root / "side.png")  # fmt: skip
    assert done.exit_code == 0, done.output
    picture = np.asarray(Image.open(root / "side.png"))
    assert picture.shape == (22 + 4 * 328, 3 * 328 - 8, 3)
    # Left the photograph, in the middle gold, right the answer: alike but for a few pixels.
    gold, found = picture[30:340, 328:648].astype(int), picture[30:340, 656:].astype(int)
    assert (gold != found).any(axis=2).mean() < 0.15


def test_models_with_scribbles_need_them(trained):
    root, unseen = trained
    done = run("segment", "--model", root / "model", "--images", unseen / "images",
               "--output", root / "none")  # fmt: skip
    assert done.exit_code == 2
    assert "trained with scribbles" in done.stderr


def test_bad_files_are_named(tmp_path):
    folder = write_discs(tmp_path / "bad", range(2))
    train = ("train", "segmenter", "--images", folder / "images", "--masks", folder / "masks",
             "--output", tmp_path / "model")  # fmt: skip
    mask = folder / "masks" / "disc1.png"

    def fails(text):
        done = run(*train)
        assert done.exit_code == 2
        assert text in done.stderr

    Image.fromarray(np.zeros((5, 7), np.uint8)).save(mask)
    fails(f"disc1.png: 7 x 5 pixels, but {folder / 'images' / 'disc1.png'} has {SIZE} x {SIZE}")
    Image.fromarray(disc(1)[0]).save(mask)
    fails("disc1.png: a mask has numbers of labels, and this picture has colours")
    mask.write_bytes(b"")
    fails("disc1.png: not a picture that can be read (the file is empty)")
    mask.unlink()
    fails("has no file named disc1")
    (tmp_path / "empty").mkdir()
    done = run("evaluate", "segmentations", tmp_path / "empty", folder / "masks")
    assert done.exit_code == 2
    assert "no pictures" in done.stderr


def test_masks_of_a_system_with_other_numbers_are_refused(tmp_path):
    for name, numbers in (("gold", [[0, 255]]), ("system", [[0, 7]])):
        Image.fromarray(np.array(numbers, np.uint8)).save(tmp_path / f"{name}.png")
    done = run("evaluate", "segmentations", tmp_path / "gold.png", tmp_path / "system.png")
    assert done.exit_code == 2
    assert "gold: the system has 7, which is no label of gold" in done.stderr


def test_masks_of_three_equal_channels_and_of_bits(tmp_path):
    mask = disc(0)[1]
    Image.fromarray(np.stack([mask] * 3, axis=2)).save(tmp_path / "rgb.png")
    assert (read_mask(tmp_path / "rgb.png") == mask).all()
    Image.fromarray(mask == 255).save(tmp_path / "bits.png")
    assert set(np.unique(read_mask(tmp_path / "bits.png"))) == {0, 255}


def test_scribbles_in_colour(tmp_path):
    for name in ("images", "scribbles"):
        (tmp_path / name).mkdir()
    Image.fromarray(np.zeros((1, 3, 3), np.uint8)).save(tmp_path / "images" / "a.png")
    marks = np.array([[[219, 0, 0], [0, 0, 0], [255, 255, 207]]], np.uint8)
    Image.fromarray(marks).save(tmp_path / "scribbles" / "a-anno.png")
    found = read_photographs(tmp_path / "images", scribbles=tmp_path / "scribbles")
    assert found[0].scribbles.tolist() == [[0, -1, 1]]
    Image.fromarray(marks * 0).save(tmp_path / "scribbles" / "a-anno.png")
    with pytest.raises(FormatError, match="nothing is marked"):
        _ = found[0]


def test_label_files(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("# numbers and names\n3 tree\n4 tree\n\n7 ground # flat\n")
    labels = LabelSet.read(path)
    assert labels.names == ("tree", "ground")
    assert labels.indices(np.array([7, 4, 3, 5, 9])).tolist() == [1, 0, 0, -1, -1]
    assert labels.written(np.array([1, 0])).tolist() == [7, 3]
    for text, problem in (("3 tree\n3 ground\n", "line 2: 3 is listed before"),
                          ("tree 3\n", "line 1: expected a number and a name"),
                          ("3 tree\n", "only label is tree")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ValueError, match=problem):
            LabelSet.read(path)


def test_scores_count_known_pixels_only():
    gold, system = np.array([[0, 1, -1], [1, 1, 0]]), np.array([[0, 1, 0], [0, 1, 1]])
    score = segmentation_score([(gold, system)], 3)
    assert score.error == pytest.approx(2 / 5)
    assert score.intersection_over_union[:2].tolist() == [1 / 3, 2 / 4]
    assert np.isnan(score.intersection_over_union[2])
    assert score.mean_intersection_over_union == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_noise_does_not_swallow_superpixels():
    picture = np.random.default_rng(0).integers(0, 256, (40, 60, 3)).astype(np.uint8)
    found = superpixels(picture, rgb2lab(picture), 100)
    assert 50 <= found.regions.max() + 1 <= 200


def test_superpixels_keep_to_colours_and_know_their_neighbours():
    picture = np.zeros((12, 16, 3), np.uint8)
    picture[:, 8:] = (250, 200, 10)
    lab = rgb2lab(picture)
    found = superpixels(picture, lab, 12)
    left, right = found.regions[:, :8], found.regions[:, 8:]
    assert not set(np.unique(left)) & set(np.unique(right))
    assert np.unique(found.regions).tolist() == list(range(found.regions.max() + 1))
    touching, steps = {}, {}
    for y, x in product(range(12), range(16)):
        for v, u in ((y + 1, x), (y, x + 1)):
            if v < 12 and u < 16 and found.regions[y, x] != found.regions[v, u]:
                pair = tuple(sorted((found.regions[y, x], found.regions[v, u])))
                touching[pair] = touching.get(pair, 0) + 1
                steps[pair] = steps.get(pair, 0.0) + np.linalg.norm(lab[y, x] - lab[v, u])
    pairs = list(map(tuple, found.edges))
    assert sorted(pairs) == sorted(touching)
    assert found.length.tolist() == [touching[pair] for pair in pairs]
    assert found.step.tolist() == pytest.approx([steps[p] / touching[p] for p in pairs])
