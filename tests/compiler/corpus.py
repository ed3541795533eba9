"""Wrong kernels and what is said of them (see ``tests/failing/README.md``); right ones and what they compile to."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from teenybuild.api import compile
from teenybuild.diagnostics import UserError
from tests.support.run import workspace

TESTS = Path(__file__).parents[1]
FAILING = TESTS / "failing" / "kernels"


def cases(directory: Path) -> list[Path]:
    """The cases of a corpus: directories, by name."""
    return sorted(path for path in directory.iterdir() if path.is_dir())


def complaints(case: Path) -> str:
    """What is said of the kernel of a case, as text; paths in it are relative to the case.

    ``request.json`` holds the arguments of ``teenybuild.compile``, with ``function`` and ``target`` where they are not ``kernel`` and ``cpu``.
    """
    request: dict[str, Any] = json.loads((case / "request.json").read_text(encoding="utf-8"))
    function, target = request.pop("function", "kernel"), request.pop("target", "cpu")
    with contextlib.chdir(case):
        try:
            compile(f"kernel.py:{function}", target, cache_dir=workspace() / "cache", **request)
        except UserError as error:
            return f"{error}\n"
    return "nothing is wrong\n"
