"""Pointers as integers and back, pointers that lie in memory, pointers to other types: what grouped kernels do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import walk
from teenybuild.compiler.passes.access import accesses
from teenybuild.compiler.passes.order import OrderScalars
from teenybuild.compiler.pipeline import Job, front
from teenybuild.compiler.targets.base import Settings
from teenybuild.diagnostics import UserError
from teenybuild.targets import TARGETS
from teenybuild.testing import HOST_TARGETS
from teenybuild.testing import run as run_checked
from teenybuild.types import parse_type
from tests.support.run import build, run, write_source

GROUPED = """
@triton.jit
def kernel(x, y, table, o, n, BLOCK: tl.constexpr):
    tl.store(table, x.to(tl.int64))
    tl.store(table + 1, y.to(tl.int64))
    tl.debug_barrier()
    offs = tl.arange(0, BLOCK)
    for group in range(0, 2):
        p = tl.load(table + group).to(tl.pointer_type(tl.float16))
        v = tl.load(p + offs, mask=offs < n, other=0.0)
        tl.store(p + offs, v + 1.0, mask=offs < n)
        tl.store(o + group * n + offs, v, mask=offs < n)
    tl.debug_barrier()
    tl.store(table + tl.arange(0, 2), 0)  # addresses are others on every run
"""


@pytest.mark.parametrize("n", [1, 37, 64])
def test_addresses_in_memory(n: int) -> None:
    """An array of addresses, read by scalars, as grouped products do; both are read and written through."""
    rng = np.random.default_rng()
    x, y = (rng.standard_normal(n).astype(np.float16) for _ in range(2))
    table, o = np.zeros(2, np.int64), np.zeros(2 * n, np.float16)
    found = run(GROUPED, {"x": x, "y": y, "table": table, "o": o, "n": n}, {"BLOCK": 64})
    assert found["o"].tolist() == [*x, *y]
    assert found["x"].tolist() == (x + np.float16(1)).tolist()
    assert found["y"].tolist() == (y + np.float16(1)).tolist()


TILES = """
@triton.jit
def kernel(x, y, table, o, BLOCK: tl.constexpr):
    first = tl.arange(0, 2)
    tl.store(table + first, tl.where(first == 0, x, y).to(tl.uint64))
    tl.debug_barrier()
    offs = tl.arange(0, BLOCK)
    p = tl.load(table + offs % 2).to(tl.pointer_type(tl.int32)) + offs // 2
    tl.store(o + offs, tl.load(p))
    tl.debug_barrier()
    tl.store(table + first, 0)
"""

POINTERS = """
@triton.jit
def kernel(x, y, table, o, n, BLOCK: tl.constexpr):
    pointers = table.to(tl.pointer_type(tl.pointer_type(tl.float32)))
    tl.static_assert(pointers.dtype.element_ty == tl.pointer_type(tl.float32))
    tl.static_assert(pointers.dtype.element_ty.element_ty == tl.float32)
    tl.static_assert(pointers.dtype.is_ptr() and pointers.dtype.primitive_bitwidth == 64)
    tl.store(pointers, x)
    tl.store(pointers + 1, y)
    tl.debug_barrier()
    offs = tl.arange(0, BLOCK)
    a = tl.load(tl.load(pointers) + offs, mask=offs < n)
    b = tl.load(tl.load(pointers + 1) + offs, mask=offs < n)
    tl.store(o + offs, a - b, mask=offs < n)
    tl.debug_barrier()
    tl.store(table + tl.arange(0, 2), 0)
