"""Raw text as a stream of sentences in CoNLL-U, paragraph by paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assent.apps.text.sentence_splitter import split_sentences
from assent.apps.text.tokenizer import Token, tokenize
from assent.io.conllu import Sentence, read_conllu_lines


def read_text_lines(
    lines: Iterable[str], *, by_line: bool = False, source: str = "a text"
) -> Iterator[Sentence]:
    """The sentences of a text; ``TokenRange`` in the last column counts characters of the whole.

    Args:
        lines: as they are read; an empty one ends a paragraph, and a paragraph a sentence.
        by_line: every line is a paragraph of its own.
        source: what errors call the text.

    Example:
        >>> [sentence.words for sentence in read_text_lines(["Is it?\\n", "It isn't."])]
        [['Is', 'it', '?'], ['It', 'is', "n't", '.']]
    """
    number = 0
    for start, paragraph in _paragraphs(lines, by_line):
        sentences = split_sentences(paragraph, tokenize(paragraph))
        for place, tokens in enumerate(sentences):
            number += 1
            shown = " ".join(paragraph[tokens[0].start : tokens[-1].end].split())
            comments = [f"sent_id = {number}", f"text = {shown}"]
            if place == 0:
                comments.insert(0, "newpar")
            yield _sentence(paragraph, tokens, start, comments, source)


def _paragraphs(lines: Iterable[str], by_line: bool) -> Iterator[tuple[int, str]]:
    """Paragraphs, and at which character each begins."""
    start = end = 0
    kept: list[str] = []
    for line in lines:
        end += len(line)
        if line.strip():
            kept.append(line)
        if kept and (by_line or not line.strip()):
            yield start, "".join(kept)
            kept = []
        if not kept:
            start = end
    if kept:
        yield start, "".join(kept)


def _sentence(
    paragraph: str, tokens: Sequence[Token], start: int, comments: Sequence[str], source: str
) -> Sentence:
    lines = [f"# {comment}\n" for comment in comments]
    number = 0
    for place, token in enumerate(tokens):
        misc = f"TokenRange={start + token.start}:{start + token.end}"
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if following is not None and following.start == token.end:
            misc = f"SpaceAfter=No|{misc}"
        if len(token.words) > 1:
            span = f"{number + 1}-{number + len(token.words)}"
            lines.append("\t".join([span, token.text, *"_" * 7, misc]) + "\n")
            misc = "_"
        for word in token.words:
            number += 1
            lines.append("\t".join([str(number), word, *"_" * 7, misc]) + "\n")
    return next(read_conllu_lines([*lines, "\n"], source))
