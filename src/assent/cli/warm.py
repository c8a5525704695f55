"""``assent warm``: compile the kernels before they are needed."""

from __future__ import annotations

import time

import click

from assent.cli.options import quiet_option


@click.command()
@quiet_option
def warm(quiet: bool) -> None:
    """Compile all kernels that are missing, on all cores; later starts load them.

    An installation from a wheel has most of them already. What is compiled is kept in
    $ASSENT_CACHE, or else beside the package or in ~/.cache/assent.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from assent.warm_up.jobs import all_jobs
    from assent.warm_up.workers import do_all

    jobs, begun = all_jobs(), time.perf_counter()
    console = Console(stderr=True, quiet=quiet)
    columns = TextColumn("compiling kernels"), BarColumn(), MofNCompleteColumn()
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=len(jobs))
        finished = do_all(jobs, lambda done: bar.advance(task))
    compiled = sum(done.compile_seconds for done in finished)
    if not quiet:
        took = time.perf_counter() - begun
        click.echo(f"Kernels are ready after {took:.0f} s; compiling them took {compiled:.0f} s.")
    for done in finished:
        if done.trouble:
            click.echo(f"not done: {done.job}: {done.trouble}", err=True)
