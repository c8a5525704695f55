"""Random numbers of compiled loops: the same for a seed, on every machine."""

from __future__ import annotations

# Random numbers come from the multiplicative generator of Park and Miller: whole numbers that
# never overflow, the same everywhere.
FACTOR = 48271
RANDOM_RANGE = 2**31 - 1


def first_random_state(seed):
    """State of the random numbers for a seed."""
    state = seed % (RANDOM_RANGE - 1) + 1
    for _ in range(3):  # neighbouring seeds part ways
        state = next_random_state(state)
    return state


def next_random_state(state):
    """The next state, 1 to ``RANDOM_RANGE - 1``."""
    return state * FACTOR % RANDOM_RANGE
