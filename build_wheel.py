"""Build a wheel that carries compiled kernels: ``make wheel``, or ``python build_wheel.py``.

For every baseline processor that this machine can stand in for, a warm-up is run by processes that
compile for that processor, and once more, when everything is compiled, to see what Python loads:
functions that only kernels call are part of their callers' code.  Those files become package data
of a wheel for this platform, this Python and this Numba.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "wheel"
# What a distribution is built from.
SOURCES = ("src", "pyproject.toml", "setup.py", "README.md", "LICENSE")


def build(
    output: Path, jobs: list[str], baselines: list[str], stage: Path, cache: Path | None = None
) -> Path:
    """Build a wheel in ``output`` with what ``jobs`` need on ``baselines``; returns its path.

    The sources are copied to ``stage``; compiled code is kept in ``cache``, and used again.
    """
    from assent.kernels.kernel_cache import ship

    shutil.rmtree(stage, ignore_errors=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "shipped")
            shutil.copytree(ROOT / name, stage / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, stage)
    shipped = stage / "src" / "assent" / "kernels" / "shipped"
    for baseline in baselines:
        for path in compile_for(baseline, jobs, cache):
            folder = shipped / baseline / path.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            ship(path, folder)
    output.mkdir(parents=True, exist_ok=True)
    before = set(output.glob("*.whl"))
    command = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([sys.executable, "-m", *command, str(output), str(stage)], check=True)
    return max(output.glob("*.whl"), key=lambda path: (path not in before, path.stat().st_mtime))


def compile_for(baseline: str, jobs: list[str], cache: Path | None) -> list[Path]:
    """Files of the compiled kernels that Python loads in the course of ``jobs``."""
    environment = {
        **os.environ,
        **({} if cache is None else {"ASSENT_CACHE": str(cache)}),
        "NUMBA_CPU_NAME": baseline,
        "NUMBA_CPU_FEATURES": "",  # those of that processor, not of this one
        "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that others may not have
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [sys.executable, "-m", "assent.warm_up", *jobs]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    again = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return list(map(Path, json.loads(again.stdout)))


def main() -> None:
    """Build a wheel with all kernels, in ``dist``."""
    sys.path.insert(0, str(ROOT / "src"))
    from assent.kernels.kernel_cache import BASELINES, has_features
    from assent.warm_up.jobs import all_jobs

    known = BASELINES.get(platform.machine(), {})
    baselines = [name for name in known if has_features(known[name])]
    for name in known.keys() - set(baselines):
        print(f"This machine cannot run code for {name}: the wheel has none.")
    wheel = build(ROOT / "dist", all_jobs(), baselines, BUILD / "stage", BUILD / "kernels")
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
