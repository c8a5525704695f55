"""Code of functions that only kernels call: it is linked into theirs and never runs by itself.

Numba optimises every function with all that it calls, and makes machine code of it, before the
functions that call it do the same again with their copies.  Here only the last of these, which
Python calls, does so; what a part leaves behind is the code that is linked.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

# How Numba names the variables that hold a function's environment (what its module knows).
_ENVIRONMENT = "_ZN08NumbaEnv"


class PartLibrary(JITCodeLibrary):
    """A library that is linked into others, as it was before any optimisation of the whole."""

    _final_module: Any

    def _optimize_final_module(self) -> None:
        """Left to those who link it."""

    def _finalize_final_module(self) -> None:
        """Machine code for the environments alone, whose addresses Numba fills in."""
        linked = self._final_module
        names = [variable.name for variable in linked.global_variables]
        self._final_module = binding.parse_assembly(
            "\n".join(f"@{n} = common global ptr null" for n in names if n.startswith(_ENVIRONMENT))
        )
        self._final_module.name = linked.name
        self._final_module.triple = linked.triple
        self._final_module.data_layout = linked.data_layout
        super()._finalize_final_module()
        self._final_module = linked


class PartCompiler(Compiler):
    """Numba's compiler, for a function that only kernels call."""

    def compile_extra(self, func: Any) -> Any:
        """Compile ``func`` into a :class:`PartLibrary`."""
        library = PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()  # so that it can be kept
        self.state.library = library
        return super().compile_extra(func)
