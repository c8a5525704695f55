"""Options, arguments and checks that several commands share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assent.cli.model_arguments import (
    EXISTING_FILE,
    InputFolder,
    WritableFile,
    bad_files_reported,
)

if TYPE_CHECKING:
    from assent.io import FileModel


def _is_table(path: Path) -> bool:
    """Whether rules may read a file of their folder: tables with or without a suffix."""
    from assent.logic.data_files import SUFFIXES

    return not path.suffix or path.name.endswith(SUFFIXES)


class Amount(click.FloatRange):
    """A number in a range: ``nan`` is none, and infinity only where it may be."""

    def __init__(self, *, may_be_zero: bool = True, may_be_infinite: bool = False) -> None:
        super().__init__(min=0, min_open=not may_be_zero)
        self.most = math.inf if may_be_infinite else sys.float_info.max

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not number <= self.most:
            why = "no number" if math.isnan(number) else "not finite"
            self.fail(f"{value!r} is {why}.", param, ctx)
        return number


class WholeNumber(click.IntRange):
    """How many of something, or the number of one."""

    def __init__(self, least: int = 1) -> None:
        super().__init__(min=least)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number > _MOST:
            self.fail(f"{number} is more than the most there can be, {_MOST}.", param, ctx)
        return number


# Whole numbers that all arrays can hold.
_MOST = 2**31 - 1

# Seconds of a time limit.
POSITIVE = Amount(may_be_zero=False, may_be_infinite=True)
# Tolerances, penalties and sizes.
AMOUNT = Amount()
COUNT = WholeNumber()

file_argument = click.argument("file", type=EXISTING_FILE)
evidence_option = click.option(
    "--evidence", type=EXISTING_FILE, help="Observed states, for a .uai model."
)
data_option = click.option(
    "--data",
    type=InputFolder(_is_table),
    help="Folder of a rule file's data; by default the file's.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="For the randomized part of rounding.",
)
training_seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random choices."
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress, no summary.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
markdown_option = click.option("--markdown", is_flag=True, help="Print a Markdown table.")


def _check_plot(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if value is None:
        return value
    if find_spec("matplotlib") is None:
        raise click.UsageError('--plot needs matplotlib: pip install "assent[plot]"')
    from matplotlib.backend_bases import FigureCanvasBase

    suffix = value.suffix[1:].lower()
    if suffix and suffix not in FigureCanvasBase.get_supported_filetypes():
        raise click.BadParameter(f"{value} should end in .png, .svg or .pdf", ctx, param)
    return value


def plot_option(text: str) -> Any:
    """``--plot FILE``, which must be a picture; refused without matplotlib before any work."""
    return click.option("--plot", type=WritableFile(), callback=_check_plot, help=text)


def load_single(file: Path, evidence: Path | None, verb: str) -> FileModel:
    """The model of a file that must hold one graph."""
    with bad_files_reported():
        from assent.io import load_models

        models = load_models(file, evidence)
    if len(models) > 1:
        raise click.UsageError(f"{verb} takes one graph, and {file} holds {len(models)}")
    return models[0]


def counted(items: Iterable[Any], words: Callable[[int], str], quiet: bool) -> Iterator[Any]:
    """The items as they come; ``words`` says what a live line shows of the number so far."""
    from assent.progress import live_display

    if quiet:
        yield from items
        return
    with live_display(words) as line:
        for number, item in enumerate(items, start=1):
            line.show(number)
            yield item


def finite(number: float) -> float | None:
    """A number for JSON: null where it is infinite or missing."""
    return float(number) if math.isfinite(number) else None
