"""Arguments that are tuples: what the kernel sees of them, and in what order they are passed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.run import Array, Typed, build, run

SUM = """
@triton.jit
def kernel(ptrs, out, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    inside = offs < n
    acc = tl.zeros([B], tl.float32)
    for i in tl.static_range(len(ptrs)):
        acc += tl.load(ptrs[i] + offs, mask=inside).to(tl.float32)
    tl.store(out + offs, acc, mask=inside)
"""


def arrays(count: int, n: int, *dtypes: Any) -> tuple[Array, ...]:
    rng = np.random.default_rng()
    return tuple(rng.integers(-100, 100, n).astype(dtypes[i % len(dtypes)]) for i in range(count))


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_one_loop_over_all_entries(count: int) -> None:
    n = 1003
    ptrs = arrays(count, n, np.float32, np.float16, np.int32)
    found = run(SUM, {"ptrs": ptrs, "out": np.full(n, np.nan, np.float32), "n": n}, {"B": 256}, (4,))
    expected = sum((p.astype(np.float32) for p in ptrs), np.zeros(n, np.float32))
    np.testing.assert_array_equal(found["out"], expected)


EVERY_SCALAR = """
@triton.jit
def kernel(before, values, o, after):
    a, b, c, d, e = values
    tl.store(o, before)
    tl.store(o + 1, a)
    tl.store(o + 2, b)
    tl.store(o + 3, c)
    tl.store(o + 4, d)
    tl.store(o + 5, e)
    tl.store(o + 6, after)
    tl.static_assert(len(values) == 5)
"""


def test_entries_are_passed_each_with_its_size() -> None:
    """A byte, eight, two, a byte, four: in this order, with the gaps of a C struct."""
    values = (True, Typed(2**40 + 3, "i64"), Typed(-7, "i16"), Typed(200, "u8"), 0.5)
    arguments = {"before": Typed(-1, "i8"), "values": values, "o": np.zeros(7), "after": Typed(9, "i16")}
    program = build(EVERY_SCALAR, arguments)
    rows = program.artifact.abi["arguments"]
    assert [row["name"] for row in rows] == ["before", *(f"values[{i}]" for i in range(5)), "o", "after"]
    assert [(row["parameter"], row["path"]) for row in rows[1:3]] == [("values", [0]), ("values", [1])]
    assert [row["offset"] for row in rows] == [0, 1, 8, 16, 18, 20, 24, 32]
    assert program.artifact.abi["parameters"][1]["type"] == ["i1", "i64", "i16", "u8", "f32"]
    found = run(EVERY_SCALAR, arguments)["o"]
    assert found.tolist() == [-1, 1, 2**40 + 3, -7, 200, 0.5, 9]


NESTED = """
@triton.jit
def moved(source, target, offs, mask):
    for i in tl.static_range(len(source)):
        tl.store(target[i] + offs, tl.load(source[i] + offs, mask=mask) * (i + 1), mask=mask)

@triton.jit
def scaled(pair, by):
    ptr, n = pair
    return ptr, n * by

@triton.jit
def kernel(work, bias, B: tl.constexpr):
    (sources, targets), n = work
    offs = tl.arange(0, B)
    moved(sources, targets, offs, offs < n)
    if bias[0] is not None:
        tl.store(targets[0] + offs, tl.load(bias[0] + offs, mask=offs < n), mask=offs < n)
    last, size = scaled((targets[len(targets) - 1], n), 2)
    tl.store(last, size)
    if bias[1] is None:
        tl.store(last + 1, len(bias))
"""


@pytest.mark.parametrize("bias", [False, True])
def test_tuples_in_tuples_helpers_and_absent_entries(bias: bool) -> None:
    n = 50
    x, y = arrays(2, n, np.float32)
    arguments = {
        "work": (((x, y), (np.zeros_like(x), np.zeros_like(y))), n),
        "bias": (np.arange(n, dtype=np.float32) if bias else None, None),
    }
    found = run(NESTED, arguments, {"B": 64})
    first = np.arange(n, dtype=np.float32) if bias else x
    second = y * 2
    second[0], second[1] = 2 * n, 2
    np.testing.assert_array_equal(found["work[0][1][0]"], first)
    np.testing.assert_array_equal(found["work[0][1][1]"], second)


CARRIED = """
@triton.jit
def kernel(ptrs, sizes, out, B: tl.constexpr):
    offs = tl.arange(0, B)
    state = (ptrs[0], sizes[0])
    for i in range(sizes[1]):
        ptr, n = state
        value = tl.load(ptr + offs, mask=offs < n, other=0.0)
        tl.atomic_add(out + offs, value)
        state = (ptr + n, n - 1)
    named = ptrs[0] if sizes[1] > 2 else ptrs[1]
    tl.store(out + B, tl.load(named))
"""


@pytest.mark.parametrize("turns", [0, 2, 5])
def test_entries_carried_by_a_loop_and_chosen(turns: int) -> None:
    x, y = arrays(2, 100, np.float32)
    arguments = {"ptrs": (x, y), "sizes": (16, turns), "out": np.zeros(33, np.float32)}
    found = run(CARRIED, arguments, {"B": 32})["out"]
    expected = np.zeros(33, np.float32)
    at, n = 0, 16
    for _ in range(turns):
        expected[:n] += x[at : at + n]
        at, n = at + n, n - 1
    expected[32] = (x if turns > 2 else y)[0]
    np.testing.assert_array_equal(found, expected)


def test_assumptions_about_entries() -> None:
    """Of one by its name, of all by the tuple's; one that is known to be 1 is a number in the code."""
    x, y = arrays(2, 64, np.float32)
    arguments = {"ptrs": (x, y), "out": np.zeros(64, np.float32), "n": 64}
    both = build(SUM, arguments, {"B": 64}, assume={"ptrs": {"div": 16}, "ptrs[1]": {"div": 4}})
    assert [row["assume"] for row in both.artifact.abi["arguments"]] == [{"div": 16}, {"div": 4}, {}, {}]
    assert (
        "!tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 4"
        in both.artifact.mlir
    )
    strided = "@triton.jit\ndef kernel(o, strides):\n    tl.store(o, strides[0] + strides[1])\n"
    found = build(strided, {"o": np.zeros(1, np.int32), "strides": (5, 1)}, assume={"strides[1]": {"eq": 1}})
    assert found({"o": np.zeros(1, np.int32), "strides": (5, 1)})["o"].tolist() == [6]
    # What the kernel is given does not matter where the code knows it.
    assert found({"o": np.zeros(1, np.int32), "strides": (5, 3)})["o"].tolist() == [6]
