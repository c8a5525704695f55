"""Why a run ended without a proof, in words."""

from __future__ import annotations

from assent.result import Status

ITERATION_LIMIT = f"Iteration limit. {Status.STOPPED.value}"
TIME_LIMIT = f"Time limit. {Status.STOPPED.value}"
INTERRUPTED = f"Interrupted. {Status.STOPPED.value}"
CALLED_OFF = f"Stopped by the callback. {Status.STOPPED.value}"
ROUNDING_ONLY = f"The gap is closed up to rounding only. {Status.STOPPED.value}"
NOT_COMPILED = (
    "Time limit, which compiling kernels would have exceeded: no solver has begun. Compile them "
    "beforehand with `assent warm`, install a wheel, which has them, or give more time."
)
