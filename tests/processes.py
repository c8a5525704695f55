"""Programs in processes of their own that are interrupted while they run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys


def interrupted(program: str, *arguments: str) -> str:
    """Output of a Python program after it said "running" and was sent a Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", ".", *sys.path])},
        preexec_fn=listen,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, errors
    return out.strip()


def listen() -> None:
    """What runs in the background was started deaf to Ctrl-C, and so are its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
