"""Keys of strings and of pairs of keys: stable, and spread evenly."""

import numpy as np

from assent.apps.text_keys import string_keys
from assent.kernels.jit import jit
from assent.kernels.linear.hashed_keys import mix

WORDS = [f"word{i}" for i in range(1000)]


@jit
def mix_all(templates, keys, out):
    for t in range(len(templates)):
        for k in range(len(keys)):
            out[t, k] = mix(templates[t], keys[k])


def mixed(templates, keys):
    out = np.empty((len(templates), len(keys)), np.uint64)
    mix_all(templates, keys, out)
    return out


def test_keys_of_strings_never_change():
    """Model files hold weights at places that depend on them."""
    assert string_keys(["", "the", "🙂"]).tolist() == [
        13020603013274838756, 3331141520948189790, 13229221042092380345
    ]  # fmt: skip
    assert len(string_keys([])) == 0
    assert len(np.unique(string_keys(["\ud800", "a"]))) == 2


def test_mixed_keys_never_change():
    assert mixed(np.uint64([1]), string_keys(["the"])).tolist() == [[14633484696585493910]]


def test_mixed_keys_are_spread_evenly_over_a_table():
    keys = mixed(np.arange(64, dtype=np.uint64), string_keys(WORDS))
    assert len(np.unique(keys)) == keys.size
    for places in (keys & np.uint64(1023), (keys >> np.uint64(20)) & np.uint64(1023)):
        counts = np.bincount(places.ravel().astype(np.int64), minlength=1024)
        expected = keys.size / 1024
        chi_square = ((counts - expected) ** 2 / expected).sum()
        assert abs(chi_square - 1023) < 5 * np.sqrt(2 * 1023)


def test_order_matters():
    keys = string_keys(WORDS[:50])
    both = mixed(keys, keys)
    assert (both != both.T).sum() == 50 * 49
