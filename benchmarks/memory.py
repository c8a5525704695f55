"""Peak memory of this process, which can be asked for again and again."""

from __future__ import annotations

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # the kernel's code for "forget the peak so far"


def forget_peak() -> int:
    """Start a new peak where the system allows it; returns the bytes in use now."""
    try:
        CLEAR.write_text(RESET_PEAK)
    except OSError:  # elsewhere than on Linux the peak of the run has to do
        return peak()
    return peak()


def peak() -> int:
    """The most bytes resident since the last `forget_peak`."""
    if STATUS.is_file():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
