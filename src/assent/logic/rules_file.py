"""Files of rules: declarations and rules in text, data in files beside them.

One statement per line; lines that begin with a space go on with it.  Everything is declared
before it is used:

    domain person = ann, bob, eve               members; also 1..9, or: from people.csv
    relation friend(person, person)             data from friend.csv, or: = (ann, bob), (bob, eve)
    table skill(person)                         numbers: the last column of skill.csv
    unknown smokes(person) default -0.5         variables; scores from smokes.csv if it is there
    unknown trust(person, person) at friend     variables only where the relation holds
    choice job(person): task                    one task each; job(x, t) is the predicate
    observe smokes("ann"), ~smokes("bob")       evidence; also: observe closed smokes from seen.csv
    rule peers: friend(x, y) & smokes(x) => smokes(y)  penalty 0.8
    rule path(a, d) := exists m: flow(a, m, d)  where a != d
    rule rain(t + 1) | rain(t + 2)  for t in day  where t < 6
"""

from __future__ import annotations

from pathlib import Path

from assent.io.text import FormatError, PathLike, read_text
from assent.logic.rules import LIMIT, Rules
from assent.logic.statements import Reader, RuleModel
from assent.logic.syntax import Token, tokens_of
from assent.model.graph import FactorGraph

__all__ = ["RuleModel", "load_rules", "read_rules"]


def load_rules(path: PathLike, data: PathLike | None = None, *, limit: int = LIMIT) -> RuleModel:
    """Read and ground a file of rules.

    Args:
        path: the file; see the module's text for the syntax.
        data: folder of the data files; by default the one the rules are in.
        limit: bindings beyond which a rule is refused, and tuples that the file may declare in all
            for unknowns and tables.

    Raises:
        FormatError: naming file, line, rule and binding.

    Example:
        >>> model = load_rules("friends.rules")                           # doctest: +SKIP
        >>> print(model.rules.report())                                   # doctest: +SKIP
    """
    folder = Path(path).parent if data is None else Path(data)
    return read_rules(path, read_text(path), folder, limit)


def read_rules(path: PathLike, text: str, folder: Path | None, limit: int = LIMIT) -> RuleModel:
    """The model of a text; ``path`` is for messages.

    Example:
        >>> text = '''
        ... domain day = 1..3
        ... unknown rain(day) default 1.0
        ... rule dry spells: rain(d) => ~rain(d + 1)  where d < 3
        ... '''
        >>> read_rules("weather", text, None).rules.rules
        [<dry spells (line 4): 2 bindings, 2 AtLeastOne>]
    """
    graph = FactorGraph()
    reader = Reader(path, folder, limit, RuleModel(graph, Rules(graph)))
    statements = _statements(path, tokens_of(path, text))
    if not statements:
        raise FormatError(path, "there is no statement in it")
    for statement in statements:
        reader.read(statement)
    return reader.model


def _statements(path: PathLike, tokens: list[Token]) -> list[list[Token]]:
    """Tokens by statement: a token at the beginning of a line starts another."""
    found: list[list[Token]] = []
    for token in tokens:
        if token.first:
            found.append([])
        elif not found:
            raise FormatError.found(path, token.line, token.text, "a statement at the line's start")
        found[-1].append(token)
    return found
