"""How long a first search of Auto goes on: as long as it puts states away soon enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Rounds between two looks, after the first ones.
BETWEEN = 16


@dataclass
class SearchPatience:
    """Whether a search over tables is likely to end soon: few states are left after some rounds.

    States that others of their variable have to give way to are *open*.  Rounds get quicker as
    states are put away, and count for as much as is left.

    Attributes:
        first: rounds before the first look; the others follow after twice and four times as many.
        shares: of the states that were open at the start, how many may be left at each look.
        most: rounds over all states after which it is over in any case.

    Example:
        >>> patience = SearchPatience(4, (0.9, 0.5, 0.1), most=100.0)
        >>> patience.until_look(0), patience.is_over(4, left=0.8, open_left=0.7)
        (4, False)
        >>> patience.until_look(4), patience.is_over(8, left=0.8, open_left=0.7)
        (4, True)
    """

    first: int
    shares: tuple[float, float, float]
    most: float
    rounds: int = 0  # at the latest look
    spent: float = 0.0  # rounds over all states that it took until then

    def until_look(self, rounds: int) -> int:
        """How many rounds to play after so many."""
        return next((at - rounds for at in self._looks() if at > rounds), BETWEEN)

    def is_over(self, rounds: int, left: float, open_left: float) -> bool:
        """Whether to give up after so many, with these shares of all and of the open states."""
        self.spent += (rounds - self.rounds) * left
        self.rounds = rounds
        share = dict(zip(self._looks(), self.shares, strict=True)).get(rounds, np.inf)
        return open_left > share or self.spent > self.most

    def _looks(self) -> tuple[int, int, int]:
        return self.first, 2 * self.first, 4 * self.first
