"""The package is imported before any of its modules.

Doctests import a module by its path, and would put it in the place of a function of the same name
(`assent.decode`) if it came first.  What is tested is compiled code, however small a model is.
"""

import assent  # noqa: F401
from assent.kernels.interpreted import always_compile

always_compile()
