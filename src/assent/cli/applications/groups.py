"""``assent train TASK``, ``assent evaluate WHAT`` and ``assent show WHAT``."""

from __future__ import annotations

import click

from assent.cli.model_arguments import FileCommand


class FileGroup(click.Group):
    """A group of commands on files."""

    command_class = FileCommand


@click.group(cls=FileGroup)
def train() -> None:
    """Train a model of an application."""


@click.group(cls=FileGroup)
def evaluate() -> None:
    """Compare a system's output with gold."""


@click.group(cls=FileGroup)
def show() -> None:
    """Draw an application's output."""
