"""``.mlir`` of every kernel of the catalogue and of ``tests/kernels``: real Triton's parser reads it, and its verifier accepts it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.compiler.corpus import GOLDEN
from tests.kernels.corpus import KERNELS
from tests.language import test_inline_asm
from tests.support.catalogue import CATALOGUE, Entry

pytestmark = pytest.mark.peer
pytest.importorskip("triton")


@pytest.fixture(scope="module")
def context() -> Any:
    from triton._C.libtriton import ir

    made = ir.context()
    ir.load_dialects(made)
    return made


def parse(text: str, path: Path, context: Any) -> Any:
    """The module; raises RuntimeError where it is not one."""
    from triton._C.libtriton import ir

    path.write_text(text, encoding="utf-8")
    module = ir.parse_mlir_module(str(path), context)
    assert module.verify() in (None, True)
    return module


def operations(text: str) -> list[str]:
    """The operations of MLIR text, in order. (Yields of nothing are not printed by MLIR.)"""
    found = re.findall(
        r"\b(?:tt|arith|math|scf)\.[a-z_][a-z_.]*", re.sub(r"!tt\.ptr|tt\.divisibility|loc\(.*?\)", "", text)
    )
    return [name for name in found if name != "scf.yield"]


@pytest.mark.parametrize("name", CATALOGUE)
def test_triton_reads_what_we_print(name: str, context: Any, tmp_path: Path) -> None:
    """And understands it as the same operations."""
    text = CATALOGUE[name].compile("cpu").mlir
    module = parse(text, tmp_path / "kernel.mlir", context)
    assert operations(str(module)) == operations(text)


def test_triton_reads_inline_assembly(context: Any, tmp_path: Path) -> None:
    """Which no kernel of the catalogue has: those are compiled for the host too."""
    text = Entry("asm", test_inline_asm.KERNEL, test_inline_asm.TYPES).compile("sm_90a").mlir
    module = parse(text, tmp_path / "kernel.mlir", context)
    assert operations(str(module)) == operations(text)


@pytest.mark.parametrize("name", KERNELS)
def test_triton_reads_what_we_print_of_public_kernels(name: str, context: Any, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    with np.errstate(all="ignore"):
        texts = [kernel.compile(case, "cpu").mlir for case in kernel.cases(np.random.default_rng(1))]
    for text in texts:
        module = parse(text, tmp_path / "kernel.mlir", context)
        assert operations(str(module)) == operations(text)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.mlir")), ids=lambda path: path.stem)
def test_triton_reads_the_goldens(path: Path, context: Any, tmp_path: Path) -> None:
    parse(path.read_text(encoding="utf-8"), tmp_path / "kernel.mlir", context)


@pytest.mark.parametrize(
    ("before", "after"),
    [("arith.addf", "arith.subtractf"), ("tensor<1024xf32>", "tensor<512xf32>"), ("tt.return", "tt.yield")],
)
def test_triton_refuses_what_is_malformed(
    before: str, after: str, context: Any, tmp_path: Path, capfd: Any
) -> None:
    """So that the tests above can fail."""
    text = CATALOGUE["softmax"].compile("cpu").mlir
    assert before in text
    with pytest.raises(RuntimeError):
        parse(text.replace(before, after, 1), tmp_path / "kernel.mlir", context)
    assert "error:" in capfd.readouterr().err
