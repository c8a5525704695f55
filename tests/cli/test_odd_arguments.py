"""Numbers that are none, and files that cannot be read or written."""

import click
import pytest
from click.testing import CliRunner

from assent.cli import main
from assent.cli.options import Amount, WholeNumber

MODEL = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n"


def run(*arguments, input=None):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)


def options(group=main, names=()):
    """All options and arguments that are numbers."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from options(command, (*names, name))
        else:
            yield from (((*names, name), param) for param in command.params)


def test_real_numbers_are_checked_before_any_work():
    """Also by verbs that would meet ``nan`` late, or never and answer something."""
    found = [param for _, param in options() if isinstance(param.type, click.FloatRange)]
    assert len(found) >= 10
    for param in found:
        assert isinstance(param.type, Amount), param.name
        with pytest.raises(click.BadParameter, match="'nan' is no number"):
            param.type.convert("nan", param, None)
        if param.name == "time_limit":
            assert param.type.convert("inf", param, None) == float("inf")
        else:
            with pytest.raises(click.BadParameter, match="'inf' is not finite"):
                param.type.convert("inf", param, None)


def test_counts_are_numbers_that_arrays_can_hold():
    for names, param in options():
        if isinstance(param.type, click.IntRange) and param.name not in ("seed", "base"):
            assert isinstance(param.type, WholeNumber), (names, param.name)
            with pytest.raises(click.BadParameter, match="more than the most there can be"):
                param.type.convert("9" * 30, param, None)


def test_an_answer_goes_where_it_is_asked_to(tmp_path):
    model = tmp_path / "model.uai"
    model.write_text(MODEL)
    assert run("decode", model, "--quiet", "--output", "-").output == "2 1 1\n"
    full = run("decode", model, "--quiet", "--output", "/dev/full")
    assert full.exit_code == 2 and "No space left on device: '/dev/full'" in full.output


@pytest.mark.parametrize("content", [b"\xff\xfeH\x00i\x00", b"caf\xe9", b"", b" \n"])
def test_references_that_cannot_be_compared_with(tmp_path, content):
    """Decoded somehow, they would count as quite other words."""
    gold, system = tmp_path / "gold.txt", tmp_path / "system.txt"
    gold.write_bytes(content)
    system.write_text("Hello there.")
    done = run("evaluate", "summaries", gold, system)
    assert done.exit_code == 2 and f"{gold}" in done.output
    assert "UTF-8" in done.output or "has no words" in done.output
