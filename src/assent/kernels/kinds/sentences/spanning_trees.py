"""Spanning trees of a sentence that hang on its root.

See :mod:`assent.kernels.kinds.sentences.arcs` for words, arcs and ``data``.

``maximize`` is the algorithm of Chu and Liu (1965) and Edmonds (1967), in time O(n²).  The other
questions *eliminate* words.  A word k that is neither looked at nor fixed may be left out if every
path through it becomes an arc of its own: with weights ``w[h, m]`` of arcs from h to m and
``d = sum_h w[h, k]``,

    w[h, m] += w[h, k] * w[k, m] / d        for all h and m that are left.

The weight of all trees is the product of the ``d`` (the matrix-tree theorem; this is Gaussian
elimination of the Laplacian matrix, with its diagonal never formed by subtraction: Grassmann,
Taksar and Heyman, 1985).  Nothing is subtracted, so weights may be logarithms of any range, and at
temperature 0 the same steps with maxima for sums speak of the best trees.

When all words but m are eliminated, backward substitution yields ``q[h]``: the share of ways up
from h that reach the root without passing through m.  Trees with the arc from h to m weigh
``d_1 … d_{n - 1} * w[h, m] * q[h]``.  Each word has to be the last one once; halves of what is left
are eliminated in turn, so that all this takes O(n³) steps.

If the root may have one word only, its arcs are infinitesimal: they count only where no other arc
does.  They stand in a column of their own until a group of words turns out to have no other arc.
"""

from __future__ import annotations

from math import exp

import numpy as np

from assent.kernels.jit import (
    jit,
    jit_inline_llvm,
    jit_inline_llvm_vector_sums,
    jit_internal,
    jit_internal_no_allocation,
    jit_structure,
)
from assent.kernels.kinds.sentences.arcs import (
    SINGLE_ROOT,
    is_tree,
    read_arcs,
    read_heads,
    write_places,
    write_states,
)
from assent.kernels.kinds.soft_maximum import join

# Marks of nodes while an arborescence grows.
FRESH, ON_PATH, DONE = 0, 1, 2


@jit_inline_llvm_vector_sums
def largest(row):
    """The largest entry of a row."""
    best = -np.inf
    for value in row:
        best = value if value > best else best
    return best


@jit_inline_llvm
def best_source(row):
    """The largest entry of a row, and where it stands.

    Two loops: the first one is done in vectors, the second one stops half way on average.
    """
    best = largest(row)
    source = 0
    while row[source] != best:
        source += 1
    return best, source


@jit_inline_llvm
def enter(own, own_entry, cost, row, entry):
    """Take what entering at a member of a cycle costs into the row of the cycle."""
    for head in range(len(row)):
        value = own[head] - cost
        better = value > row[head]
        row[head] = value if better else row[head]
        entry[head] = own_entry[head] if better else entry[head]


@jit_internal_no_allocation
def contract(arcs, who, cost, row_of, above, node_of, cycle, node):
    """Make one ``node`` of the nodes of a cycle; its row holds what entering it costs.

    Entering at a node v of the cycle replaces v's arc in the cycle.  ``who[row, head]`` is the
    word at which the best arc from ``head`` enters.
    """
    n = len(arcs)
    first = cycle[0]
    row_of[node] = row_of[first]
    row, entry = arcs[row_of[node]], who[row_of[node]]
    for head in range(n + 1):
        row[head] -= cost[first]
    for i in range(1, len(cycle)):
        member = cycle[i]
        enter(arcs[row_of[member]], who[row_of[member]], cost[member], row, entry)
    for member in cycle:
        above[member] = node
    for word in range(1, n + 1):
        if above[node_of[word]] == node:
            node_of[word] = node
            row[word] = -np.inf


@jit_internal_no_allocation
def grow(arcs, who, cost, nodes, words):
    """Best arcs into all nodes; cycles become nodes.  Returns how many nodes there are, 0 if stuck.

    ``nodes[6, 2 n + 1]`` are rows, sources, entries, the node above, marks, and the path.
    """
    n = len(arcs)
    row_of, source_of, entry_of = nodes[0], nodes[1], nodes[2]
    above, mark, path = nodes[3], nodes[4], nodes[5]
    node_of = words
    for node in range(n + 1):
        row_of[node] = node - 1
        node_of[node] = node
        if node > 0:
            who[node - 1, :] = node
    nodes[3:5] = 0
    mark[0] = DONE
    count = n + 1
    for word in range(1, n + 1):
        node, length = node_of[word], 0
        while mark[node] == FRESH:
            # 1. The best arc into the node at the end of the path.
            best, source = best_source(arcs[row_of[node]])
            if best == -np.inf:
                return 0
            cost[node], source_of[node] = best, source
            entry_of[node] = who[row_of[node], source]
            path[length], mark[node] = node, ON_PATH
            length += 1
            # 2. Where it comes from: new ground, the path itself, or what hangs on the root.
            node = node_of[source]
            if mark[node] == ON_PATH:
                first = length - 1
                while path[first] != node:
                    first -= 1
                cycle = path[first:length]
                contract(arcs, who, cost, row_of, above, node_of, cycle, count)
                node, length = count, first
                count += 1
        for i in range(length):
            mark[path[i]] = DONE
    return count


