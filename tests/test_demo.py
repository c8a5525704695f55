"""The tour runs without a terminal, saves its pictures, and its chapters keep their promises."""

import numpy as np
import pytest
from click.testing import CliRunner

import assent as at
from assent.demo import convergence, pictures, restoration, timetable
from assent.demo.__main__ import main

PICTURES = ["convergence.png", "restoration.png", "sentence.svg", "timetable.png"]


def test_tour_tells_its_story_and_saves_pictures(tmp_path):
    folder = tmp_path / "new" / "folder"
    run = CliRunner().invoke(main, ["--output", str(folder)], catch_exceptions=False)
    assert run.exit_code == 0
    for words in ("restored", "Certificate", "INFEASIBLE", "bound falls", "learned VERB", "saved"):
        assert words in run.output
    assert sorted(path.name for path in folder.iterdir()) == PICTURES
    assert all(path.read_bytes().startswith((b"\x89PNG", b"<svg")) for path in folder.iterdir())


def test_tour_goes_on_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "find_spec", lambda name: None)
    run = CliRunner().invoke(main, ["--output", str(tmp_path)], catch_exceptions=False)
    assert run.exit_code == 0
    assert "Other pictures need matplotlib" in run.output
    assert [path.name for path in tmp_path.iterdir()] == ["sentence.svg"]


def test_restoration_removes_most_of_the_noise():
    clean = restoration.draw()
    noisy = restoration.add_noise(clean)
    restored, _, result = restoration.restore(noisy)
    assert result.status is at.Status.OPTIMAL
    assert (restored != clean).sum() < 0.2 * (noisy != clean).sum()


def test_braille_has_one_dot_per_pixel():
    picture = np.zeros((4, 4), bool)
    picture[0, 0] = picture[3, 3] = True
    assert restoration.braille(picture) == "\u2801\u2880"


def test_timetable_obeys_its_rules():
    graph, slot = timetable.model()
    result = at.decode(graph)
    assert result.status is at.Status.OPTIMAL
    assert result.certificate.verify()
    chosen = dict(zip(timetable.NAMES, result.labels[slot].tolist(), strict=True))
    assert chosen["poetry"] == "Wed 14"
    assert chosen["chemistry"][:3] != chosen["physics"][:3]
    for who in ("Ada", "Ben", "Cleo", "red", "blue"):
        own = [chosen[name] for name, facts in timetable.LESSONS.items() if who in facts]
        assert len(set(own)) == len(own)


def test_impossible_wish_is_named():
    graph, slot = timetable.model()
    timetable.ask_too_much(graph, slot)
    result = at.decode(graph)
    assert result.status is at.Status.INFEASIBLE
    assert result.certificate.verify()
    named = timetable.conflict_names(result)
    assert {f"Ada's wish for {day}" for day in timetable.DAYS} <= set(named)
    assert "every lesson gets a slot" in named


@pytest.mark.parametrize("seed", [1, 2])
def test_proof_closes(seed):
    result = at.decode(convergence.attracting_grid(seed))
    assert result.status is at.Status.OPTIMAL
    assert result.certificate.verify()
