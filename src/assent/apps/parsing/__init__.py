"""Dependency parsing with turbo parsers: arcs and larger parts, decoded together by AD3.

The parts are those of Martins et al. (2011, 2013); :mod:`assent.apps.parsing.parts` names them.
"""

from assent.apps.parsing.decode import decode
from assent.apps.parsing.model import Parse, Parser, ParserSettings
from assent.apps.parsing.parts import PARTS, PRESETS
from assent.apps.parsing.training import ParserTraining, train_parser

__all__ = [
    "PARTS", "PRESETS", "Parse", "Parser", "ParserSettings", "ParserTraining", "decode",
    "train_parser",
]  # fmt: skip
