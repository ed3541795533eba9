"""Loops that end when a condition does: what they carry, how often they run, what their condition may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.run import Typed, run

GCD = """
@triton.jit
def kernel(a, b, o):
    i = tl.program_id(0)
    x = tl.load(a + i)
    y = tl.load(b + i)
    turns = 0
    while y != 0:
        x, y = y, x % y
        turns += 1
    tl.store(o + 2 * i, x)
    tl.store(o + 2 * i + 1, turns)
"""


def test_scalars() -> None:
    rng = np.random.default_rng()
    a, b = (rng.integers(0, 1 << 30, 31).astype(np.int64) for _ in range(2))
    b[::5] = 0
    found = run(GCD, {"a": a, "b": b, "o": np.full((31, 2), -1, np.int64)}, grid=(31,))["o"]
    assert found[:, 0].tolist() == np.gcd(a, b).tolist()
    assert (found[:, 1] == 0).tolist() == (b == 0).tolist()


NEWTON = """
@triton.jit
def kernel(x, o, turns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    r = v
    apart = tl.max(v) + 1.0
    n = 0
    while apart > 1e-4:
        better = 0.5 * (r + v / r)
        apart = tl.max(tl.abs(better - r))
        r = better
        n += 1
    tl.store(o + i, r)
    tl.store(turns, n)
"""


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("block", [1, 32, 512])
def test_tiles_until_they_agree(block: int, num_warps: int) -> None:
    rng = np.random.default_rng()
    x = rng.uniform(0.5, 100.0, block)
    found = run(
        NEWTON, {"x": x, "o": np.zeros(block), "turns": np.zeros(1, np.int32)}, {"BLOCK": block}, num_warps=num_warps
    )  # fmt: skip
    np.testing.assert_allclose(found["o"], np.sqrt(x), rtol=1e-6)
    assert 3 <= found["turns"][0] <= 12


SEVERAL_LAYOUTS = """
@triton.jit
def kernel(x, o, n, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    p = x + r[:, None] * C + c[None, :]
    total = tl.zeros([R, C], tl.float32)
    rows = tl.zeros([R], tl.float32)
    columns = tl.zeros([C], tl.float32)
    turn = 0
    while turn < n:
        v = tl.load(p)
        total += v
        rows += tl.sum(v, 1)
        columns = columns * 0.5 + tl.sum(v, 0)
        p += R * C
        turn += 1
    tl.store(o + r[:, None] * C + c[None, :], total + rows[:, None] + columns[None, :])
"""


@pytest.mark.parametrize("turns", [0, 1, 5])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_tiles_of_several_layouts(turns: int, num_warps: int) -> None:
    rng = np.random.default_rng()
    x = rng.integers(-8, 8, (5, 16, 64)).astype(np.float32)
    arguments = {"x": x, "o": np.full((16, 64), np.nan, np.float32), "n": turns}
    found = run(SEVERAL_LAYOUTS, arguments, {"R": 16, "C": 64}, num_warps=num_warps)["o"]
    total, rows, columns = np.zeros((16, 64)), np.zeros(16), np.zeros(64)
    for v in x[:turns].astype(np.float64):
        total += v
        rows += v.sum(1)
        columns = columns * 0.5 + v.sum(0)
    assert found.tolist() == (total + rows[:, None] + columns).tolist()


NESTED = """
@triton.jit
def steps(n):
    count = 0
    while n != 1:
        n = tl.where(n % 2 == 0, n // 2, 3 * n + 1)
        count += 1
    return count


@triton.jit
def kernel(o, last):
    most = 0
    for start in range(1, last):
        count = steps(start)
        if count > most:
            most = count
            tl.store(o, start)
    while most > 0:
        k = most
        while k > 10:
            k -= 10
        tl.store(o + most, k)
        most -= k
"""


def test_loops_in_loops_and_helpers() -> None:
    found = run(NESTED, {"o": np.zeros(128, np.int32), "last": 30})["o"]
    # 27 takes 111 steps, more than any other start below 30.
    expected = np.zeros(128, np.int32)
    expected[0] = 27
    expected[111] = 1
    expected[10:111:10] = 10
    assert found.tolist() == expected.tolist()


LINKED_LIST = """
@triton.jit
def kernel(after, value, o, head):
    at = head
    total = tl.load(value + at)
    while tl.load(after + at) >= 0:
        at = tl.load(after + at)
        total += tl.load(value + at)
    tl.store(o, total)
"""


@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_a_condition_reads_memory(kind: str) -> None:
    rng = np.random.default_rng()
    order = rng.permutation(20)
    after = np.full(20, -1, np.int64 if kind == "i64" else np.int32)
    after[order[:12]] = order[1:13]
    value = rng.integers(0, 1000, 20)
    arguments = {
        "after": after,
        "value": value,
        "o": np.zeros(1, np.int64),
        "head": Typed(int(order[0]), kind),
    }
    assert run(LINKED_LIST, arguments)["o"][0] == value[order[:13]].sum()


LOCK = """
@triton.jit
def kernel(lock, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(o + i, tl.load(o + i, volatile=True) + tl.program_id(0) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
"""


@pytest.mark.parametrize("block", [1, 64, 1024])
def test_a_lock(block: int) -> None:
    """What a condition does is done each time it is asked; what it guards is done by one program at a time."""
    arguments = {"lock": np.zeros(1, np.int32), "o": np.zeros(block, np.int32)}
    found = run(LOCK, arguments, {"BLOCK": block}, (40,))
    assert found["o"].tolist() == [40 * 41 // 2] * block
    assert found["lock"].tolist() == [0]


NOT_CARRIED = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    same = v
    k = n
    flag = n > 3
    while (k > 0) and flag:
        twice = same * 2
        tl.store(o + i, twice)
        same = v
        k -= 1
        flag = k != 2
    tl.store(o + BLOCK + i, same + k)
    tl.store(o + 2 * BLOCK, flag)
"""


@pytest.mark.parametrize(("n", "left", "flag"), [(0, 0, 0), (3, 3, 0), (5, 2, 0), (4, 2, 0)])
def test_values_that_do_not_change(n: int, left: int, flag: int) -> None:
    x = np.arange(8, dtype=np.float32)
    found = run(NOT_CARRIED, {"x": x, "o": np.full(17, -1, np.float32), "n": n}, {"BLOCK": 8})["o"]
    assert found[:8].tolist() == ((2 * x).tolist() if n > 3 else [-1] * 8)
    assert found[8:16].tolist() == (x + left).tolist()
    assert found[16] == flag


BLOCK_POINTER = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,))
    total = tl.zeros([BLOCK], tl.float32)
    left = n
    while left > 0:
        total += tl.load(p, boundary_check=(0,), padding_option="zero")
        p = tl.advance(p, (BLOCK,))
        left -= BLOCK
    tl.store(o + tl.arange(0, BLOCK), total)
"""


@pytest.mark.parametrize("n", [1, 16, 17, 100])
def test_a_block_pointer_moves(n: int) -> None:
    rng = np.random.default_rng()
    x = rng.integers(-8, 8, n).astype(np.float32)
    found = run(BLOCK_POINTER, {"x": x, "o": np.zeros(16, np.float32), "n": n}, {"BLOCK": 16})["o"]
    assert found.tolist() == np.pad(x, (0, -n % 16)).reshape(-1, 16).sum(0).tolist()


@pytest.mark.parametrize("constant", ["False", "0", "1 < 0", "OFF"])
def test_a_condition_known_to_be_false(constant: str) -> None:
    source = f"""
@triton.jit
def kernel(o, OFF: tl.constexpr):
    n = 1
    while {constant}:
        n = 2
        tl.store(o + 1, n)
    tl.store(o, n)
"""
    found: Any = run(source, {"o": np.zeros(2, np.int32)}, {"OFF": False})["o"]
    assert found.tolist() == [1, 0]