"""

COMPUTED = """
@triton.jit
def kernel(x, o, a, b, c, BLOCK: tl.constexpr):
    F32: tl.constexpr = tl.pointer_type(tl.float32)
    offs = tl.arange(0, BLOCK)
    base = x.to(tl.int64)
    tl.store(o + offs, tl.load((base + 4 * offs).to(F32)))
    strided = (tl.cast(x, tl.uint64) + (8 * (offs // 2)).to(tl.uint64)).to(F32)
    tl.store(a + offs, tl.load(strided + offs % 2))
    tl.store((b.to(tl.int64) + 4 * (offs ^ 3)).to(F32), tl.load(x + offs))
    tl.store(c + offs, (x + offs).to(tl.int64) - base)
"""

BYTES = """
@triton.jit
def kernel(x, o, p, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    low = x.to(tl.pointer_type(tl.int8), bitcast=True)
    tl.store(o + offs, tl.load(low + offs))
    halves = tl.cast(x, tl.pointer_type(tl.uint16))
    tl.store(p + offs // 2, tl.load(halves + offs // 2))
    words = (o + 4 * offs).to(tl.pointer_type(tl.int32))
    tl.debug_barrier()
    whole = offs < BLOCK // 4
    tl.store(words, tl.load(words, mask=whole) + n, mask=whole)
"""


def test_every_element_has_an_address() -> None:
    x, y = np.arange(32, dtype=np.int32), -np.arange(32, dtype=np.int32)
    arguments = {"x": x, "y": y, "table": np.zeros(2, np.uint64), "o": np.zeros(64, np.int32)}
    found = run(TILES, arguments, {"BLOCK": 64})
    assert found["o"].tolist() == np.stack([x, y], 1).reshape(-1).tolist()


def test_pointers_to_pointers() -> None:
    x, y = (np.random.default_rng(i).standard_normal(50).astype(np.float32) for i in range(2))
    arguments = {"x": x, "y": y, "table": np.zeros(2, np.int64), "o": np.zeros(50, np.float32), "n": 50}
    assert run(POINTERS, arguments, {"BLOCK": 64})["o"].tolist() == (x - y).tolist()


@pytest.mark.parametrize("num_warps", [1, 4])
def test_addresses_that_are_computed(num_warps: int) -> None:
    """Runs and gaps of addresses are those of the integers, whatever the elements' size."""
    x = np.random.default_rng().standard_normal(256).astype(np.float32)
    arguments = {"x": x, "o": x * 0, "a": x * 0, "b": x * 0, "c": np.zeros(256, np.int64)}
    found = run(COMPUTED, arguments, {"BLOCK": 256}, num_warps=num_warps)
    at = np.arange(256)
    assert found["o"].tolist() == x.tolist()
    assert found["a"].tolist() == x.tolist()
    assert found["b"].tolist() == x[at ^ 3].tolist()
    assert found["c"].tolist() == (4 * at).tolist()


@pytest.mark.parametrize("assume", [{"o": {"div": 4}}, {"x": {"div": 16}, "o": {"div": 16}}])
def test_other_types_of_pointers(assume: dict[str, dict[str, int]]) -> None:
    x = np.random.default_rng().integers(-(2**31), 2**31, 64).astype(np.int32)
    arguments = {"x": x, "o": np.zeros(128, np.int8), "p": np.zeros(64, np.uint16), "n": 3}
    found = run(BYTES, arguments, {"BLOCK": 128}, assume=assume)
    assert found["o"].tolist() == (x[:32] + np.int32(3)).view(np.int8).tolist()
    assert found["p"].tolist() == x.view(np.uint16)[:64].tolist()


NULL = """
@triton.jit
def kernel(x, o, n):
    here = x.to(tl.int1)
    nowhere = (x.to(tl.int64) * 0).to(tl.pointer_type(tl.float32))
    tl.store(o, here)
    tl.store(o + 1, nowhere.to(tl.int1))
    tl.store(o + 2, (x.to(tl.int64) % 4).to(tl.int32))
    v = tl.load(nowhere + tl.arange(0, 16), mask=nowhere.to(tl.int64) + tl.arange(0, 16) < 0, other=7.0)
    tl.store(o + 3, tl.sum(v, 0).to(tl.int32) + n)
"""


def test_null_pointers() -> None:
    """Are false, and are not touched where a mask says so."""
    found = run(NULL, {"x": np.zeros(4, np.float32), "o": np.zeros(4, np.int32), "n": 1})
    assert found["o"].tolist() == [1, 0, 0, 113]


@pytest.mark.parametrize("target", HOST_TARGETS)
def test_accesses_of_nobody_are_not_reported(target: str, tmp_path: Path) -> None:
    """A checked launch knows the arrays of arguments only; what an address says is the kernel's own business."""
    path = tmp_path / "kernel.py"
    path.write_text("import triton\nimport triton.language as tl\n" + FOREIGN)
    x = np.arange(32, dtype=np.float32)
    args = {"table": np.array([x.ctypes.data]), "o": np.zeros(32, np.float32), "n": 30}
    run_checked(f"{path}:kernel", args, grid=1, const={"BLOCK": 32}, target=target, debug=True)
    assert args["o"].tolist() == [*range(30), 0, 0]
    assert x.tolist() == [*(2.0 * np.arange(30)), 30, 31]


FOREIGN = """
@triton.jit
def kernel(table, o, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    p = tl.load(table).to(tl.pointer_type(tl.float32)) + offs
    x = tl.load(p, mask=offs < n)
    tl.store(o + offs, x, mask=offs < n)
    tl.store(p, x * 2, mask=offs < n)
"""

GROUPED_PRODUCTS = """
@triton.jit
def kernel(a_table, b_table, c_table, sizes, groups, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    end = 0
    for g in range(0, groups):
        m = tl.load(sizes + 3 * g)
        n = tl.load(sizes + 3 * g + 1)
        k = tl.load(sizes + 3 * g + 2)
        across = tl.cdiv(n, BN)
        start = end
        end += tl.cdiv(m, BM) * across
        while tile >= start and tile < end:
            a = tl.load(a_table + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_table + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_table + g).to(tl.pointer_type(tl.float16))
            rows = (tile - start) // across * BM + tl.arange(0, BM)[:, None]
            columns = (tile - start) % across * BN + tl.arange(0, BN)[None, :]
            steps = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for at in range(0, k, BK):
                inside = at + steps < k
                x = tl.load(a + rows * k + at + steps[None, :], mask=(rows < m) & inside[None, :], other=0.0)
                y = tl.load(b + (at + steps[:, None]) * n + columns, mask=inside[:, None] & (columns < n), other=0.0)
                total = tl.dot(x, y, total)
            tl.store(c + rows * n + columns, total.to(tl.float16), mask=(rows < m) & (columns < n))
            tile += PROGRAMS
"""


@pytest.mark.parametrize("target", HOST_TARGETS)
def test_products_of_a_group(target: str, tmp_path: Path) -> None:
    """Each of its own size, found through tables of addresses: few programs share all tiles out."""
    path = tmp_path / "kernel.py"
    path.write_text("import triton\nimport triton.language as tl\n" + GROUPED_PRODUCTS)
    rng = np.random.default_rng()
    sizes = [(64, 33, 32), (17, 96, 40), (1, 5, 70), (100, 32, 1)]
    a, b = (
        [rng.integers(-3, 4, (s[i], s[i + 1])).astype(np.float16) for s in ((m, k, n) for m, n, k in sizes)]
        for i in range(2)
    )
    c = [np.full((m, n), 99, np.float16) for m, n, _ in sizes]
    tables = [np.array([x.ctypes.data for x in arrays]) for arrays in (a, b, c)]
    args = dict(zip(("a_table", "b_table", "c_table"), tables, strict=True))
    args |= {"sizes": np.array(sizes, np.int32).ravel(), "groups": len(sizes)}
    const = {"PROGRAMS": 3, "BM": 32, "BN": 32, "BK": 16}
    run_checked(f"{path}:kernel", args, grid=3, const=const, target=target, debug=True)
    for x, y, found in zip(a, b, c, strict=True):
        assert found.tolist() == (x.astype(np.float32) @ y.astype(np.float32)).astype(np.float16).tolist()


ORDERED = """
@triton.jit
def kernel(x, y, o):
    p = (y.to(tl.int64) + 4).to(tl.pointer_type(tl.int32))
    if tl.load(x) == 0:
        tl.store(p, 1)
    tl.store(o, 2)
"""


def test_what_a_stray_pointer_may_touch() -> None:
    """The argument whose address was taken, and whatever lies anywhere: lanes wait before such a scalar is written."""
    path = write_source(ORDERED)
    module = Library(path.parent, (path.parent,), static).module(path)
    instance = Instance({name: parse_type("*i32") for name in "xyo"}, {})
    function = front(Job(reach(find_function(module, "kernel")), instance, Settings(), TARGETS["cpu"]))
    writes = [(name, how) for name, _, how in accesses(function)]
    assert sorted(writes, key=str) == [("o", "write"), ("x", "read"), ("y", "write"), (None, "write")]
    OrderScalars().apply(function)
    kinds = [type(op) for op in walk(function.body) if isinstance(op, tt.Store | tt.Barrier)]
    assert kinds == [tt.Barrier, tt.Store, tt.Store]


ERRORS = [
    ("n.to(tl.pointer_type(tl.float32))", r"cannot convert a scalar i32 to \*f32"),
    ("tl.load(x).to(tl.pointer_type(tl.float32))", r"cannot convert a scalar f32 to \*f32"),
    ("x.to(tl.int32)", r"cannot convert a pointer \*f32 to i32"),
    ("x.to(tl.float64)", r"cannot convert a pointer \*f32 to f64"),
    ("tl.store(x, x)", r"cannot store a pointer \*f32 through a pointer \*f32"),
    ("tl.store(x.to(tl.pointer_type(tl.pointer_type(tl.int8))), x)", r"through a pointer \*\*i8"),
    ("x == x", "cannot compare a pointer"),
    ("tl.pointer_type(4)", "what tl.pointer_type points to is a dtype"),
    ("tl.pointer_type(tl.int8, 3)", "global memory"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_is_no_address(text: str, message: str) -> None:
    source = f"@triton.jit\ndef kernel(x, n):\n    y = {text}\n"
    with pytest.raises(UserError, match=message):
        build(source, {"x": np.zeros(4, np.float32), "n": 1})
