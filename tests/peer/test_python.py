"""What of Python real Triton takes: its front end reads the kernels of ``tests/language/test_python.py``, and refuses those that are refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.language.test_python import CASES, CONST, REFUSED, source

pytestmark = pytest.mark.peer
pytest.importorskip("triton")

#: Triton takes them and gives no value that means anything, or ignores a part.
ONLY_TRITON = {
    "for i in range(0, n):\n    pass\ntl.store(o, i)",  # poison
    "x = [i + j for i in (1, 2) for j in (3, 4)]",
    "x = [i for i in (1, 2) if n > i]",  # the condition is not looked at
    "tl.static_assert(C == 7, f'{C:q}')",  # nor the format
}


def read(statements: str, directory: Path) -> Any:
    """The kernel as Triton's own IR."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend

    path = directory / "kernel.py"
    path.write_text(source(statements), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = GPUTarget("cuda", 90, 32)
    backend: Any = make_backend(target)
    signature = {"o": "*i32", "n": "i32", "C": "constexpr", "M": "constexpr"}
    made = ASTSource(module.kernel, signature, {(2,): CONST["C"], (3,): CONST["M"]}, {})
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return made.make_ir(
        target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )


@pytest.mark.parametrize("name", [name for name in CASES if name != "names only"])
def test_triton_reads_it(name: str, tmp_path: Path) -> None:
    assert read(CASES[name][0], tmp_path)


@pytest.mark.parametrize("statements", [s for s, _ in REFUSED if s not in ONLY_TRITON])
def test_triton_refuses_it(statements: str, tmp_path: Path) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011  # of many classes, Python's own among them
        read(statements, tmp_path)
