"""Types that a user's program sees: checked strictly, as the user's own checker would."""

import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "typed_program.txt"  # no module: it is never run
SOURCE = Path(__file__).parents[1] / "src"


def test_a_users_program_is_typed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.read_text())
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
    wanted = {
        number: line.partition("#")[2].strip()
        for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
        if line.startswith("reveal_type")
    }
    assert told == wanted and len(wanted) > 10
