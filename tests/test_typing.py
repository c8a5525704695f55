"""Types that a user's program sees: checked strictly, as the user's own checker would."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "typed_program.txt"  # no module: it is never run
SOURCE = Path(__file__).parents[1] / "src"


def wanted():
    """Types by line, as the comments of the program have them."""
    return {
        number: line.partition("#")[2].strip()
        for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
        if line.startswith("reveal_type")
    }


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.read_text())
    return path


def test_a_users_program_is_typed(program, tmp_path):
    command = [
        sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=",
        f"--cache-dir={tmp_path / 'cache'}", str(program),
    ]  # fmt: skip
    done = subprocess.run(
        command, env={**os.environ, "MYPYPATH": str(SOURCE)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = {
        int(line): kind
        for line, kind in re.findall(r":(\d+): note: Revealed type is \"(.*)\"", done.stdout)
    }
    assert told == wanted() and len(told) > 10


def test_pyright_agrees(program):
    """The other checker, in its strict mode; it leaves modules out of the names of types."""
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(SOURCE)]}
    (program.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [
        sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable,
        "--project", str(program.parent), str(program),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=program.parent)
    told, errors = {}, []
    for item in json.loads(done.stdout)["generalDiagnostics"]:
        kind = re.fullmatch(r'Type of "(?s:.*)" is "(.*)"', item["message"])
        if kind is None:
            errors.append(item["message"])
        else:
            told[item["range"]["start"]["line"] + 1] = kind[1]
    assert errors == []
    assert told == {line: re.sub(r"\b(\w+\.)+", "", kind) for line, kind in wanted().items()}
