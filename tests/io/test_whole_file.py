"""Files are replaced when all is written, and left alone if that fails."""

import os
import stat
import time

import pytest

from assent.io.whole_file import visible_files, whole_file


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    return path


def test_the_file_is_replaced_at_the_end(path):
    with whole_file(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert os.listdir(path.parent) == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_was_there_stays_if_writing_fails(path, error):
    with pytest.raises(error), whole_file(path) as file:
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"before"
    assert os.listdir(path.parent) == ["file"]


def test_new_files_have_the_usual_permissions(path):
    plain = path.with_name("plain")
    plain.touch()
    with whole_file(path.with_name("new")) as file:
        file.write(b"")
    modes = [stat.S_IMODE(path.with_name(name).stat().st_mode) for name in ("plain", "new")]
    assert modes[0] == modes[1]


def test_a_file_keeps_its_permissions(path):
    path.chmod(0o640)
    with whole_file(path) as file:
        file.write(b"after")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_may_not_be_written_stays(path):
    path.chmod(0o440)
    if os.access(path, os.W_OK):
        pytest.skip("root may write anything")
    with pytest.raises(PermissionError, match="file"), whole_file(path) as file:
        file.write(b"after")
    assert path.read_bytes() == b"before"


def test_a_link_goes_on_to_point_at_the_file(path):
    link = path.with_name("link")
    link.symlink_to(path)
    with whole_file(link) as file:
        file.write(b"after")
    assert link.is_symlink() and path.read_bytes() == b"after"


def test_pipes_are_written_to():
    reader, writer = os.pipe()
    with whole_file(f"/dev/fd/{writer}") as file:
        file.write(b"through")
    os.close(writer)
    with os.fdopen(reader, "rb") as end:
        assert end.read() == b"through"


def test_a_folder_that_is_not_there(path):
    missing = str(path.with_name("none") / "file")
    with pytest.raises(FileNotFoundError) as told, whole_file(missing):
        pass
    assert told.value.filename == missing


def draft_of_a_killed_process(path):
    """What stays in the folder if a process ends in the middle of writing a file."""
    with pytest.raises(KeyError), whole_file(path) as file:
        file.write(b"half")
        (draft,) = set(os.listdir(path.parent)) - {path.name}
        os.link(path.with_name(draft), path.with_name(f"{draft[:-8]}00.draft"))
        raise KeyError
    (left,) = set(os.listdir(path.parent)) - {path.name}
    return path.with_name(left)


def test_what_a_killed_process_leaves_is_hidden_and_removed_by_a_later_save(path):
    draft = draft_of_a_killed_process(path)
    assert path.read_bytes() == b"before"
    assert draft.name.startswith(".file.") and draft.suffix == ".draft"
    assert visible_files(path.parent) == [path]
    days_ago = time.time() - 2 * 86_400
    with whole_file(path) as file:
        file.write(b"after")
    assert draft.exists()  # perhaps somebody is still writing it
    os.utime(draft, (days_ago, days_ago))
    with whole_file(path.with_name("other")) as file:
        file.write(b"of another file")
    assert draft.exists()
    with whole_file(path) as file:
        file.write(b"after")
    assert sorted(os.listdir(path.parent)) == ["file", "other"]


def test_the_longest_names_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    with whole_file(path) as file:
        file.write(b"all")
    assert path.read_bytes() == b"all"


def test_hidden_files_and_folders_are_not_read(tmp_path):
    for name in ("b", "a", ".hidden", "in/c", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert visible_files(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert visible_files(tmp_path, deep=True) == [tmp_path / n for n in ("a", "b", "in/c")]
