"""Runs the command line as ``python -m assent.cli``."""

from assent.cli import run

run()
