"""Kernels compiled without reference counting allocate nothing, nor does what is inlined in them.

Numba notices only where nobody else has compiled the same NumPy method before, so that a mistake
shows on the first use on some machines and on no other.
"""

import ast
from collections import defaultdict
from pathlib import Path

import assent.kernels

ALLOCATING = {
    "append", "arange", "argsort", "astype", "concatenate", "copy", "cumsum", "empty", "empty_like",
    "flatnonzero", "flatten", "full", "nonzero", "ones", "ravel", "repeat", "where", "zeros",
    "zeros_like",
}  # fmt: skip


def called(function):
    """All functions that a function calls, by name, and its methods, with a dot in front."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield "." + node.func.attr


def kernels():
    """Decorators and calls of every kernel, by its name."""
    found = defaultdict(list)
    for path in Path(assent.kernels.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                words = " ".join(map(ast.unparse, node.decorator_list))
                found[node.name].append((words, set(called(node))))
    return found


def allocations(name, calls, found, seen=frozenset()):
    """Allocating methods that are called, or stand in functions that Numba inlines."""
    yield from ((name, method) for method in ALLOCATING if "." + method in calls)
    for other in calls - seen:
        for words, own in found.get(other, ()):
            if "jit_inline" in words and "llvm" not in words:
                yield from allocations(other, own, found, seen | {other})


def test_kernels_without_reference_counting_allocate_nothing():
    found, checked, wrong = kernels(), 0, []
    for name, versions in found.items():
        for words, calls in versions:
            if "no_allocation" in words or "inline_llvm" in words:
                checked += 1
                wrong += [(name, *what) for what in allocations(name, calls, found)]
    assert checked > 50 and wrong == []
