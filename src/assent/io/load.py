"""Graphs from or to a file; the suffix names the format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.arguments import shown
from assent.errors import ModelError
from assent.io.alist import alist_from_graph, alist_to_graph, read_alist, write_alist
from assent.io.fg import read_fg, write_fg
from assent.io.fg_graph import fg_to_graph
from assent.io.graph_fg import fg_from_graph
from assent.io.graph_uai import uai_from_graph
from assent.io.libdai import is_libdai, read_libdai
from assent.io.text import FormatError, PathLike, read_text
from assent.io.uai import UaiModel, read_uai, write_evidence, write_uai
from assent.io.uai_graph import uai_order, uai_to_graph
from assent.io.wcnf import read_wcnf, wcnf_from_graph, wcnf_to_graph, write_wcnf
from assent.io.wcsp import read_wcsp
from assent.model.graph import FactorGraph

if TYPE_CHECKING:
    from assent.logic.rules_file import RuleModel
    from assent.result import Result

FORMATS = (".uai", ".fg", ".lg", ".alist", ".wcnf")  # .lg: UAI models in logarithms
READ_ONLY = (".wcsp",)
RULES = (".rules", ".txt")  # rules in first-order logic: read only
_COMPRESSED = (".gz", ".xz")


@dataclass(frozen=True)
class FileModel:
    """A graph and the order of its file's variables.

    Attributes:
        graph: the model.
        order: ``[n]`` index of each variable of the file among all values of the graph's.
        rules: the declarations of a file of rules.
    """

    graph: FactorGraph
    order: NDArray[np.int64]
    rules: RuleModel | None = None

    def assignment(self, result: Result) -> NDArray[np.int64]:
        """``[n]`` states in the file's order, of the least violating assignment if infeasible."""
        arrays = [result.least_violating[v.symbol].ravel() for v in self.graph.variables]
        return np.concatenate([np.zeros(0, np.int64), *arrays])[self.order]


def load_models(
    path: PathLike, evidence: PathLike | None = None, data: PathLike | None = None
) -> list[FileModel]:
    """Read all graphs of a file: ``.uai``, ``.fg``, ``.wcsp``, ``.wcnf``, ``.alist``, ``.rules``.

    Names may end in ``.gz`` or ``.xz``; ``.LG`` are UAI models in logarithms, and ``.fg`` is AD3's
    format or libDAI's, by the file's content.
    ``evidence`` belongs to UAI models, one per file; ``data`` is the folder of a rule file's data
    (by default its own).

    Raises:
        FormatError: if the file does not follow its format.

    Example:
        >>> for model in load_models("several.fg"):                      # doctest: +SKIP
        ...     print(model.assignment(at.decode(model.graph)))
    """
    try:
        return _load(path, evidence, data)
    except MemoryError:
        raise FormatError(path, "the model is too large for this machine's memory") from None
    except ModelError as error:  # the format is kept, but no graph can be made of it
        raise FormatError(path, str(error)) from None


def _load(path: PathLike, evidence: PathLike | None, data: PathLike | None) -> list[FileModel]:
    suffix = format_of(path, (*FORMATS, *READ_ONLY, *RULES))
    if data is not None and suffix not in RULES:
        raise FormatError(path, "a data folder belongs to rules (.rules or .txt)")
    if evidence is not None and suffix not in (".uai", ".lg"):
        raise FormatError(path, "evidence files belong to .uai models")
    if suffix in RULES:
        return [_load_rules(path, data)]
    if suffix in (".alist", ".wcnf"):
        is_code = suffix == ".alist"
        graph = alist_to_graph(read_alist(path)) if is_code else wcnf_to_graph(read_wcnf(path))
        return [FileModel(graph, np.arange(graph.size))]
    tables = read_tables(path, evidence)
    if tables is not None:
        return [FileModel(uai_to_graph(tables[1]), uai_order(tables[1]))]
    return [FileModel(fg_to_graph(fg), np.arange(fg.n_variables)) for fg in read_fg(path)]


def read_tables(path: PathLike, evidence: PathLike | None = None) -> tuple[str, UaiModel] | None:
    """The name of the format and the model of a file that holds tables; None for AD3's ``.fg``."""
    suffix = format_of(path, (*FORMATS, *READ_ONLY))
    if suffix == ".wcsp":
        return "cost network", read_wcsp(path)
    if suffix == ".fg":
        return ("libDAI factor graph", read_libdai(path)) if is_libdai(read_text(path)) else None
    model = read_uai(path, evidence)
    return f"UAI {model.kind}" + (", logarithms" if suffix == ".lg" else ""), model


def _load_rules(path: PathLike, data: PathLike | None) -> FileModel:
    from assent.logic.rules_file import load_rules

    model = load_rules(path, data)
    declared = {own.name for own in model.unknown}
    own = [
        np.full(int(np.prod(v.symbol.shape, dtype=np.int64)), v.name in declared)
        for v in model.graph.variables
    ]
    return FileModel(model.graph, np.flatnonzero(np.concatenate([np.zeros(0, bool), *own])), model)


def load_graph(path: PathLike, evidence: PathLike | None = None) -> FactorGraph:
    """Read the graph of a file that holds one; see :func:`load_models` for several.

    The variables are ``graph["x"]``, in the order of the file; with several cardinalities in a
    UAI model ``graph["x2"]``, ``graph["x3"]``, …, one array each.

    Example:
        >>> graph = load_graph("grid.uai.gz", evidence="grid.uai.evid")   # doctest: +SKIP
    """
    models = load_models(path, evidence)
    if len(models) > 1:
        raise FormatError(path, f"the file holds {len(models)} graphs: use load_models")
    return models[0].graph


def save_graph(graph: FactorGraph | Sequence[FactorGraph], path: PathLike) -> None:
    """Write a graph as ``.uai`` (its evidence beside it, as ``NAME.evid``) or AD3's ``.fg``.

    A UAI model named ``.LG`` holds logarithms, for which no score is too large.  A ``.fg`` file
    takes a list of graphs as well.  Graphs of clauses, pairs and whole numbers can be written as
    ``.wcnf``, those of even parities as ``.alist``.

    Raises:
        ModelError: naming what the format cannot express.

    Example:
        >>> save_graph(graph, "model.fg.gz")                              # doctest: +SKIP
    """
    graphs = [graph] if isinstance(graph, FactorGraph) else graph
    if not isinstance(graphs, Sequence) or not all(isinstance(g, FactorGraph) for g in graphs):
        raise TypeError(f"save_graph takes a FactorGraph or a list of them, got {shown(graph)}")
    suffix = format_of(path)
    if suffix == ".fg":
        write_fg([fg_from_graph(each) for each in graphs], path)
    elif len(graphs) != 1:
        raise ModelError(f"a {suffix} file holds one graph, not {len(graphs)}; write .fg instead")
    elif suffix == ".alist":
        write_alist(alist_from_graph(graphs[0]), path)
    elif suffix == ".wcnf":
        write_wcnf(wcnf_from_graph(graphs[0]), path)
    else:
        model = uai_from_graph(graphs[0])
        write_uai(model, path)
        if model.evidence:
            write_evidence(model.evidence, f"{path}.evid")


def format_of(path: PathLike, formats: tuple[str, ...] = FORMATS) -> str:
    """The format's suffix, one of ``formats``, before any ``.gz`` or ``.xz``.

    Example:
        >>> format_of("grid.uai.gz")
        '.uai'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a file is named by its path, got {shown(path)}")
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in formats:
        known = " or ".join(formats)
        raise FormatError(path, f"the name must end in {known}, possibly with .gz or .xz")
    return suffixes[-1]
