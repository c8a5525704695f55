"""Similar spelling of words: common prefixes and longest common subsequences."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit, jit_internal


@jit_internal
def common_subsequence(a, b, row):
    """The length of the longest common subsequence of two words; ``row`` is room to work in."""
    row[: len(b) + 1] = 0
    for i in range(len(a)):
        corner = 0  # row[j] as it was before this letter
        for j in range(len(b)):
            above = row[j + 1]
            if a[i] == b[j]:
                row[j + 1] = corner + 1
            else:
                row[j + 1] = max(row[j + 1], row[j])
            corner = above
    return row[len(b)]


@jit
def spelling_similarity(source, source_start, target, target_start):
    """Two tables ``[n, m]``: common prefix and common subsequence over the longer word's length.

    Args:
        source: letters of the source words, as numbers, one word after the other.
        source_start: ``[n + 1]`` where each begins.
        target: likewise.
        target_start: ``[m + 1]``.

    Example:
        >>> import numpy as np
        >>> word, other = np.array([1, 2, 3, 4]), np.array([1, 2, 4])
        >>> ends = np.array([0, 4]), np.array([0, 3])
        >>> [t.tolist() for t in spelling_similarity(word, ends[0], other, ends[1])]
        [[[0.5]], [[0.75]]]
    """
    n, m = len(source_start) - 1, len(target_start) - 1
    prefix, common = np.zeros((n, m)), np.zeros((n, m))
    longest = 0
    for j in range(m):
        longest = max(longest, target_start[j + 1] - target_start[j])
    row = np.zeros(longest + 1, np.int64)
    for i in range(n):
        a = source[source_start[i] : source_start[i + 1]]
        for j in range(m):
            b = target[target_start[j] : target_start[j + 1]]
            most = max(len(a), len(b))
            if most == 0:
                continue
            same = 0
            while same < min(len(a), len(b)) and a[same] == b[same]:
                same += 1
            prefix[i, j] = same / most
            common[i, j] = common_subsequence(a, b, row) / most
    return prefix, common


@jit
def listed_similarity(source, source_start, target, target_start, first, second):
    """The common subsequences of listed word pairs ``(first[k], second[k])``, as above: ``[k]``.

    Example:
        >>> import numpy as np
        >>> word, other, zero = np.array([1, 2, 3, 4]), np.array([1, 2, 4]), np.zeros(1, np.int32)
        >>> ends = np.array([0, 4]), np.array([0, 3])
        >>> listed_similarity(word, ends[0], other, ends[1], zero, zero).tolist()
        [0.75]
    """
    out = np.zeros(len(first))
    longest = 0
    for j in range(len(target_start) - 1):
        longest = max(longest, target_start[j + 1] - target_start[j])
    row = np.zeros(longest + 1, np.int64)
    for k in range(len(first)):
        a = source[source_start[first[k]] : source_start[first[k] + 1]]
        b = target[target_start[second[k]] : target_start[second[k] + 1]]
        most = max(len(a), len(b))
        if most > 0:
            out[k] = common_subsequence(a, b, row) / most
    return out
