"""Generated sources that are kept whole, for review."""

from __future__ import annotations

import re
from pathlib import Path

from .manifests import NESTED, VECTOR_ADD, ZOO
from .packages import built

DIRECTORY = Path(__file__).parents[1] / "golden" / "loader" / "package"

#: Golden file → manifest and path in its package.
SOURCES = {
    "init.py": (ZOO, "__init__.py"),
    "vector_add.py": (VECTOR_ADD, "_kernels/vector_add.py"),
    "vector_add.json": (VECTOR_ADD, "_kernels/vector_add.json"),
    "affine.py": (ZOO, "_kernels/affine.py"),
    "transpose_copy.py": (ZOO, "_kernels/transpose_copy.py"),
    "awkward.py": (ZOO, "_kernels/awkward.py"),
    "scalars.py": (ZOO, "_kernels/scalars.py"),
    "where_am_i.py": (ZOO, "_kernels/where_am_i.py"),
    "concat.py": (NESTED, "_kernels/concat.py"),
    "affine_of.py": (NESTED, "_kernels/affine_of.py"),
    "shift.py": (NESTED, "_kernels/shift.py"),
    "shift.json": (NESTED, "_kernels/shift.json"),
}


def generated(name: str) -> str:
    """What is generated for a golden file; digests, which change with the compiler, left out."""
    text, path = SOURCES[name]
    return re.sub(r"\b[0-9a-f]{64}\b", "…", built(text).files[path].decode())


def write() -> None:
    """Writes every golden file."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        (DIRECTORY / name).write_text(generated(name), encoding="utf-8")
