"""Machine code of one kernel from a file: what running it needs is made ready, and no more.

Numba would also prepare for compiling, import what it compiled from, and read the code that is
linked into other kernels with all its names, which takes longer than the rest.
"""

from __future__ import annotations

import pickle
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime import rtsys


class KeptLibrary(JITCodeLibrary):
    """A library whose code for linking is read when a kernel that is compiled asks for it.

    What comes with the package has none: it is for running only.
    """

    _shared_module: Any

    def __init__(self, codegen: Any, kept: tuple[str, str, tuple[bytes, bytes]]) -> None:
        name, _, (self._machine_code, self.for_linking) = kept
        super().__init__(codegen, name)
        self.enable_object_caching()
        self._set_compiled_object(self._machine_code)
        self._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of an entry of this library; 0 if it has none of this name."""
        # Machine code names its entries as they are, side by side.
        if name.encode() in self._machine_code:
            self._codegen._engine._defined_symbols.add(name)
        return super().get_pointer_to_function(name)

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self.for_linking)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


class KernelUnpickler(pickle.Unpickler):
    """Reads what :meth:`numba.core.compiler.CompileResult._reduce` took apart."""

    def find_class(self, module: str, name: str) -> Any:
        """The object of this name; environments are made here."""
        if name == _rebuild_env.__name__:
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: list, name: str) -> Environment:
    """The constants of a compiled function; what else its module knows is for the compiler."""
    environment = lookup_environment(name)
    if environment is None:
        environment = Environment({"__name__": module})
        environment.consts[:] = constants
        environment.env_name = name
        Environment._memo[name] = environment
    return environment


def rebuilt(target_context: Any, reduced: tuple) -> CompileResult:
    """What :meth:`numba.core.compiler.CompileResult._reduce` took apart, ready to run."""
    kept, description, environment, signature, _, _, annotation, reload_init, environments = reduced
    rtsys.initialize(target_context)  # reference counts: kernels that return arrays call it
    for prepare in reload_init:
        prepare()
    library = KeptLibrary(target_context.codegen(), kept)
    entry = target_context.get_executable(library, description, environment)
    for each in environments:
        library.codegen.set_env(each.env_name, each)
    return CompileResult(
        typing_context=target_context.typing_context, target_context=target_context,
        entry_point=entry, typing_error=None, type_annotation=annotation, signature=signature,
        objectmode=False, lifted=(), fndesc=description, library=library, call_helper=None,
        environment=environment, metadata=None, reload_init=reload_init,
        referenced_envs=environments,
    )  # fmt: skip


def can_be_called(code: CompileResult) -> bool:
    """Whether other kernels can call this code, as that for linking is there or was just made."""
    return bool(getattr(code.library, "for_linking", True))


def is_linkable(reduced: tuple) -> bool:
    """Whether what `rebuilt` takes has the code that is linked into other kernels."""
    return bool(reduced[0][2][1])


def without_linking(reduced: tuple) -> tuple:
    """What `rebuilt` takes, without the code that is linked into other kernels."""
    (name, kind, (machine_code, _)), *rest = reduced
    return ((name, kind, (machine_code, b"")), *rest)
