"""A wheel with compiled kernels: built, installed elsewhere, and asked for a first answer."""

import json
import os
import platform
import subprocess
import sys
import zipfile

import pytest

import assent as at
import build_wheel
from assent.kernels.kernel_cache import BASELINES, has_features

# A model whose kernels compile in seconds.
MODEL = """
import assent as at
graph = at.FactorGraph()
x = graph.binary(3, scores=[1.0, -2.0, 0.5], name="x")
graph.add(at.Pair(x[:-1], x[1:], scores=[1.5, -1.0]))
graph.add(at.AtMost(2, x))
result = at.decode(graph, at.LinearProgram())
"""
LINKABLE = b"BC\xc0\xde"  # how LLVM's code begins
LOOK = """
import json
from assent.kernels import kernel_cache
from assent.kernels.compile_clock import compile_seconds
print(json.dumps({
    "package": at.__file__, "answer": result[x].tolist(), "bound": result.bound,
    "compiled": compile_seconds(), "told": result.trace.compile_seconds,
    "loaded": list(map(str, kernel_cache.loaded)),
}))
"""


@pytest.fixture(scope="module")
def baseline():
    known = BASELINES.get(platform.machine(), {})
    able = [name for name, features in known.items() if has_features(features)]
    if not able:
        pytest.skip("there is no baseline for this processor")
    return able[-1]


@pytest.fixture(scope="module")
def wheel(baseline, tmp_path_factory):
    pytest.importorskip("setuptools", minversion="77", reason="see the dev extra")
    folder = tmp_path_factory.mktemp("wheel")
    program = folder / "program.py"
    program.write_text(MODEL)
    return build_wheel.build(folder / "dist", [f"example {program}"], [baseline], folder / "stage")


def test_the_wheel_is_for_this_python_and_platform(wheel, baseline):
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert f"-{version}-{version}-" in wheel.name and platform.machine() in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert any(f"kernels/shipped/{baseline}/" in name for name in names)
    assert "assent/py.typed" in names


def test_the_wheel_has_machine_code_alone(wheel):
    """What only compiling reads would be four fifths of it."""
    with zipfile.ZipFile(wheel) as files:
        kernels = [name for name in files.namelist() if name.endswith(".kernel")]
        assert kernels and not any(LINKABLE in files.read(name) for name in kernels)


def test_a_first_answer_compiles_nothing(wheel, tmp_path):
    site, own = tmp_path / "site", tmp_path / "own"
    install = ["pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run([sys.executable, "-m", *install], check=True)
    environment = {**os.environ, "PYTHONPATH": str(site), "ASSENT_CACHE": str(own)}
    run = [sys.executable, "-c", MODEL + LOOK]
    done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    names: dict = {}
    exec(MODEL, names)
    assert seen["answer"] == names["result"][names["x"]].tolist()
    assert seen["bound"] == names["result"].bound
    assert seen["package"].startswith(str(site)) and not at.__file__.startswith(str(site))
    assert seen["compiled"] == seen["told"] == 0.0
    assert seen["loaded"] and all(path.startswith(str(site)) for path in seen["loaded"])
    assert not own.exists()
