"""The example notebook runs from top to bottom, and its answers are those of enumeration."""

import itertools
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

NOTEBOOK = Path(__file__).parents[1] / "examples" / "40_notebook.ipynb"
SECONDS = 300  # a cold start compiles kernels
# Beside what the notebook shows: its first answer, and the scores it is the best for.
READ = "import json; json.dumps([result.value, result['tag'].tolist(), logits.tolist()])"


# The kernel's own messages: asyncio under Python 3.12, zmq under TCP.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_the_notebook_runs_and_shows_what_it_says():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # kept without them
    at = next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith("result ="))
    notebook.cells.insert(at + 1, new_code_cell(READ))
    done = NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").execute()
    shown = [out for cell in done.cells for out in cell.get("outputs", []) if "data" in out]
    pages = " ".join(out["data"].get("text/html", "") for out in shown)
    for text in ("FactorGraph", "OPTIMAL", "rules", "B-PER", "takes", "RoofDuality"):
        assert text in pages
    assert sum("image/png" in out["data"] for out in shown) == 3
    texts = [out["data"]["text/plain"] for out in shown]
    assert "True" in texts and any(text.startswith("((1000, 8)") for text in texts)
    value, found, logits = next(eval(eval(text)) for text in texts if text.startswith("'["))
    logits = np.array(logits)
    best = -np.inf, None
    for tags in itertools.product(range(5), repeat=len(logits)):
        spelt = "".join("oPpLl"[tag] for tag in tags)
        if re.fullmatch("(o|Pp*|Ll*)*", spelt) and re.fullmatch("(o|Ll*)*|.*L[^P]*", spelt):
            best = max(best, (logits[np.arange(len(tags)), list(tags)].sum(), list(tags)))
    assert best[0] == pytest.approx(value) and best[1] == found
