"""The repository's own kernels.toml, built once for all end-to-end tests."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the library's package, for the host and for a GPU's layouts run on it."""
    directory = tmp_path_factory.mktemp("library")
    command = [
        sys.executable, "-m", "teenybuild", "build", "-q", "-m", str(ROOT / "kernels.toml"),
        "--build-dir", str(directory / "build"), "--cache-dir", str(directory / "cache"), "--loader-dir", str(directory),
        "--target", "cpu", "--target", "cpu:sm_90a",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return directory


@pytest.fixture(scope="session")
def package(built: Path) -> Iterator[ModuleType]:
    """The library's package, imported."""
    sys.path.insert(0, str(built))
    try:
        yield importlib.import_module("teeny_kernels")
    finally:
        sys.path.remove(str(built))
