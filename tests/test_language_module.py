"""``teenybuild.language``: what editors see is what the compiler checks calls against, and nothing of it runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import teenybuild
import teenybuild.language as tl
from teenybuild.compiler.frontend.builtins import BUILTINS, VALUES, signature
from teenybuild.language import docs

FUNCTIONS = sorted(name.removeprefix("tl.") for name in BUILTINS if name.startswith("tl."))


def plain(default: object) -> object:
    """A default as both sides can say it: dtypes and enumerations by name."""
    if isinstance(default, tl.dtype):
        default = VALUES[f"tl.{default.name}"]
    return default if default is inspect.Parameter.empty else re.sub(r"^.*\.", "", str(default)).lower()


def shape(signature: inspect.Signature) -> list[tuple[str, object, object]]:
    """Names, kinds and defaults."""
    return [(p.name, p.kind, plain(p.default)) for p in signature.parameters.values()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_signature_that_calls_are_checked_against(name: str) -> None:
    function: Any = tl
    for step in name.split("."):
        function = getattr(function, step)
    assert shape(inspect.signature(function)) == shape(signature(f"tl.{name}"))
    assert function.__doc__


def test_every_name_is_one_of_the_language() -> None:
    public = {
        n
        for n, v in vars(tl).items()
        if not n.startswith("_") and inspect.isfunction(v) and v.__module__ == tl.__name__
    }
    assert public - {"jit"} <= {n.split(".")[0] for n in FUNCTIONS}
    dtypes = {n for n, v in vars(tl).items() if isinstance(v, tl.dtype)}
    assert {f"tl.{n}" for n in dtypes} <= set(VALUES)


def test_calling_anything_of_it_says_how_to_launch() -> None:
    @teenybuild.jit
    def kernel(x: Any) -> None: ...

    for call in (lambda: kernel(1), lambda: kernel[(1,)](1), lambda: tl.program_id(0), lambda: tl.load(None)):
        with pytest.raises(RuntimeError, match=r"only inside a kernel.*teenybuild build"):
            call()


def test_a_type_checker_accepts_a_kernel_that_uses_it(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(
        textwrap.dedent("""
            import teenybuild
            import teenybuild.language as tl


            @teenybuild.jit
            def softmax(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
                row = tl.program_id(0)
                columns = tl.arange(0, BLOCK)
                x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
                e = tl.exp(x - tl.max(x, axis=0))
                tl.store(out_ptr + row * n + columns, e / tl.sum(e, axis=0), mask=columns < n)
        """)
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", str(kernel)], capture_output=True, text=True, check=False,
        cwd=Path(teenybuild.__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_reference_is_made_from_it() -> None:
    assert docs.REFERENCE.read_text(encoding="utf-8") == docs.reference(), (
        "run: python -m teenybuild.language.docs"
    )
