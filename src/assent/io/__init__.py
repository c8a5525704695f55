"""Files: one module per format, each with a reader and a writer, and conversions to graphs."""

from assent.io.alist import alist_from_graph, alist_to_graph, read_alist, write_alist
from assent.io.conllu import Sentence, check_tree, read_conllu, write_conllu
from assent.io.fg import FgModel, read_fg, write_fg
from assent.io.fg_graph import fg_to_graph
from assent.io.graph_fg import fg_from_graph
from assent.io.graph_uai import uai_from_graph
from assent.io.libdai import read_libdai
from assent.io.load import FileModel, load_graph, load_models, save_graph
from assent.io.text import FormatError
from assent.io.uai import UaiModel, read_evidence, read_uai, write_evidence, write_uai
from assent.io.uai_graph import uai_order, uai_to_graph
from assent.io.wcnf import Clauses, read_wcnf, wcnf_from_graph, wcnf_to_graph, write_wcnf
from assent.io.wcsp import read_wcsp

__all__ = [
    "Clauses",
    "FgModel",
    "FileModel",
    "FormatError",
    "Sentence",
    "UaiModel",
    "alist_from_graph",
    "alist_to_graph",
    "check_tree",
    "fg_from_graph",
    "fg_to_graph",
    "load_graph",
    "load_models",
    "read_alist",
    "read_conllu",
    "read_evidence",
    "read_fg",
    "read_libdai",
    "read_uai",
    "read_wcnf",
    "read_wcsp",
    "save_graph",
    "uai_from_graph",
    "uai_order",
    "uai_to_graph",
    "wcnf_from_graph",
    "wcnf_to_graph",
    "write_alist",
    "write_conllu",
    "write_evidence",
    "write_fg",
    "write_uai",
    "write_wcnf",
]
