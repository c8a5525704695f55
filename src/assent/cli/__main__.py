"""Runs the command line as ``python -m assent.cli``."""

from assent.cli import main

main(prog_name="assent")
