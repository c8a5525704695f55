"""Where sentences end, by rules: marks that end them, and what follows."""

from __future__ import annotations

from collections.abc import Sequence

from assent.apps.text.tokenizer import Token

_ENDING = frozenset(".!?…‽")
_ENDING_WITHOUT_SPACE = frozenset("。！？")  # scripts that write no spaces
_CLOSING = frozenset(('"', "'", "''", "”", "’", "’’", ")", "]", "}", "»"))
_OPENING = frozenset(('"', "'", "``", "“", "‘", "(", "[", "{", "«", "-", "--", "*", "•"))

# Abbreviations with a period that often stand last.
_OFTEN_LAST = frozenset(("etc.", "p.m.", "a.m.", "inc.", "corp.", "ltd.", "jr.", "u.s."))
# A capital after one of these is the start of a sentence rather than of a name.
_STARTING_WORDS = """
the a an this that these those it he she we they i you there here in on at but and so if when what
who how why where is are was were do does did please thanks however
"""
_STARTERS = frozenset(_STARTING_WORDS.split())


def split_sentences(text: str, tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens of each sentence.

    Example:
        >>> from assent.apps.text.tokenizer import tokenize
        >>> text = "Is it 5 p.m. yet? Mr. Bean left. (He did.)"
        >>> [len(sentence) for sentence in split_sentences(text, tokenize(text))]
        [6, 4, 5]
    """
    sentences: list[list[Token]] = [[]]
    place = 0
    while place < len(tokens):
        sentences[-1].append(tokens[place])
        place += 1
        if not _may_end(tokens[place - 1].text):
            continue
        # Quotes and brackets that close without a space belong to what they close.
        while place < len(tokens) and _closes(text, tokens[place - 1], tokens[place]):
            sentences[-1].append(tokens[place])
            place += 1
        if place < len(tokens) and _begins(text, sentences[-1], tokens, place):
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def _may_end(token: str) -> bool:
    return (
        token[-1] in _ENDING_WITHOUT_SPACE
        or set(token) <= _ENDING
        or token.lower() in _OFTEN_LAST
    )  # fmt: skip


def _closes(text: str, before: Token, token: Token) -> bool:
    return before.end == token.start and (token.text in _CLOSING or _may_end(token.text))


def _begins(text: str, before: Sequence[Token], tokens: Sequence[Token], place: int) -> bool:
    """Whether a sentence begins at a place, behind tokens that may end one."""
    last, token = before[-1].text, tokens[place].text
    mark = next((t.text for t in reversed(before) if _may_end(t.text)), last)
    if mark[-1] in _ENDING_WITHOUT_SPACE:
        return True
    if before[-1].end == tokens[place].start:
        return False
    while token in _OPENING and place + 1 < len(tokens):
        place += 1
        token = tokens[place].text
    if mark.lower() in _OFTEN_LAST:
        return token.istitle() and token.lower() in _STARTERS
    return not token[0].islower()
