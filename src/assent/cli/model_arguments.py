"""Files as arguments, and errors in them as one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class WritableFile(click.Path):
    """A file to write; its folder must exist, which is checked before any work is done."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.absolute().parent.is_dir():
            self.fail(f"folder {str(path.parent)!r} does not exist", param, ctx)
        return path


class BadFile(click.ClickException):
    """A file that cannot be read or understood."""

    exit_code = 2


@contextmanager
def bad_files_reported() -> Iterator[None]:
    """Turn errors of reading and converting a model into one line and exit code 2."""
    try:
        yield
    except (ValueError, OSError) as error:  # FormatError and ModelError are ValueErrors
        raise BadFile(str(error)) from None
