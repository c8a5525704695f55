"""Shared fixtures: the data folder, and reproducible property tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Same examples in every run, and no deadline: the first example may compile kernels.
settings.register_profile("assent", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("assent")


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
