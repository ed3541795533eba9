"""A package for each test that asks: ``package(manifest)``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .packages import imported, install

Package = Callable[[str], Any]


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Package]:
    """Builds, writes and imports the package of a manifest; the test's end forgets it."""
    with ExitStack() as stack:
        yield lambda text: stack.enter_context(imported(install(text, tmp_path)))