@jit_internal_no_allocation
def expand(nodes, count, n, heads):
    """The heads of all words from the arcs into nodes, the last ones first.

    An arc that enters a cycle at a word takes the place of the arcs, in this cycle and the
    cycles inside, that enter where the word is.
    """
    source_of, entry_of, above, replaced = nodes[1], nodes[2], nodes[3], nodes[4]
    replaced[:count] = 0
    for node in range(count - 1, 0, -1):
        if replaced[node]:
            continue
        inside = entry_of[node]
        heads[inside - 1] = source_of[node]
        while inside != node:
            replaced[inside] = 1
            inside = above[inside]


@jit
def best_arborescence(arcs, heads):
    """Heads ``heads[n]`` of the best tree; returns whether there is one.  Overwrites ``arcs``.

    Example:
        >>> import numpy as np
        >>> heads = np.empty(2, np.int64)
        >>> best_arborescence(np.array([[1.0, -np.inf, 6.0], [0.0, 4.0, -np.inf]]), heads)
        True
        >>> heads.tolist()
        [2, 0]
    """
    n = len(arcs)
    nodes = np.empty((6, 2 * n + 1), np.int64)
    count = grow(
        arcs, np.empty((n, n + 1), np.int64), np.empty(2 * n + 1), nodes, np.empty(n + 1, np.int64)
    )
    if count:
        expand(nodes, count, n, heads)
    return count > 0


@jit_inline_llvm
def count_roots(heads):
    """How many words hang on the root itself."""
    roots = 0
    for head in heads:
        roots += head == 0
    return roots


@jit_inline_llvm
def discourage_roots(arcs):
    """Lower the root's arcs so far that a second one is never worth it."""
    low, high = np.inf, -np.inf
    for row in arcs:
        for value in row:
            if value > -np.inf:
                low, high = min(low, value), max(high, value)
    for word in range(len(arcs)):
        arcs[word, 0] -= (len(arcs) + 1) * (high - low) + 1.0


@jit_structure
def maximize_arborescence(start, data, scores, inner, scale, states):
    """Best vertex, into ``states[n]``; returns its value, and 0 for the inner parts."""
    n = data[0]
    arcs = np.empty((n, n + 1))
    heads = np.empty(n, np.int64)
    states[:] = 0
    read_arcs(start, data, scores, arcs)
    possible = best_arborescence(arcs, heads)
    if possible and data[SINGLE_ROOT] and count_roots(heads) > 1:
        read_arcs(start, data, scores, arcs)
        discourage_roots(arcs)
        possible = best_arborescence(arcs, heads) and count_roots(heads) == 1
    if not possible:
        return -np.inf, -np.inf
    return write_states(start, data, scores, heads, states), 0.0


@jit_structure
def parts_arborescence(start, data, states, weight, out_inner):
    """Whether the states are a tree; there are no inner parts."""
    heads = np.empty((2, data[0]), np.int64)
    read_heads(start, data, states, heads[0])
    return is_tree(heads[0], data[SINGLE_ROOT] > 0, heads[1])


@jit_internal_no_allocation
def eliminate(rows, first, last, k, temperature, gone):
    """Leave word ``k`` out of ``rows``; the words ``first … last - 1`` are left.

    Column 0 of a row is the root, ``n + 1`` the root as a last resort.  The row goes to ``gone``.
    Returns the pivot: what the row weighs without its last resort.
    """
    n = len(rows)
    own = rows[k - 1]
    for column in range(n + 2):
        gone[column] = own[column]
    pivot = own[0]
    for h in range(first, last):
        pivot = join(pivot, own[h], temperature)
    for m in range(first, last):
        row = rows[m - 1]
        through = row[k]
        if through == -np.inf:
            continue
        if pivot == -np.inf:  # k hangs on the root itself
            row[0] = join(row[0], through, temperature)
            continue
        through -= pivot
        row[0] = join(row[0], own[0] + through, temperature)
        row[n + 1] = join(row[n + 1], own[n + 1] + through, temperature)
        for h in range(first, last):
            row[h] = join(row[h], own[h] + through, temperature)
        row[m] = -np.inf  # a way back to where it began is none
    return pivot


@jit_internal_no_allocation
def substitute_back(order, gone, pivots, root, temperature, q):
    """Fill ``q``: the share of ways up from each word that reach column ``root`` of the rows.

    ``order[n - 1]`` are the words as they were eliminated.
    """
    for i in range(len(order) - 1, -1, -1):
        if pivots[i] == -np.inf:
            q[order[i]] = 0.0  # it hangs on the root itself
            continue
        row = gone[i]
        total = row[root]
        for j in range(i + 1, len(order)):
            total = join(total, row[order[j]] + q[order[j]], temperature)
        q[order[i]] = total - pivots[i]


