"""Files of arrays (``.npz``) that may have been damaged, or be something else altogether."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError


@contextmanager
def open_arrays(path: str | Path, what: str) -> Iterator[Any]:
    """The arrays of a file that holds ``what``, by name, while the block runs.

    Raises:
        ModelError: whatever goes wrong with the content inside the block: a file may be damaged in
            more ways than there are kinds of errors in zip files, arrays, JSON and their readers.
        OSError: if there is no such file, or it may not be read.
    """
    if not isinstance(path, (str, Path)):
        raise TypeError(f"a file is named by its path, got {shown(path)}")
    with open(path, "rb") as raw:
        try:
            if not zipfile.is_zipfile(raw):  # NumPy would speak of pickles, and of loading them
                raise ValueError("it is no archive of arrays")
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as arrays:
                yield arrays
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                f"{path} is damaged or no file of {what} ({type(error).__name__}: {error}); "
                "write it anew, or use an earlier one"
            ) from error
