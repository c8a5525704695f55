"""Tables of text on the command line."""

from assent.text_table import format_table

__all__ = ["format_table"]
