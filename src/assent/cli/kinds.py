"""``assent kinds``: the kinds of factors, from their registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from assent.cli.options import markdown_option
from assent.text_table import format_table

QUESTIONS = ("maximize", "project", "max_marginals", "marginals")


@click.command()
@click.option("--questions", is_flag=True, help="Only who answers which question.")
@markdown_option
def kinds(questions: bool, markdown: bool) -> None:
    """List the kinds of factors: what each says and which questions it answers."""
    from assent.factors import KINDS

    click.echo((question_table if questions else kind_table)(KINDS, markdown))


def kind_table(kinds: Iterable[Any], markdown: bool = False) -> str:
    """What each kind says, its formula, the papers' name for it and what it answers."""
    rows = [
        (k.__name__, _first_sentence(k), k.formula, k.paper_name, ", ".join(k.abilities))
        for k in kinds
    ]
    return format_table(("kind", "says", "formula", "papers", "questions"), rows, markdown)


def question_table(kinds: Iterable[Any], markdown: bool = False) -> str:
    """Kinds by questions: "yes" where a kind answers, a dash where it declares that it cannot."""
    rows = [(kind.__name__, *(_answer(kind, q) for q in QUESTIONS)) for kind in kinds]
    return format_table(("kind", *QUESTIONS), rows, markdown)


def _answer(kind: Any, question: str) -> str:
    if question in kind.if_given:
        return "if given"
    return "yes" if question in kind.abilities else "–"


def _first_sentence(kind: type) -> str:
    """What a kind says: the headline of its docstring, without quotes and the papers' name."""
    headline = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return headline.split(" (")[0].rstrip(".").replace("``", "")
