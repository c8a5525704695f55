/* The recurrences of structured kinds as plain loops, to judge the compiled kernels by.
 *
 * Arrays are row by row.  Arcs are [n][n + 1]: the scores of the heads 0 (the root) to n of each
 * word; a word's own entry is LOW, which stands for "impossible".  Each function solves the same
 * problem so many times and returns the value of the best tree.
 */

#include <string.h>

#define LOW -1e300

static double largest_sum(const double *a, const double *b, long count) {
    double best = LOW;
    for (long i = 0; i < count; i++) {
        double value = a[i] + b[i];
        best = value > best ? value : best;
    }
    return best;
}

static long best_term(const double *a, const double *b, long count) {
    double best = 2 * LOW;
    long place = 0;
    for (long i = 0; i < count; i++)
        if (a[i] + b[i] > best) best = a[i] + b[i], place = i;
    return place;
}

static double tree_value(long n, const double *arcs, const long *heads) {
    double total = 0;
    for (long m = 0; m < n; m++) total += arcs[m * (n + 1) + heads[m]];
    return total;
}

/* Eisner's dynamic programme; chart has room for five tables of (n + 1) x (n + 1). */
double eisner(long n, const double *arcs, double *chart, long *heads, long *stack, long times) {
    long s = n + 1;
    double *right = chart, *left = chart + s * s, *reach = chart + 2 * s * s;
    double *right_by_end = chart + 3 * s * s, *left_by_end = chart + 4 * s * s;
    double value = 0;
    while (times-- > 0) {
        for (long j = 0; j <= n; j++) {
            right[j * s + j] = left[j * s + j] = 0;
            right_by_end[j * s + j] = left_by_end[j * s + j] = 0;
            for (long i = j - 1; i >= 0; i--) {
                double meet = largest_sum(right + i * s + i, left + j * s + i + 1, j - i);
                reach[i * s + j] = meet + arcs[(j - 1) * s + i];
                double own = largest_sum(
                    reach + i * s + i + 1, right_by_end + j * s + i + 1, j - i);
                right[i * s + j] = right_by_end[j * s + i] = own;
                if (i == 0) break;
                reach[j * s + i] = meet + arcs[(i - 1) * s + j];
                own = largest_sum(reach + j * s + i, left_by_end + i * s + i, j - i);
                left[j * s + i] = left_by_end[i * s + j] = own;
            }
        }
        long size = 1; /* entries: 0 right, 1 left, 2 arc; head; end */
        stack[0] = 0, stack[1] = 0, stack[2] = n;
        while (size > 0) {
            long *top = stack + 3 * --size;
            long kind = top[0], head = top[1], end = top[2], k;
            if (head == end) continue;
            if (kind == 2) {
                heads[end - 1] = head;
                long i = head < end ? head : end, j = head < end ? end : head;
                k = i + best_term(right + i * s + i, left + j * s + i + 1, j - i);
                top[0] = 0, top[1] = i, top[2] = k;
                top[3] = 1, top[4] = j, top[5] = k + 1;
            } else {
                if (kind == 0)
                    k = head + 1 + best_term(reach + head * s + head + 1,
                                             right_by_end + end * s + head + 1, end - head);
                else
                    k = end + best_term(reach + head * s + end, left_by_end + end * s + end,
                                        head - end);
                top[0] = kind, top[1] = k, top[2] = end;
                top[3] = 2, top[4] = head, top[5] = k;
            }
            size += 2;
        }
        value = tree_value(n, arcs, heads);
    }
    return value;
}

/* Chu-Liu-Edmonds, contracting cycles along a growing path; nodes has room for 7 (2 n + 2). */
double chu_liu_edmonds(long n, const double *given, double *arcs, long *who, double *cost,
                       long *nodes, long *heads, long times) {
    long s = n + 1, room = 2 * n + 2;
    long *row_of = nodes, *source_of = nodes + room, *entry_of = nodes + 2 * room;
    long *above = nodes + 3 * room, *mark = nodes + 4 * room, *path = nodes + 5 * room;
    long *node_of = nodes + 6 * room;
    double value = 0;
    while (times-- > 0) {
        memcpy(arcs, given, n * s * sizeof(double));
        for (long v = 0; v <= n; v++) row_of[v] = v - 1, node_of[v] = v;
        memset(above, 0, 2 * room * sizeof(long));
        mark[0] = 2;
        long count = n + 1;
        for (long word = 1; word <= n; word++) {
            long node = node_of[word], length = 0;
            while (mark[node] == 0) {
                const double *row = arcs + row_of[node] * s;
                double best = row[0];
                long source = 0;
                for (long h = 1; h <= n; h++)
                    if (row[h] > best) best = row[h], source = h;
                cost[node] = best, source_of[node] = source;
                entry_of[node] = node <= n ? node : who[row_of[node] * s + source];
                path[length++] = node, mark[node] = 1;
                node = node_of[source];
                if (mark[node] != 1) continue;
                long first = length - 1;
                while (path[first] != node) first--;
                row_of[count] = row_of[path[first]];
                double *into = arcs + row_of[count] * s;
                long *entry = who + row_of[count] * s;
                for (long i = first; i < length; i++) {
                    long member = path[i];
                    above[member] = count;
                    const double *own = arcs + row_of[member] * s;
                    const long *own_entry = who + row_of[member] * s;
                    for (long h = 0; h <= n; h++) {
                        double reduced = own[h] - cost[member];
                        if (i == first || reduced > into[h]) {
                            into[h] = reduced;
                            entry[h] = member <= n ? member : own_entry[h];
                        }
                    }
                }
                for (long w = 1; w <= n; w++)
                    if (above[node_of[w]] == count) node_of[w] = count, into[w] = LOW;
                node = count++, length = first;
            }
            for (long i = 0; i < length; i++) mark[path[i]] = 2;
        }
        memset(mark, 0, count * sizeof(long));
        for (long node = count - 1; node > 0; node--) {
            if (mark[node]) continue;
            long inside = entry_of[node];
            heads[inside - 1] = source_of[node];
            for (; inside != node; inside = above[inside]) mark[inside] = 1;
        }
        value = tree_value(n, given, heads);
    }
    return value;
}

/* Viterbi over k possible modifiers; pairs[b (b - 1) / 2 + a] is earned where b follows a. */
double head_automaton(long k, const double *gain, const double *pairs, double scale, double *up,
                      long *chosen, long times) {
    double value = 0;
    while (times-- > 0) {
        up[0] = 0;
        for (long b = 1; b <= k + 1; b++) {
            const double *row = pairs + b * (b - 1) / 2;
            double best = LOW;
            for (long a = 0; a < b; a++) {
                double next = up[a] + scale * row[a];
                best = next > best ? next : best;
            }
            up[b] = best + (b <= k ? gain[b - 1] : 0);
        }
        memset(chosen, 0, k * sizeof(long));
        for (long b = k + 1; b > 0;) {
            const double *row = pairs + b * (b - 1) / 2;
            double best = 2 * LOW;
            long before = 0;
            for (long a = 0; a < b; a++)
                if (up[a] + scale * row[a] > best) best = up[a] + scale * row[a], before = a;
            if (before > 0) chosen[before - 1] = 1;
            b = before;
        }
        value = up[k + 1];
    }
    return value;
}
