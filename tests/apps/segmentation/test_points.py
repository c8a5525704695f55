"""Point clouds from files to labels, by the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image
from scipy.spatial import cKDTree

from assent.apps.segmentation import LabelSet, Segmenter, point_scene
from assent.apps.segmentation.data import read_points, write_points
from assent.apps.segmentation.data.points import PointCloud
from assent.apps.segmentation.features.point_features import nearest_neighbours, spin_images
from assent.apps.segmentation.model.node_classifier import NodeClassifier
from assent.cli import main
from assent.errors import ModelError
from assent.io.text import FormatError
from tests.apps.segmentation.clouds import BUSH, GROUND, UNDETERMINED, WALL, cloud, write_cloud


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("classes", "labels", "voxel", "error"),
    [
        ("", 3, 0.0, 0.03),
        (f"{GROUND} rest\n{WALL} rest\n{BUSH} bush\n", 2, 0.5, 0.02),
    ],
)
def test_surfaces_and_bushes_are_told_apart(tmp_path, classes, labels, voxel, error):
    seen = [write_cloud(tmp_path / f"seen{seed}.xyz.txt", seed) for seed in range(4)]
    unseen = write_cloud(tmp_path / "unseen.txt", 100)
    more = ("--unknown", UNDETERMINED)
    if classes:
        (tmp_path / "classes").write_text(classes)
        more = ("--classes", tmp_path / "classes")
    files = [argument for path in seen for argument in ("--points", path)]
    done = run("train", "segmenter", *files, *more, "--voxel", voxel, "--output",
               tmp_path / "model")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"{labels} labels learnt from 4 clouds of points, " in done.stdout
    nodes = int(done.stdout.split()[-2])
    assert nodes < 4800 if voxel else nodes == 4800
    done = run("segment", "--model", tmp_path / "model", "--points", unseen,
               "--output", tmp_path / "found")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = tmp_path / "found" / "unseen.xyz"
    done = run("evaluate", "segmentations", unseen, found, *more, "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["error"] < error
    assert len(answer["iou"]) == labels
    done = run("show", "segmentation", unseen, found, "--gold", unseen,
               "--output", tmp_path / "seen.png")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert np.asarray(Image.open(tmp_path / "seen.png")).shape[1] == 3 * 328 - 8
    done = run("segment", "--model", tmp_path / "model", "--images", tmp_path,
               "--output", tmp_path / "none")  # fmt: skip
    assert done.exit_code == 2
    assert "the model is for points, not for photographs" in done.stderr


def test_files_of_points_keep_them(tmp_path):
    points, numbers = cloud(0)
    write_points(tmp_path / "cloud.txt.gz", points, numbers)
    again = read_points(tmp_path / "cloud.txt.gz", labelled=True)
    assert again.name == "cloud"
    assert (again.points == points).all()
    assert (again.numbers == numbers).all()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# nothing\n", "no points in this file"),
        ("1 2 3 4\n1 2 x 4\n", "line 2: expected x y z and a number of .* '1 2 x 4'"),
        ("# a\n1 2 3 4\n\n1 2 3\n", "line 4: expected .*4 columns as before"),
        ("1 2 3\n", "line 1: expected x y z and a number of its label"),
        ("1 2 3 0.5\n", "line 1"),
        ("1 2 nan 1\n", "line 1"),
        ("1 2 3 1\n1 -1e300 2 1\n", r"line 2: .* coordinates up to 1e\+12"),
    ],
)
def test_lines_that_are_no_points_are_named(tmp_path, text, problem):
    path = tmp_path / "points.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_points(path, labelled=True)


@pytest.mark.parametrize(
    ("side", "problem"),
    [
        (0.001, "take larger"),
        (1e9, "take smaller"),
        (np.nan, "a number from"),
        (1e-300, "a number"),
    ],
)
def test_sides_of_voxels_that_make_no_scene_are_refused(side, problem):
    with pytest.raises(ModelError, match=problem):
        point_scene(PointCloud("few", np.arange(9.0).reshape(3, 3)), voxel=side)


def test_answers_are_not_written_over_each_other_or_what_was_read(tmp_path):
    files = [write_cloud(tmp_path / f"scan.{year}.xyz", year) for year in (2020, 2021)]
    plain = write_cloud(tmp_path / "plain.xyz", 0)
    before = plain.read_bytes()
    for points, output, problem in (
        (files, tmp_path / "found", "would both be"),
        ([plain], tmp_path, "plain.xyz would be written over it"),
    ):
        given = [argument for path in points for argument in ("--points", path)]
        done = run("segment", "--model", plain, *given, "--output", output)
        assert done.exit_code == 2
        assert problem in " ".join(done.stderr.split())
    assert plain.read_bytes() == before
    done = run("segment", "--model", plain, "--images", tmp_path, "--output", tmp_path)
    assert done.exit_code == 2
    assert "over the photographs" in " ".join(done.stderr.split())


def test_clouds_of_different_size_are_not_compared(tmp_path):
    for name, text in (("gold", "1 2 3 4\n1 2 4 5\n"), ("system", "1 2 3 4\n")):
        (tmp_path / name).write_text(text)
    done = run("evaluate", "segmentations", tmp_path / "gold", tmp_path / "system")
    assert done.exit_code == 2
    assert "system: 1 points, but" in done.stderr


def test_photographs_and_points_are_not_mixed(tmp_path):
    done = run("train", "segmenter", "--output", tmp_path / "model")
    assert done.exit_code == 2
    assert "give either --images FOLDER or --points FILE" in done.stderr


def test_edges_join_the_nearest():
    points = cloud(1, n=20)[0]
    edges = nearest_neighbours(cKDTree(points), points, 3)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.argsort(apart, axis=1)[:, 1:4]
    expected = {tuple(sorted((i, int(j)))) for i in range(len(points)) for j in near[i]}
    assert set(map(tuple, edges.tolist())) == expected


def test_voxels_are_joined_where_they_touch():
    points = np.random.default_rng(0).uniform(0.0, 4.0, (60, 3))
    scene = point_scene(PointCloud("made", points, None), voxel=1.0)
    cells = np.floor(points).astype(int)
    for i in range(60):
        assert ((scene.regions == scene.regions[i]) == (cells == cells[i]).all(axis=1)).all()
    place = {int(node): cell for node, cell in zip(scene.regions, cells, strict=True)}
    expected = {
        (j, k) for j in place for k in place
        if j < k and np.abs(place[j] - place[k]).max() <= 1
    }  # fmt: skip
    assert set(map(tuple, np.sort(scene.edges, axis=1).tolist())) == expected
    with pytest.raises(ModelError, match=r"no voxels of side 0.001 touch; take larger ones"):
        point_scene(PointCloud("made", points, None), voxel=0.001)


def test_models_from_before_voxels_label_points():
    own = PointCloud("made", *cloud(1, n=40))
    scene = point_scene(own)
    width = scene.nodes.shape[1]
    weights = np.random.default_rng(0).normal(size=(width + 1, 2))
    classifier = NodeClassifier(np.zeros(width), np.ones(width), weights)
    labels = LabelSet(("a", "b"), ((0,), (1,)))
    prices = np.zeros(scene.features.shape[1])
    model = Segmenter(labels, classifier, prices, {"of": "points", "neighbours": 5})
    assert (model.segment_points(own) == classifier.scores(scene.nodes).argmax(axis=1)).all()


def test_spin_images_count_neighbours_in_rings_and_at_heights():
    offsets = np.array([[[0.0, 0.1, 0.0], [0.5, 0.0, 2.0], [0.0, 9.0, -0.2], [0.0, 0.2, 0.01]]])
    counts = (spin_images(offsets)[0] ** 2 * 4).round().reshape(4, 7)
    expected = np.zeros((4, 7))
    expected[0, 3], expected[1, 6], expected[3, 2] = 2, 1, 1
    assert (counts == expected).all()
