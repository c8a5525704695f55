"""The command line: ``assent VERB ...``, one file per verb.

Exit codes: 0 answered, 2 bad usage or bad file, 3 infeasible, 4 no feasible assignment found.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import time

import click

from assent import __version__
from assent.cli.applications import corpus as corpus
from assent.cli.applications.alignment import align
from assent.cli.applications.groups import evaluate, show, train
from assent.cli.applications.parsing import parse
from assent.cli.applications.segmentation import segment
from assent.cli.applications.summarization import summarize
from assent.cli.applications.tagging import tag
from assent.cli.compare import compare
from assent.cli.convert import convert
from assent.cli.decode import decode
from assent.cli.ground import ground
from assent.cli.info import info
from assent.cli.k_best import k_best
from assent.cli.kinds import kinds
from assent.cli.solvers import solvers
from assent.cli.warm import warm


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Decode structured models: one answer all parts agree on, and a proof of how good it is."""


for verb in (decode, k_best, compare, ground, convert, info, kinds, solvers, warm):
    main.add_command(verb)

# Applications.
for verb in (train, evaluate, show, tag, parse, align, segment, summarize):
    main.add_command(verb)


def _ready_output() -> None:
    """Standard output that can be written to, in UTF-8 as files are unless it is a terminal."""
    if sys.stdout is None:  # closed when the program was started
        sys.stdout = io.StringIO()
    elif isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")


def run() -> None:
    """The program ``assent``: a time limit counts from its start.

    What the processor did for it until now is what starting took.
    """
    _ready_output()
    try:
        main(prog_name="assent", obj=time.perf_counter() - time.process_time())
    except OSError as error:  # no room where standard output goes, for one
        where = "" if error.filename else " (standard output)"
        click.echo(f"Error: {error}{where}", err=True)
        # What is left to write goes nowhere, or Python would complain when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(2) from None
    finally:
        # Python would look through all objects once more when it ends, for a fifth of a second.
        gc.freeze()
