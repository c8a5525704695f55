"""What pyproject.toml cannot say: a wheel with compiled kernels is for one platform and Python.

`build_wheel.py` puts the kernels into a copy of the sources and builds there; an installation from
the sources themselves has none, and compiles what it needs.
"""

from pathlib import Path

from setuptools import Distribution, setup

SHIPPED = Path(__file__).parent / "src" / "assent" / "kernels" / "shipped"


class MaybeCompiled(Distribution):
    """A distribution that holds machine code if there are compiled kernels."""

    def has_ext_modules(self) -> bool:
        return SHIPPED.is_dir()


setup(distclass=MaybeCompiled)
