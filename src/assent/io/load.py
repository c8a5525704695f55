"""A graph from or to a file; the suffix names the format."""

from __future__ import annotations

from pathlib import Path

from assent.graph import FactorGraph
from assent.io.fg import read_fg, write_fg
from assent.io.fg_graph import fg_from_graph, fg_to_graph
from assent.io.text import FormatError, PathLike
from assent.io.uai import read_uai, write_evidence, write_uai
from assent.io.uai_graph import uai_to_graph
from assent.io.uai_tables import uai_from_graph

FORMATS = (".uai", ".fg")
_COMPRESSED = (".gz", ".xz")


def load_graph(path: PathLike, evidence: PathLike | None = None) -> FactorGraph:
    """Read a graph from a ``.uai`` or ``.fg`` file, either also as ``.gz`` or ``.xz``.

    The variables are ``graph["x"]``, in the order of the file. ``evidence`` belongs to UAI models.

    Raises:
        FormatError: if the file does not follow its format.
        ModelError: if the model asks for what cannot be decoded yet.

    Example:
        >>> graph = load_graph("grid.uai.gz", evidence="grid.uai.evid")   # doctest: +SKIP
    """
    if format_of(path) == ".uai":
        return uai_to_graph(read_uai(path, evidence))
    if evidence is not None:
        raise FormatError(path, "evidence files belong to .uai models")
    return fg_to_graph(read_fg(path))


def save_graph(graph: FactorGraph, path: PathLike) -> None:
    """Write a graph as ``.uai`` (its evidence beside it, as ``NAME.evid``) or ``.fg``.

    Example:
        >>> save_graph(graph, "model.fg.gz")                              # doctest: +SKIP
    """
    if format_of(path) == ".fg":
        write_fg(fg_from_graph(graph), path)
        return
    model = uai_from_graph(graph)
    write_uai(model, path)
    if model.evidence:
        write_evidence(model.evidence, f"{path}.evid")


def format_of(path: PathLike) -> str:
    """The format's suffix, compression set aside.

    Example:
        >>> format_of("grid.uai.gz")
        '.uai'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in FORMATS:
        known = " or ".join(FORMATS)
        raise FormatError(path, f"the name must end in {known}, possibly with .gz or .xz")
    return suffixes[-1]
