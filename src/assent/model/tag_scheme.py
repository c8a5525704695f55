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
    # A state is the kind of the span that may go on, None where there is none.
    leads_to = {tag: kind if GOES_ON[prefix] else None for tag, (prefix, kind) in split.items()}
    open_spans = [kind for kind in dict.fromkeys(leads_to.values()) if kind is not None]
    arcs: list[tuple[str | None, str, str | None]] = []
    for state in (None, *open_spans):
        for tag, (prefix, kind) in split.items():
            may_begin = state is None or not must_close
            if may_begin if BEGINS[prefix] else kind == state:
                arcs.append((state, tag, leads_to[tag]))
    return trimmed(tags, arcs, None, [None] if must_close else [None, *open_spans])


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
