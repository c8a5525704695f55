"""No command writes over a file that it reads, whatever the path is called."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from assent.cli import main
from assent.cli.model_arguments import FileCommand, InputFolder, WritableFile


def commands(group=main, names=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name), command


def reads_file(param):
    own = param.type
    return isinstance(own, click.Path) and own.exists and own.file_okay


def cases():
    """Every file to write of every command, beside every file that the command reads."""
    for names, command in commands():
        for written in command.params:
            if isinstance(written.type, WritableFile):
                for read in filter(reads_file, command.params):
                    if read.name not in written.type.replaces:
                        yield pytest.param(
                            names, command, written, read,
                            id="-".join([*names, written.name, read.name]),
                        )  # fmt: skip


def arguments(command, folder, given):
    """Arguments with what is ``given`` by name, and a file for all else that is required."""
    words = []
    for param in command.params:
        if param.name in given or param.required:
            own = given.get(param.name, folder / f"other-{param.name}")
            Path(own).touch()
            words += [own] if isinstance(param, click.Argument) else [param.opts[0], own]
    return list(map(str, words))


@pytest.mark.parametrize(("names", "command", "written", "read"), list(cases()))
def test_a_file_that_is_read_is_not_written_over(tmp_path, names, command, written, read):
    assert isinstance(command, FileCommand)
    kept, link = tmp_path / "kept.png", tmp_path / "link.png"
    link.symlink_to(kept)
    (tmp_path / "in").mkdir()
    for spelled in (kept, link, tmp_path / "in" / ".." / "kept.png"):
        kept.write_text("precious")
        given = {written.name: spelled, read.name: kept}
        done = CliRunner().invoke(main, [*names, *arguments(command, tmp_path, given)])
        assert done.exit_code == 2, done.output
        assert f"would be written over {kept}" in done.output
        assert kept.read_text() == "precious"


def test_two_outputs_are_two_files(tmp_path):
    model, one = tmp_path / "model.uai", tmp_path / "one.png"
    model.touch()
    done = CliRunner().invoke(
        main, ["decode", f"{model}", "--output", f"{one}", "--plot", f"{one}"]
    )
    assert done.exit_code == 2 and "--output would be written over" in done.output


def test_files_of_a_folder_that_is_read_are_not_written_over(tmp_path):
    @click.command(cls=FileCommand)
    @click.option("--images", type=InputFolder(lambda path: path.suffix == ".png"))
    @click.option("--output", type=WritableFile())
    def learn(images, output):
        click.echo("done")

    picture, model = tmp_path / "a.png", tmp_path / "model"
    picture.touch()
    model.touch()
    for output, said in (
        (picture, "would be written over"),
        (model, "done"),
        ("/dev/null", "done"),
    ):
        done = CliRunner().invoke(learn, ["--images", f"{tmp_path}", "--output", f"{output}"])
        assert said in done.output
    new = CliRunner().invoke(learn, ["--images", f"{tmp_path}", "--output", f"{tmp_path}/b.png"])
    assert new.output == "done\n"