@jit_inline_llvm
def hang_on_root(arcs, single_root, rows):
    """Rows ``[n, n + 2]`` of all arcs; a single word's arc from the root is its last resort."""
    n = len(arcs)
    for word in range(n):
        for head in range(n + 1):
            rows[word, head] = arcs[word, head]
        rows[word, n + 1] = -np.inf
        if single_root:
            rows[word, 0], rows[word, n + 1] = -np.inf, arcs[word, 0]


@jit_internal_no_allocation
def eliminate_range(rows, left, others, temperature, weight, settled, gone, pivots, order, done):
    """Leave out all ``others`` but what is ``left``: a part of them at one end.

    Both are ranges ``(first, last)`` of words.  Returns the weight of everything gone, -inf
    where there is no tree, and whether a word is known to hang on the root.
    """
    n = len(rows)
    for step in range(others[1] - others[0] - (left[1] - left[0])):
        # The end away from what stays, so that what is left is a range.
        from_end = left[0] == others[0]
        k = others[1] - 1 - step if from_end else others[0] + step
        first, last = (others[0], k) if from_end else (k + 1, others[1])
        pivot = eliminate(rows, first, last, k, temperature, gone[done])
        pivots[done], order[done] = pivot, k
        done += 1
        if pivot == -np.inf:
            pivot = -np.inf if settled else rows[k - 1, n + 1]
            settled = True
        weight += pivot
    return weight, settled


@jit_internal
def through_arcs(arcs, single_root, temperature, out):
    """Soft maximum of the trees with each arc, into ``out[n, n + 1]`` (word, head).

    Returns the soft maximum of all trees; ``out`` is -inf where there are none.
    """
    n = len(arcs)
    depth = 1
    while 2 ** (depth - 1) < n:
        depth += 1
    # Level by level: rows of the words that are left, the weight of those that are gone, and
    # whether a word is known to hang on the root.
    levels, weights, settled = np.empty((depth, n, n + 2)), np.zeros(depth), [False] * depth
    hang_on_root(arcs, single_root, levels[0])
    gone, pivots, q = np.empty((n, n + 2)), np.empty(n), np.empty(n + 1)
    order = np.empty(n, np.int64)
    waiting = [((1, n + 1), (1, n + 1), 0)]
    best = -np.inf
    while waiting:
        left, others, level = waiting.pop()
        rows = levels[level]
        if level > 0:
            # 1. Eliminate the other half of what is left at the level above.
            rows[others[0] - 1 : others[1] - 1] = levels[level - 1, others[0] - 1 : others[1] - 1]
            weights[level], settled[level] = eliminate_range(
                rows, left, others, temperature, weights[level - 1], settled[level - 1],
                gone, pivots, order, n - (others[1] - others[0]),
            )  # fmt: skip
        if left[1] - left[0] > 1:
            middle = (left[0] + left[1]) // 2
            waiting.append(((middle, left[1]), left, level + 1))
            waiting.append(((left[0], middle), left, level + 1))
            continue
        # 2. One word is left: its head is the root, or a word from which a way leads there.
        m = left[0]
        root = n + 1 if single_root and not settled[level] else 0
        best = weights[level] + rows[m - 1, root]
        if best == -np.inf:
            out[:] = -np.inf
            return best
        substitute_back(order[: n - 1], gone, pivots, root, temperature, q)
        q[0] = -np.inf if single_root and settled[level] else 0.0
        q[m] = -np.inf
        for h in range(n + 1):
            out[m - 1, h] = weights[level] + arcs[m - 1, h] + q[h]
    return best


@jit_structure
def max_marginals_arborescence(start, data, scores, inner, out):
    """Best value with each place chosen, into ``out[places]``; -inf where there is none."""
    n = data[0]
    arcs, through = np.empty((n, n + 1)), np.empty((n, n + 1))
    read_arcs(start, data, scores, arcs)
    through_arcs(arcs, data[SINGLE_ROOT] > 0, 0.0, through)
    write_places(start, data, through, out)


@jit_structure
def marginals_arborescence(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places; returns ``temperature`` times the log-partition."""
    n = data[0]
    arcs, through = np.empty((n, n + 1)), np.empty((n, n + 1))
    read_arcs(start, data, scores, arcs)
    total = through_arcs(arcs, data[SINGLE_ROOT] > 0, temperature, through)
    write_places(start, data, through, out)
    arcs_to_probabilities(start, total, temperature, out)
    return total


@jit_internal_no_allocation
def arcs_to_probabilities(start, total, temperature, out):
    """Soft maxima of places into probabilities; those of every word add up to 1."""
    if total == -np.inf:
        out[:] = 0.0
        return
    for word in range(len(start) - 1):
        own = -np.inf
        for place in range(start[word], start[word + 1]):
            own = join(own, out[place], temperature)
        for place in range(start[word], start[word + 1]):
            out[place] = exp((out[place] - own) / temperature)
