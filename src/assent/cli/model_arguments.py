"""Files as arguments, which are not lost by writing over them, and errors in them as one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class InputFolder(click.Path):
    """A folder of files to read; ``reads`` tells whether a path inside is one of them."""

    def __init__(self, reads: Callable[[Path], bool]) -> None:
        super().__init__(exists=True, file_okay=False, path_type=Path)
        self.reads = reads


class WritableFile(click.Path):
    """A file to write; its folder must exist, which is checked before any work is done.

    ``replaces`` names arguments whose files it may take the place of, all that is in them being
    written anew; `FileCommand` refuses others.
    """

    def __init__(self, replaces: Collection[str] = ()) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.replaces = replaces

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.absolute().parent.is_dir():
            self.fail(f"folder {str(path.parent)!r} does not exist", param, ctx)
        return path


class FileCommand(click.Command):
    """A command that writes over no file that it reads, nor twice to one; refused before any work.

    Other spellings of a path and links to it are the same file.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, if no file would be lost."""
        for param in self.params:
            written = ctx.params.get(param.name or "")
            if isinstance(param.type, WritableFile) and isinstance(written, Path):
                for other in self.params:
                    if other is not param and other.name not in param.type.replaces:
                        _refuse_loss(param, written, other, ctx.params.get(other.name or ""))
        return super().invoke(ctx)


def _refuse_loss(param: click.Parameter, written: Path, other: click.Parameter, given: Any) -> None:
    """Raise where a file to write is another argument's, or in its folder and read from there."""
    if not isinstance(other.type, click.Path):
        return
    for path in given if isinstance(given, tuple) else (given,):
        if path is not None and _would_lose(written, path, other.type):
            option = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
            raise click.UsageError(f"{option} would be written over {path}; name another file")


def _would_lose(written: Path, path: Path, kind: click.Path) -> bool:
    """Whether writing a file, which may not be there yet, loses what ``path`` has."""
    if written.exists() and not written.is_file():  # a pipe or a device, where nothing is lost
        return False
    if kind.allow_dash and path == Path("-"):
        return False
    if not path.is_dir():
        same = written.exists() and path.exists() and written.samefile(path)
        return same or written.resolve() == path.resolve()
    inside, folder = written.resolve(), path.resolve()
    if not inside.is_file() or not inside.is_relative_to(folder):
        return False
    return not isinstance(kind, InputFolder) or kind.reads(inside.relative_to(folder))


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
