"""Tokens of raw text by rules, with their offsets; contractions as several words."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Abbreviations that keep their period: months, days, titles, companies, measures.
_ABBREVIATIONS = """
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
mr mrs ms dr prof rev gen gov lt col sgt capt sen rep reps hon st mt ft jr sr messrs
inc corp co ltd bros dept assn univ
vs etc al ave blvd rd apt no nos vol pp fig ext attn approx est min max ca cf lb lbs oz yrs eg ie
"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())

# Prefixes that stay with what follows their hyphen; other hyphens stand between words.
_PREFIXES = (
    "e|a|anti|bi|co|counter|de|ex|extra|hyper|infra|inter|intra|macro|mega|micro|mid|mini|mono|"
    "multi|neo|non|over|pan|para|post|pre|pro|proto|pseudo|psycho|quasi|re|self|semi|sub|super|"
    "trans|tri|ultra|un|under|vice"
)

# Letters and their marks, digits among them; joiners hold the syllables of some scripts together.
_WORD = r"[^\W_](?:[\w\u0300-\u036f\u200c\u200d]*[^\W_])?[\u0300-\u036f]*"

# Abbreviations that are words as well.
_ALSO_WORDS = frozenset(("no", "sun", "sat", "mar", "min", "max", "fig", "al", "est"))
_NUMBER_FOLLOWS = re.compile(r"\s+[\d#]|,")
_NAME_FOLLOWS = re.compile(r"\.\s+\w|\.,")

# What an address may not end with: the sentence's own punctuation.
_ADDRESS = r"""[^\s<>"]*[^\s<>"'.,;:!?)\]}]"""
_ENDINGS = r"com|org|net|edu|gov|info|co\.uk|doc|xls|pdf|ppt|jpg|html?"
_UNITS = r"am|pm|k|m|mm|cm|km|kg|lbs?|hrs?|mins?|GB|MB"

_TOKEN = re.compile(
    rf"""
    (?:(?:https?|ftp)://|www\.){_ADDRESS}                      # addresses of pages,
  | (?:mailto:)?[\w.+-]+@[\w-]+(?:\.[\w-]+)*                  # of people,
  | [a-z0-9][\w-]*(?:\.[\w-]+)*\.(?:{_ENDINGS})\b(?:/{_ADDRESS})?  # and files
  | (?<!\d)[:;=8][-'^o]?[)(dp\]\[|/\\*3]+(?!\w)              # faces: :-)
  | (?<!\w)[)(]+[-'^]?[:;=](?!\w) | <3+ | \^[_.]*\^           # (: <3 ^_^
  | (?<![\w.])(?:[^\W\d_]\.){{2,}}                            # U.S., e.g.
  | (?<!\w)\+?\(?\d{{3}}\)?[-.]\d{{3}}[-.]\d{{4}}(?!\w)       # telephones
  | \d{{3}}-\d{{4}}(?!\w)
  | \d{{1,4}}[/-]\d{{1,2}}[/-]\d{{2,4}}(?!\w)                 # dates
  | \d{{1,2}}/\d{{1,2}}(?![\w/])
  | \d++(?:[.,:]\d++)*+(?:st|nd|rd|th|s)?(?!\w)              # numbers
  | \d++(?:[.,:]\d++)*+(?=(?:{_UNITS})(?!\w))
  | (?:{_PREFIXES})-{_WORD}(?:['’]{_WORD})*                   # pre-war
  | [A-Z]+&[A-Z]+(?!\w)                                       # A&E
  | {_WORD}(?:['’`]{_WORD})*                                  # words
  | ([.\-!*=_~#<>…])\1+ | [!?]{{2,}} | ``                      # rows of one sign
  | ''|’’|‘’                                                  # quotes
  | [\U0001F1E6-\U0001F1FF]{{2}}                              # flags
  # Any other sign, with its variants, and faces that are joined of several.
  | [^\w\s](?:[\ufe0f\u20e3\U0001F3FB-\U0001F3FF]|\u200d[^\w\s])*
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Where contractions part.  "its" is a word, "it's" are two.
_NOT = re.compile(r"(.+?)(n['’`]t)", re.IGNORECASE)
_CLITIC = re.compile(r"(.+)(['’`](?:s|m|re|ve|ll|d))", re.IGNORECASE)
_FUSED = {
    "cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "dont": 2, "didnt": 3, "doesnt": 4, "cant": 2,
    "wont": 2, "isnt": 2, "wasnt": 3, "im": 1, "ive": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Token:
    """A token: where it stands in the text, and the words it is made of (mostly one)."""

    start: int  # offset of its first character
    end: int  # offset behind its last one
    words: tuple[str, ...]  # one or more parts, which together are the token

    @property
    def text(self) -> str:
        """The token as it stands."""
        return "".join(self.words)


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, in order; everything but white space belongs to one.

    Example:
        >>> [token.words for token in tokenize("Dr. Who doesn't e-mail me.")]
        [('Dr.',), ('Who',), ('does', "n't"), ('e-mail',), ('me',), ('.',)]
    """
    found = []
    position = 0
    while match := _TOKEN.search(text, position):
        start, end = match.span()
        if text[end : end + 1] == "." and _keeps_period(text, start, end):
            end += 1
        found.append(Token(start, end, _parts(text[start:end])))
        position = end
    return found


def _keeps_period(text: str, start: int, end: int) -> bool:
    """Whether a period belongs to the abbreviation or initial before it."""
    word, after = text[start:end], text[end + 1 : end + 2]
    if after and not after.isspace() and after not in ",;:)\"'":
        return False
    if word.lower() in ABBREVIATIONS:
        # "No." and "Sun." end sentences too: they are abbreviations before a number or a name.
        return word.lower() not in _ALSO_WORDS or bool(_NUMBER_FOLLOWS.match(text, end + 1))
    # An initial: one capital, and another name follows.
    return (
        len(word) == 1 and word.isupper() and word != "I" and bool(_NAME_FOLLOWS.match(text, end))
    )


def _parts(token: str) -> tuple[str, ...]:
    """The words of a token."""
    split = _FUSED.get(token.lower())
    if split is not None:
        return token[:split], token[split:]
    match = _NOT.fullmatch(token) or _CLITIC.fullmatch(token)
    if match is None:
        return (token,)
    return (*_parts(match[1]), match[2])
