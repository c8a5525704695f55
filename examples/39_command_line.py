"""The command line: a model in a file, an answer as JSON.

Any language can write a `.uai` file; `assent decode FILE --json` answers with value, bound and
assignment, and its exit code says whether there is an answer.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Three variables of two states; a table each for 0-1 and 1-2, and one for each alone.
MODEL = """MARKOV
3
2 2 2
5
1 0
1 1
1 2
2 0 1
2 1 2

2 1.0 2.0
2 3.0 1.0
2 1.0 1.5
4 5.0 1.0 1.0 5.0
4 1.0 4.0 4.0 1.0
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.uai"
    path.write_text(MODEL)
    command = [sys.executable, "-m", "assent.cli", "decode", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
answer = json.loads(done.stdout)
print(f"$ assent decode model.uai --json   # exit code {done.returncode}")
print({name: answer[name] for name in ("status", "feasible", "assignment")})
