"""Treebanks for the parser: those of Universal Dependencies, and the Penn Treebank's sample."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assent.apps.tagging import Tagger, jackknife, train_tagger
from assent.io import Sentence
from benchmarks.tagging import parts

PENN = "penn"
# The last file of the training and of the development part.
PENN_TRAINING, PENN_DEVELOPMENT = "wsj_0150", "wsj_0170"
# Tags that scores without punctuation leave out, as is usual for the Penn Treebank.
_PUNCTUATION = {",", ".", ":", "``", "''"}


@dataclass(frozen=True)
class Treebank:
    """A treebank with predicted tags, of which the gold test part is scored against.

    Attributes:
        name: of its folder, or `PENN`.
        tagger: trained on the training part.
        train: with tags of taggers that have not seen the sentence.
        dev, test: gold.
        has_labels: whether arcs have labels.
    """

    name: str
    tagger: Tagger
    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]
    has_labels: bool = True

    @property
    def trained_words(self) -> int:
        """Number of words in the training part."""
        return sum(map(len, self.train))


def treebanks(data: Path) -> dict[str, Path]:
    """All that are there by name: folders, and the archive of the sample as NLTK has it."""
    found = {folder.name: folder for folder in sorted(data.glob("ud/UD_*"))}
    penn = data / "nltk" / "dependency_treebank.zip"
    return {**found, PENN: penn} if penn.exists() else found


def read_penn(path: Path) -> dict[str, list[Sentence]]:
    """The training, development and test sentences of the sample; its arcs have no labels."""
    found: dict[str, list[Sentence]] = {"train": [], "dev": [], "test": []}
    with zipfile.ZipFile(path) as file:
        for name in sorted(name for name in file.namelist() if name.endswith(".dp")):
            stem = Path(name).stem
            part = "train" if stem <= PENN_TRAINING else "test"
            if PENN_TRAINING < stem <= PENN_DEVELOPMENT:
                part = "dev"
            for block in file.read(name).decode("latin-1").split("\n\n"):
                rows = [line.split("\t") for line in block.splitlines() if line.strip()]
                if rows:
                    found[part].append(_penn_sentence(rows))
    return found


def _penn_sentence(rows: list[list[str]]) -> Sentence:
    """A sentence of words, tags and heads."""
    words, tags, heads = zip(*rows, strict=True)
    return Sentence.from_words(words).with_columns(
        upos=["PUNCT" if tag in _PUNCTUATION else tag for tag in tags],
        xpos=tags, heads=heads, deprels=["dep"] * len(rows),
    )  # fmt: skip


def spread(sentences: list[Sentence], most_words: int) -> list[Sentence]:
    """Sentences at equal distances, of so many words in all at most (0: all sentences).

    A treebank's texts follow each other: its first sentences would be of one kind.
    """
    words = sum(map(len, sentences))
    if not most_words or words <= most_words:
        return sentences
    count = int(len(sentences) * most_words / words)
    return [sentences[i] for i in np.linspace(0, len(sentences) - 1, count).astype(int)]


def prepare(path: Path, most_words: int = 0) -> Treebank:
    """A treebank from its folder, or the sample from its archive, tagged."""
    is_penn = path.suffix == ".zip"
    own = read_penn(path) if is_penn else parts(path)
    train = spread(own["train"], most_words)
    has_xpos = not is_penn and any(tag != "_" for sentence in train for tag in sentence.xpos)
    columns = ("upos", "xpos") if has_xpos else ("upos",)
    name = PENN if is_penn else path.name
    return Treebank(
        name, train_tagger(train, columns=columns), jackknife(train, columns=columns),
        own["dev"], own["test"], has_labels=not is_penn,
    )  # fmt: skip
