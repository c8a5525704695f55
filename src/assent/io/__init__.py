"""Files: one module per format, each with a reader and a writer, and conversions to graphs."""

from assent.io.fg import FgModel, read_fg, write_fg
from assent.io.fg_graph import fg_from_graph, fg_to_graph
from assent.io.load import load_graph, save_graph
from assent.io.text import FormatError
from assent.io.uai import UaiModel, read_evidence, read_uai, write_evidence, write_uai
from assent.io.uai_graph import uai_order, uai_to_graph
from assent.io.uai_tables import uai_from_graph

__all__ = [
    "FgModel",
    "FormatError",
    "UaiModel",
    "fg_from_graph",
    "fg_to_graph",
    "load_graph",
    "read_evidence",
    "read_fg",
    "read_uai",
    "save_graph",
    "uai_from_graph",
    "uai_order",
    "uai_to_graph",
    "write_evidence",
    "write_fg",
    "write_uai",
]
