"""The tagger on treebanks: accuracy on their test parts, and words per second.

Everything counts for the speed: attributes of words, features, decoding, tags as text.
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from assent.apps.tagging import Tagger, tag_scores, train_tagger
from assent.io import Sentence, read_conllu
from benchmarks.tables import DASH, circumstances, show

QUICK = "UD_Czech-CLTT"  # the smallest
REPEATS = 5  # the fastest counts: others share the machine


def treebanks(data: Path | None, quick: bool) -> list[Path]:
    """The folders of treebanks in the data; none without it."""
    if data is None:
        return []
    return sorted(data.glob(f"ud/{QUICK if quick else 'UD_*'}"))


def parts(folder: Path) -> dict[str, list[Sentence]]:
    """The training, development and test sentences of a treebank."""
    found = {}
    for part in ("train", "dev", "test"):
        (path,) = folder.glob(f"*-{part}.conllu*")
        found[part] = list(read_conllu(path))
    return found


def words_per_second(tagger: Tagger, sentences: list[Sentence]) -> float:
    """The best of several runs, in processor time."""
    seconds = []
    for _ in range(REPEATS):
        begun = time.process_time()
        for _sentence in tagger.tag(sentences):
            pass
        seconds.append(time.process_time() - begun)
    return sum(map(len, sentences)) / min(seconds)


def run(console: Console, folders: list[Path]) -> None:
    """A table with a line per treebank."""
    columns = "treebank", "training", "dev UPOS", "test UPOS", "XPOS", "new words", "words/s"
    rows = list(map(_row, folders))
    show(console, "Tagging: accuracy in percent", columns, rows, caption=circumstances())


def _row(folder: Path) -> list[str]:
    own = parts(folder)
    has_xpos = any(tag != "_" for sentence in own["train"] for tag in sentence.xpos)
    begun = time.process_time()
    columns = ("upos", "xpos") if has_xpos else ("upos",)
    tagger = train_tagger(own["train"], dev=own["dev"], columns=columns)
    seconds = time.process_time() - begun
    tagged = list(tagger.tag(own["test"]))
    dev = tag_scores(own["dev"], tagger.tag(own["dev"])).accuracy
    test = tag_scores(own["test"], tagged).accuracy
    return [
        folder.name, f"{seconds:.1f} s", f"{dev['upos']:.2f}", f"{test['upos']:.2f}",
        f"{test['xpos']:.2f}" if has_xpos else DASH, f"{_new_words(own, tagged):.2f}",
        f"{words_per_second(tagger, own['test']):,.0f}",
    ]  # fmt: skip


def _new_words(own: dict[str, list[Sentence]], tagged: list[Sentence]) -> float:
    """UPOS of test words that do not occur in training, in percent."""
    seen = {word for sentence in own["train"] for word in sentence.words}
    right = [
        one == other
        for gold, found in zip(own["test"], tagged, strict=True)
        for word, one, other in zip(gold.words, gold.upos, found.upos, strict=True)
        if word not in seen
    ]
    return 100.0 * sum(right) / max(len(right), 1)
