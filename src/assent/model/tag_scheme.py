"""Tag schemes: which tag may follow which where tags mark the beginning and inside of spans."""

from __future__ import annotations

from collections.abc import Sequence

from assent.errors import ModelError
from assent.model.finite_automaton import Automaton, trimmed

# What a prefix says: whether a span begins with it, and whether the span may go on after it.
# L and U stand for last and unit, E and S for end and single.
BEGINS = {"O": True, "B": True, "I": False, "E": False, "L": False, "S": True, "U": True}
GOES_ON = {"O": False, "B": True, "I": True, "E": False, "L": False, "S": False, "U": False}


def bio(tags: Sequence[str]) -> Automaton:
    """The automaton of well-formed tag sequences: spans begin with B and go on with I.

    With tags that end a span (``E-`` or ``L-``) or are one alone (``S-`` or ``U-``) among them
    the scheme is IOBES (BILOU): a span of several words then has to be ended.

    Args:
        tags: labels such as ``O``, ``B-PER``, ``I-PER``; in any order.

    Example:
        >>> import assent as at
        >>> rule = at.bio(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
        >>> rule.accepts(["B-PER", "I-PER", "O"]), rule.accepts(["O", "I-PER"])
        (True, False)
        >>> rule.accepts(["B-PER", "I-LOC"])
        False
    """
    split = {tag: _parts(tag) for tag in tags}
    must_close = any(prefix in "ELSU" for prefix, _ in split.values())
    begins = [tag for tag, (prefix, _) in split.items() if BEGINS[prefix]]
    arcs: list[tuple[str | None, str, str]] = [(None, tag, tag) for tag in begins]
    ends: list[str | None] = [None]  # the empty sequence is one, too
    for tag, (prefix, kind) in split.items():
        goes_on = [t for t, own in split.items() if own[1] == kind and not BEGINS[own[0]]]
        arcs += [(tag, after, after) for after in goes_on if GOES_ON[prefix]]
        if not (must_close and GOES_ON[prefix]):
            arcs += [(tag, after, after) for after in begins]
            ends.append(tag)
    return trimmed(tags, arcs, None, ends)


def _parts(tag: str) -> tuple[str, str]:
    """Prefix and kind of a tag: ``B-PER`` is ``B`` and ``PER``."""
    if not isinstance(tag, str):
        raise ModelError(f"bio takes tags such as O, B-PER and I-PER, got {tag!r}")
    prefix, _, kind = tag.partition("-")
    if prefix not in BEGINS or (prefix == "O") != (tag == "O"):
        raise ModelError(
            f"tag {tag!r} is neither O nor begins with B-, I-, E-, L-, S- or U-; "
            "write an Automaton for other schemes"
        )
    return prefix, kind
