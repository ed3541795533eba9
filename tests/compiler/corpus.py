"""Wrong kernels and what is said of them (see ``tests/failing/README.md``); right ones and what they compile to."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from teenybuild.api import compile
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.diagnostics import UserError
from tests.support.run import workspace

TESTS = Path(__file__).parents[1]
FAILING = TESTS / "failing" / "kernels"
GOLDEN = TESTS / "golden" / "compiler"

#: Kernels of the catalogue whose tile IR is written down.
GOLDEN_KERNELS = (
    "bools", "branch", "carried_tuple", "casts_bf16", "chosen_pointer", "copy_f32_aligned", "descriptor_argument", "early_return", "gather", "helpers", "matmul",
    "operators_u8", "running_reductions", "softmax", "three_d", "tuple_nested", "two_d_transposed",
)  # fmt: skip


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


def goldens() -> dict[str, str]:
    """What lies in ``tests/golden/compiler``, by file name, as it should be now."""
    from tests.support.catalogue import CATALOGUE

    found = {f"{name}.mlir": CATALOGUE[name].compile("cpu").mlir for name in GOLDEN_KERNELS}
    library = Library(GOLDEN, (GOLDEN,), static)
    found["canonical.txt"] = reach(find_function(library.module(GOLDEN / "statements.py"), "kernel")).text
    return found
