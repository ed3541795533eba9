"""Grids: every program runs once, knows where it stands, and writes only what is its own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Typed, assert_same_bits, build, numpy_dtype, run

from . import oracle

IDS = """
@triton.jit
def kernel(o):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(axis=2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(axis=2)
    at = o + 7 * (x + nx * (y + ny * z))
    tl.store(at, x)
    tl.store(at + 1, y)
    tl.store(at + 2, z)
    tl.store(at + 3, nx)
    tl.store(at + 4, ny)
    tl.store(at + 5, nz)
    tl.store(at + 6, tl.load(at + 6) + 1)
"""


@pytest.mark.parametrize(
    "grid", [(1,), (7,), (3, 4), (2, 3, 4), (1, 1, 5), (5, 1, 2)], ids=lambda g: "x".join(map(str, g))
)
def test_where_programs_stand(grid: tuple[int, ...]) -> None:
    nx, ny, nz = (*grid, 1, 1)[:3]
    found = run(IDS, {"o": np.zeros((nz, ny, nx, 7), np.int32)}, grid=grid)["o"]
    for z in range(nz):
        for y in range(ny):
            for x in range(nx):
                assert found[z, y, x].tolist() == [x, y, z, nx, ny, nz, 1]


def test_a_range_of_programs() -> None:
    """The host's ``_range`` runs just the programs it is asked for."""
    o = np.zeros((2, 3, 7), np.int32)
    program = build(IDS, {"o": o})
    found = program({"o": o}, (3, 2), programs=(2, 5))["o"]
    assert found[:, :, 6].tolist() == [[0, 0, 1], [1, 1, 0]]
    assert program({"o": o}, (3, 2), programs=(4, 4))["o"].sum() == 0


NEIGHBOURS = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=tl.arange(0, BLOCK) < n)
    tl.store(o + i, v, mask=tl.arange(0, BLOCK) < n)
"""


@pytest.mark.parametrize("name", ["i1", "i8", "u16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("n", [1, 3, 16, 31])
def test_programs_beside_each_other(n: int, name: str) -> None:
    """Rows of odd length: a program never touches its neighbours' elements, whatever order they run in."""
    x = oracle.values(name, 8 * n).reshape(8, n)
    o = np.zeros_like(x)
    block = 1 << (n - 1).bit_length()
    arguments = {"x": x, "o": o, "n": n}
    const = {"BLOCK": block, "MASKED": True}
    assert_same_bits(run(NEIGHBOURS, arguments, const, (8,))["o"], x, "in order")
    for target in ("cpu", "cpu:sm_90a"):
        program = build(NEIGHBOURS, arguments, const, target=target)
        for p in (5, 0, 7, 2, 1, 6, 3, 4):
            arguments["o"] = program(arguments, (8,), programs=(p, p + 1))["o"]
        assert_same_bits(arguments["o"], x, "in another order")
        arguments["o"] = o


@pytest.mark.parametrize("name", oracle.ALL)
def test_scalar_arguments(name: str) -> None:
    """Every dtype, in an order that puts holes into the argument block."""
    source = """
@triton.jit
def kernel(flag, a, small, o, b, last):
    tl.store(o, a)
    tl.store(o + 1, b)
    tl.store(o + 2, flag.to(tl.float32) + small)
    tl.store(o + 3, last)
"""
    value = {"i1": True, "f16": -2.5, "bf16": 3.5, "f32": 0.1, "f64": 1e-3}.get(name, 77)
    arguments = {
        "flag": Typed(True, "i1"),
        "a": Typed(value, name),
        "small": Typed(-7, "i8"),
        "o": np.zeros(4, np.float64),
        "b": Typed(value, name),
        "last": Typed(-1, "i16"),
    }
    found = run(source, arguments)["o"]
    rounded = float(np.array(value).astype(numpy_dtype(name)))
    assert found.tolist() == [rounded, rounded, -6.0, -1.0]


def test_extreme_scalar_arguments() -> None:
    source = """
@triton.jit
def kernel(o, p, a, b, c, d):
    tl.store(o, a)
    tl.store(o + 1, b)
    tl.store(p, c)
    tl.store(p + 1, d)
"""
    arguments = {
        "o": np.zeros(2, np.int64),
        "p": np.zeros(2, np.uint64),
        "a": Typed(-(1 << 63), "i64"),
        "b": Typed(-(1 << 31), "i32"),
        "c": Typed((1 << 64) - 1, "u64"),
        "d": Typed((1 << 32) - 1, "u32"),
    }
    found = run(source, arguments)
    assert found["o"].tolist() == [-(1 << 63), -(1 << 31)]
    assert found["p"].tolist() == [(1 << 64) - 1, (1 << 32) - 1]


GROUPED = """
@triton.jit
def kernel(o, M, N, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    width = GROUP * N
    group = pid // width
    first = group * GROUP
    size = min(M - first, GROUP)
    m = first + (pid % width) % size
    n = (pid % width) // size
    tl.store(o + m * N + n, pid + 1)
"""


@pytest.mark.parametrize(("m", "n", "group"), [(4, 4, 2), (7, 3, 2), (5, 5, 8), (1, 9, 4)])
def test_grouped_order_covers_the_grid(m: int, n: int, group: int) -> None:
    found = run(GROUPED, {"o": np.zeros((m, n), np.int32), "M": m, "N": n}, {"GROUP": group}, (m * n,))["o"]
    assert sorted(found.reshape(-1).tolist()) == list(range(1, m * n + 1))


def test_a_grid_may_read_what_an_earlier_program_wrote() -> None:
    """On the host programs run in order, x fastest: documented, and what makes a run repeatable."""
    source = """
@triton.jit
def kernel(o):
    p = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    tl.store(o + p + 1, tl.load(o + p) * 2 + 1)
"""
    found = run(source, {"o": np.zeros(13, np.int32)}, grid=(4, 3))["o"]
    assert found.tolist() == [2**k - 1 for k in range(13)]


ASSUMED = """
@triton.jit
def kernel(o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.static_assert((n * 2).dtype == n.dtype)
    tl.store(o, n // 2)
    tl.store(o + 1, n % 4)
    tl.store(o + 2, n * n * n)
    tl.store(o + 3, n / 2)
    tl.store(o + 4, n.to(tl.float32) + 0.5)
    if n < 0:
        tl.store(o + 5, -n)
    for k in range(0, -n, 3):
        tl.store(o + 6, k)
    tl.store(o + 8 + i, i * n)
"""


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64"])
def test_what_is_assumed_of_a_number_changes_no_result(kind: str) -> None:
    """A value that is known is a run-time value all the same: it divides as C does, wraps, and has its dtype."""
    arguments = {"o": np.zeros(24, np.float64), "n": Typed(-7, kind)}
    plain = run(ASSUMED, arguments, {"BLOCK": 16})["o"]
    assert plain[:7].tolist() == [-3, -3, -343 if kind != "i8" else -87, -3.5, -6.5, 7, 6]
    assert_same_bits(run(ASSUMED, arguments, {"BLOCK": 16}, assume={"n": {"eq": -7}})["o"], plain, "assumed")
