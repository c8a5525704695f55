"""The package is imported before any of its modules.

Doctests import a module by its path, and would put it in the place of a function of the same name
(`assent.decode`) if it came first.  What is tested is compiled code, however small a model is, and
limits of tests are about solving: what they see does not depend on the cache of kernels.
"""

import signal

import assent  # noqa: F401
from assent.kernels.compile_clock import always_compile

always_compile()

# Shells start what runs in the background deaf to Ctrl-C, which some tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
