"""Entry point: one thread everywhere, decided before NumPy and Numba are loaded."""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

from benchmarks.cli import main  # noqa: E402

main()
