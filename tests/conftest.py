"""What tests share: the data folder, reproducible property tests, and processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Same examples in every run, and no deadline: the first example may compile kernels.
settings.register_profile("assent", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("assent")

# Names of tests, pages and examples that decode many problems at once.
DECODE_MANY = "decode_many", "many_at_once"


@pytest.hookimpl(tryfirst=True)  # before they are handed out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say which tests share a process: those of a file, and all that decode many at once.

    The kernels of the latter take a minute to compile, which two processes would do twice.
    """
    for item in items:
        is_many = any(name in item.nodeid for name in DECODE_MANY)
        group = "many" if is_many else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def instances_folder() -> Path:
    """The folder of decoding instances; tests that need it skip without ASSENT_DATA."""
    root = os.environ.get("ASSENT_DATA")
    if not root:
        pytest.skip("ASSENT_DATA is unset: the real decoding instances are not at hand")
    folder = Path(root) / "instances"
    if not folder.is_dir():
        pytest.skip(f"ASSENT_DATA has no folder {folder.name!r}")
    return folder
