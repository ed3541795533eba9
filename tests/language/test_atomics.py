"""Atomic steps: what memory holds afterwards, and what was there before; of every dtype, on tiles and scalars, from many programs at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from teenybuild import testing
from teenybuild.api import compile
from teenybuild.diagnostics import UserError
from tests.support.run import Array, assert_same_bits, run, workspace, write_source

from . import oracle

#: Every element by itself: what was there comes out where it was.
EACH = """
@triton.jit
def kernel(x, y, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    was = tl.{function}(x + i, tl.load(y + i), mask=i < n, sem="{sem}")
    tl.store(o + i, was)
"""

CAS = """
@triton.jit
def kernel(x, c, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.atomic_cas(x + i, tl.load(c + i), tl.load(y + i), sem="relaxed", scope="sys"))
"""

COUNTS = """
@triton.jit
def kernel(x, counts, sums, top, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + v % 16, 1, mask=i < n)
    tl.atomic_add(sums + v % 4, v.to(tl.float32), mask=i < n, sem="relaxed", scope="cta")
    tl.atomic_max(top, tl.max(v, 0))
    tl.atomic_min(top + 1, tl.min(tl.where(i < n, v, 1000), 0))
"""

#: Fewer elements than lanes, a scalar, and a tile whose lanes all learn what one of them found.
TICKETS = """
@triton.jit
def kernel(x, o, p, B: tl.constexpr):
    r = tl.arange(0, B)
    was = tl.atomic_add(x + r, r + 1)
    ticket = tl.atomic_add(x + B, 3)
    tl.store(o + r, was * 100 + ticket)
    tl.store(p + r[:, None] * B + r[None, :], was[:, None] + was[None, :])
    lock = tl.atomic_cas(x + B + 1, 0, ticket + 7)
    tl.store(o + B, lock)
    tl.store(o + B + 1, tl.atomic_xchg(x + B + 1, 1))
"""


def expected(function: str, x: Array, y: Array, name: str) -> Array:
    """What memory holds after one step, exactly."""
    operation = {"atomic_add": "+", "atomic_and": "&", "atomic_or": "|", "atomic_xor": "^"}.get(function)
    if operation is not None:
        return oracle.binary(operation, x, y, name)
    if function == "atomic_xchg":
        return y
    return np.maximum(x, y) if function == "atomic_max" else np.minimum(x, y)


WIDE = ("i32", "u32", "i64", "u64")
STEPS = [
    *(("atomic_add", name) for name in (*WIDE, "f16", "bf16", "f32", "f64")),
    *((function, name) for function in ("atomic_and", "atomic_or", "atomic_xor") for name in WIDE),
    *(
        (function, name)
        for function in ("atomic_max", "atomic_min", "atomic_xchg")
        for name in (*WIDE, "f32", "f64")
    ),
]


@pytest.mark.parametrize(("function", "name"), STEPS, ids="-".join)
@pytest.mark.parametrize("sem", ["acq_rel", "relaxed"])
def test_each_step(function: str, name: str, sem: str) -> None:
    x, y = oracle.pairs(name, name, 128)
    if function in ("atomic_max", "atomic_min") and name in oracle.FLOATS:
        # Compared as their bits are, as in Triton: zeros by sign, and what NaN does is not said.
        keep = ~(np.isnan(x) | np.isnan(y) | ((x == 0) & (y == 0)))
        x, y = np.where(keep, x, 1), np.where(keep, y, -1)
    if (function, name) == ("atomic_add", "f32"):
        # A GPU takes subnormals for zeros here (PTX ISA, atom), and the language leaves it open.
        tiny = np.finfo(np.float32).tiny
        keep = ~((np.abs(x) < tiny) | (np.abs(y) < tiny) | (np.abs(x + y) < tiny)) | ((x == 0) & (y == 0))
        x, y = np.where(keep, x, 1), np.where(keep, y, -1.5).astype(np.float32)
    source = EACH.replace("{function}", function).replace("{sem}", sem)
    found = run(source, {"x": x, "y": y, "o": np.zeros_like(x), "n": 100}, {"B": 128})
    inside = np.arange(128) < 100
    assert_same_bits(found["x"], np.where(inside, expected(function, x, y, name), x), "memory")
    assert_same_bits(found["o"], np.where(inside, x, np.zeros_like(x)), "what was there")


@pytest.mark.parametrize("name", [*WIDE, "i16", "u16", "f16", "bf16", "f32", "f64"])
def test_comparing_and_swapping(name: str) -> None:
    """By bits: a NaN equals itself, and 0.0 is not -0.0."""
    x, y = oracle.pairs(name, name, 128)
    compare = np.where(np.arange(128) % 3 > 0, x, y)
    found = run(CAS, {"x": x, "c": compare, "y": y, "o": np.zeros_like(x)}, {"B": 128})
    bits = f"u{x.itemsize}"
    equal = x.view(bits) == compare.view(bits)
    assert_same_bits(found["x"], np.where(equal, y, x))
    assert_same_bits(found["o"], x)


@pytest.mark.parametrize("warps", [1, 4])
def test_many_programs(warps: int) -> None:
    x = np.random.default_rng().integers(0, 1000, 3001).astype(np.int32)
    arguments = {
        "x": x, "counts": np.zeros(16, np.int32), "sums": np.zeros(4, np.float32), "top": np.array([-1, 1000], np.int32), "n": 3001,
    }  # fmt: skip
    found = run(COUNTS, arguments, {"B": 256}, grid=(12,), num_warps=warps)
    assert found["counts"].tolist() == np.bincount(x % 16, minlength=16).tolist()
    assert found["sums"].tolist() == np.bincount(x % 4, weights=x, minlength=4).tolist()
    assert found["top"].tolist() == [x.max(), x.min()]


def test_programs_on_several_cores(tmp_path: Path) -> None:
    """What the package does: programs share the cores, and no step is lost."""
    path = tmp_path / "counts.py"
    path.write_text(write_source(COUNTS).read_text())
    x = np.random.default_rng().integers(0, 1000, 400_001).astype(np.int32)
    counts, sums, top = np.zeros(16, np.int32), np.zeros(4, np.float32), np.array([-1, 1000], np.int32)
    arguments = {"x": x, "counts": counts, "sums": sums, "top": top, "n": x.size}
    testing.run(f"{path}:kernel", arguments, grid=-(-x.size // 256), const={"B": 256})
    assert counts.tolist() == np.bincount(x % 16, minlength=16).tolist()


@pytest.mark.parametrize("size", [1, 2, 16, 64])
@pytest.mark.parametrize("warps", [1, 4])
def test_all_lanes_learn_what_was_there(size: int, warps: int) -> None:
    x = np.zeros(size + 2, np.int32)
    x[:size] = np.arange(size) * 5
    arguments = {"x": x, "o": np.zeros(size + 2, np.int32), "p": np.zeros(size * size, np.int32)}
    found = run(TICKETS, arguments, {"B": size}, num_warps=warps)
    was = np.arange(size) * 5
    assert found["x"].tolist() == [*(was + np.arange(size) + 1), 3, 1]
    assert found["o"].tolist() == [*(was * 100), 0, 7]
    assert found["p"].tolist() == np.add.outer(was, was).ravel().tolist()


def test_in_ptx() -> None:
    def ptx(source: str, types: dict[str, str], target: str = "sm_90a") -> str:
        found = compile(
            f"{write_source(source)}:kernel", target, types, {"B": 128}, cache_dir=workspace()
        ).ptx
        assert found is not None
        return found

    source = EACH.replace("{function}", "atomic_add").replace("{sem}", "release")
    words = {
        "f16": "add.noftz.f16",
        "bf16": "add.noftz.bf16",
        "f32": "add.f32",
        "f64": "add.f64",
        "i32": "add.u32",
        "u64": "add.u64",
    }
    for name, word in words.items():
        types = {"x": f"*{name}", "y": f"*{name}", "o": f"*{name}", "n": "i32"}
        assert f"atom.release.gpu.global.{word} " in ptx(source, types)
    types = {"x": "*bf16", "y": "*bf16", "o": "*bf16", "n": "i32"}
    with pytest.raises(
        UserError, match=r"bf16 is added atomically from sm_90 on, not on sm_80\n +\d+ \|     was = "
    ):
        ptx(source, types, "sm_80")
    assert "atom.relaxed.sys.global.cas.b32 " in ptx(
        CAS, {"x": "*f32", "c": "*f32", "y": "*f32", "o": "*f32"}
    )
