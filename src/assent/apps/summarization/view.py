"""Summaries to look at: what was deleted from the chosen sentences in grey."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from assent.apps.summarization.decode import Summary
from assent.apps.summarization.detokenizer import spaced_words

if TYPE_CHECKING:
    from rich.text import Text

# Gaps that rounding explains, as in `decode`.
PROVEN = 1e-6

_STYLE = """
body { font: 1.05rem/1.65 Georgia, serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h2 { font: 600 .8rem system-ui, sans-serif; text-transform: uppercase; letter-spacing: .08em;
     color: #666; margin: 2rem 0 .5rem; }
blockquote { margin: 0; padding: .8rem 1.2rem; border-left: 4px solid #33658a;
             background: #f4f7fa; }
del { color: #aaa; text-decoration: none; }
footer { font: .85rem system-ui, sans-serif; color: #666; margin-top: 2rem; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181b; } blockquote { background: #20252b; }
  del { color: #666; } h2, footer { color: #999; }
}
"""


def show_summary(summary: Summary) -> Text:
    """The chosen sentences for a terminal, deleted words in grey."""
    from rich.text import Text

    text = Text()
    for number in summary.chosen:
        for word, kept in _marked(summary, number):
            text.append(word, None if kept else "bright_black")
        text.append("\n")
    text.append(describe(summary), "italic")
    return text


def describe(summary: Summary) -> str:
    """How long the summary is, and how good, in one line."""
    proof = "the best one" if summary.gap <= PROVEN else f"at most {summary.gap:.2%} from the best"
    return (
        f"{summary.words} words of {len(summary.chosen)} sentences; value {summary.value:.6g}, "
        f"{proof}; {summary.seconds:.2f} s"
    )


def summary_html(summary: Summary, title: str = "Summary") -> str:
    """A page with the summary, and the sentences it is made of."""
    sentences = []
    for number in summary.chosen:
        words = [
            html.escape(word) if kept else f"<del>{html.escape(word)}</del>"
            for word, kept in _marked(summary, number)
        ]
        sentences.append(f"<p>{''.join(words)}</p>")
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f"<h2>Summary</h2>\n<blockquote>{html.escape(summary.text)}</blockquote>\n"
        "<h2>Made of</h2>\n" + "\n".join(sentences) + "\n"
        f"<footer>{html.escape(describe(summary))}</footer>\n</html>\n"
    )


def _marked(summary: Summary, number: int) -> list[tuple[str, bool]]:
    """Words of a sentence with the spaces before them, and whether they are kept."""
    sentence = summary.sentences[number]
    words = spaced_words(sentence, range(len(sentence)))
    return list(zip(words, summary.kept[number].tolist(), strict=True))
