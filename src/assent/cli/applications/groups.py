"""``assent train TASK``, ``assent evaluate WHAT`` and ``assent show WHAT``."""

from __future__ import annotations

import click


@click.group()
def train() -> None:
    """Train a model of an application."""


@click.group()
def evaluate() -> None:
    """Compare a system's output with gold."""


@click.group()
def show() -> None:
    """Draw an application's output."""
