"""Loops and branches whose course is known only at run time, and what they carry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.run import Array, Typed, assert_same_bits, numpy_dtype, run

BOUNDS = [
    (0, 5, 1),
    (0, 0, 1),
    (3, 3, 1),
    (5, 2, 1),
    (2, 11, 3),
    (-7, 8, 5),
    (10, 0, -1),
    (10, 0, -3),
    (0, 10, -1),
    (7, -8, -4),
    (0, 1, 100),
]


RANGES = [(b, k) for b in BOUNDS for k in ("i32", "i64", "i16", "u8") if k != "u8" or min(b[:2]) >= 0]


@pytest.mark.parametrize(("bounds", "kind"), RANGES, ids=[f"{':'.join(map(str, b))}-{k}" for b, k in RANGES])
def test_ranges(bounds: tuple[int, int, int], kind: str) -> None:
    """Ascending, descending, empty; every visited value is recorded in order."""
    first, last, step = bounds
    source = f"""
@triton.jit
def kernel(o, first, last):
    n = 0
    for i in range(first, last, {step}):
        tl.store(o + n, i)
        n += 1
    tl.store(o + 15, n)
"""
    found = run(
        source, {"o": np.full(16, 99, np.int64), "first": Typed(first, kind), "last": Typed(last, kind)}
    )["o"]
    visited = list(range(first, last, step))
    assert found.tolist() == [*visited, *[99] * (15 - len(visited)), len(visited)]


@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("step", [1, 5, 7, 2**30, -1, -5, -(2**30)])
def test_ranges_that_end_where_the_type_ends(kind: str, step: int) -> None:
    """The value after the last would be beyond what the type holds."""
    bits = {"i32": 31, "i64": 63}[kind]
    lowest, highest = -(1 << bits), (1 << bits) - 1
    reach = 7 if abs(step) < 100 else 3 * 2**30
    first, last = (highest - reach, highest) if step > 0 else (lowest + reach, lowest)
    source = f"""
@triton.jit
def kernel(o, first, last):
    n = 0
    for i in range(first, last, {step}):
        tl.store(o + n, i)
        n += 1
    tl.store(o + 15, n)
"""
    arguments = {"o": np.full(16, 99, np.int64), "first": Typed(first, kind), "last": Typed(last, kind)}
    found = run(source, arguments)["o"]
    visited = list(range(first, last, step))
    assert found.tolist() == [*visited, *[99] * (15 - len(visited)), len(visited)]


@pytest.mark.parametrize("step", [1, 2, 7])
def test_a_step_known_at_run_time(step: int) -> None:
    source = """
@triton.jit
def kernel(o, n, step):
    total = 0
    for i in range(1, n, step):
        total += i
    tl.store(o, total)
"""
    found = run(source, {"o": np.zeros(1, np.int32), "n": 20, "step": step})
    assert found["o"][0] == sum(range(1, 20, step))


@pytest.mark.parametrize("turns", [0, 1, 2, 7])
def test_carried_scalars(turns: int) -> None:
    """Fibonacci: two values that take each other's place."""
    source = """
@triton.jit
def kernel(o, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    tl.store(o, a)
    tl.store(o + 1, b)
"""
    a, b = 0, 1
    for _ in range(turns):
        a, b = b, a + b
    assert run(source, {"o": np.zeros(2, np.int32), "n": turns})["o"].tolist() == [a, b]


SWAP = """
@triton.jit
def kernel(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c = tl.load(x + i), tl.load(y + i), i
    for k in range(n):
        a, b = b, a
        c = c + k
        t = a
        a = t * 2
    tl.store(o + i, a)
    tl.store(o + BLOCK + i, b)
    tl.store(o + 2 * BLOCK + i, c)
"""


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
@pytest.mark.parametrize("name", ["i8", "i32", "f16", "f32", "f64"])
@pytest.mark.parametrize("block", [1, 16, 512])
def test_swapped_tiles(block: int, name: str, turns: int) -> None:
    """What is carried is exchanged all at once, whatever order it is written in."""
    x, y = np.arange(block).astype(numpy_dtype(name)), np.arange(block)[::-1].astype(numpy_dtype(name))
    found = run(SWAP, {"x": x, "y": y, "o": np.zeros(3 * block, x.dtype), "n": turns}, {"BLOCK": block})["o"]
    a, b, c = x, y, np.arange(block)
    for k in range(turns):
        a, b, c = b * np.array(2, x.dtype), a, c + k
    assert_same_bits(found, np.concatenate([a, b, c.astype(x.dtype)]), "swapped")


ROTATE = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.load(x + i), tl.load(x + i) + 1, tl.load(x + i) + 2, tl.load(x + i) + 3
    for k in range(n):
        a, b, c, d = d, a, b, c
    tl.store(o + i, a * 1000 + b * 100 + c * 10 + d)
"""


@pytest.mark.parametrize("turns", [0, 1, 3, 4])
def test_four_tiles_in_a_ring(turns: int) -> None:
    x = np.zeros(64, np.float32)
    found = run(ROTATE, {"x": x, "o": x.copy(), "n": turns}, {"BLOCK": 64})["o"]
    ring = [0, 1, 2, 3]
    for _ in range(turns):
        ring = [ring[3], *ring[:3]]
    assert found.tolist() == [float("".join(map(str, ring)))] * 64


POINTERS = """
@triton.jit
def kernel(x, o, n, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x + i
    q = x
    total = tl.zeros((BLOCK,), tl.float32)
    first = 0.0
    for k in range(n):
        total += tl.load(p)
        first += tl.load(q)
        p += step
        q += step
    tl.store(o + i, total)
    tl.store(o + BLOCK, first)
"""


@pytest.mark.parametrize(
    "assume", [{}, {"x": {"div": 16}}, {"x": {"div": 16}, "step": {"div": 16}}], ids=["none", "base", "both"]
)
@pytest.mark.parametrize("turns", [0, 1, 4])
def test_carried_pointers(turns: int, assume: dict[str, dict[str, int]]) -> None:
    """A tile of pointers and a pointer, moved each turn. What is assumed of the start holds only if the step keeps it."""
    step = 16 if "step" in assume else 3
    x = np.arange(turns * step + 64, dtype=np.float32)
    arguments = {"x": x, "o": np.zeros(65, np.float32), "n": turns, "step": step}
    found = run(POINTERS, arguments, {"BLOCK": 64}, assume=assume)["o"]
    wanted = sum((x[k * step : k * step + 64] for k in range(turns)), np.zeros(64, np.float32))
    assert_same_bits(found, np.append(wanted, wanted[0] if turns else np.float32(0)), "pointers")


NESTED = """
@triton.jit
def kernel(x, o, n, m, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int32)
    for a in range(n):
        row = tl.load(x + i) * a
        for b in range(a, m):
            total += row + b
            if b % 2 == 0:
                total -= 1
        total = total * 3 if a > 1 else total
    tl.store(o + i, total)
"""


@pytest.mark.parametrize(("n", "m"), [(0, 5), (3, 4), (5, 2)])
def test_loops_in_loops(n: int, m: int) -> None:
    x = np.arange(32, dtype=np.int32)
    found = run(NESTED, {"x": x, "o": np.zeros_like(x), "n": n, "m": m}, {"BLOCK": 32})["o"]
    total = np.zeros(32, np.int32)
    for a in range(n):
        for b in range(a, m):
            total += x * a + b
            if b % 2 == 0:
                total -= 1
        total = total * 3 if a > 1 else total
    assert_same_bits(found, total, "nested")


BRANCH = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    s = 1.5
    if n > 10:
        v = v * 2
        s = 3.0
    elif n > 5:
        w = v + 1
        v = w * w
    elif n == 0:
        pass
    else:
        v = -v
        s = -s
    tl.store(o + i, v * s)
"""


@pytest.mark.parametrize("n", [20, 7, 0, 3])
@pytest.mark.parametrize("block", [1, 64])
def test_branches(n: int, block: int) -> None:
    x = np.arange(block, dtype=np.float32) + 1
    found = run(BRANCH, {"x": x, "o": np.zeros_like(x), "n": n}, {"BLOCK": block})["o"]
    wanted = x * 2 * 3 if n > 10 else (x + 1) ** 2 * 1.5 if n > 5 else x * 1.5  # -v * -s is v * s
    assert_same_bits(found, wanted.astype(np.float32), "branch")


TRUTHS: list[tuple[str, Callable[[int], bool]]] = [
    ("n", bool),
    ("not n", lambda n: not n),
    ("n > 1 and n < 4", lambda n: 1 < n < 4),
    ("n < 1 or n > 3", lambda n: n < 1 or n > 3),
    ("(n & 1) == 1", lambda n: n & 1 == 1),
    ("n * 0.5 > 1.0", lambda n: n * 0.5 > 1),
    ("tl.load(x + n) > 2", lambda n: n > 2),
    ("n > 0 and True", lambda n: n > 0),
]


@pytest.mark.parametrize(("text", "truth"), TRUTHS, ids=[text for text, _ in TRUTHS])
def test_conditions(text: str, truth: Callable[[int], bool]) -> None:
    source = f"""
@triton.jit
def kernel(x, o):
    for n in range(5):
        if {text}:
            tl.store(o + n, 1)
        else:
            tl.store(o + n, 2)
        tl.store(o + 5 + n, 7 if {text} else 8)
"""
    found = run(source, {"x": np.arange(5, dtype=np.int32), "o": np.zeros(10, np.int32)})["o"]
    assert found[:5].tolist() == [1 if truth(n) else 2 for n in range(5)]
    assert found[5:].tolist() == [7 if truth(n) else 8 for n in range(5)]


EARLY = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if p >= n:
        return
    v = tl.load(x + p * BLOCK + i)
    if p == 1:
        tl.store(o + p * BLOCK + i, -v)
        return
    if p == 2:
        v = v + 100
    else:
        v = v + 200
        if p == 3:
            return
    tl.store(o + p * BLOCK + i, v)
"""


@pytest.mark.parametrize("n", [0, 2, 5])
def test_early_return(n: int) -> None:
    x = np.arange(5 * 16, dtype=np.float32).reshape(5, 16)
    found = run(EARLY, {"x": x, "o": np.zeros_like(x), "n": n}, {"BLOCK": 16}, (5,))["o"]
    wanted = np.zeros_like(x)
    for p in range(min(n, 5)):
        wanted[p] = {1: -x[p], 2: x[p] + 100, 3: wanted[p]}.get(p, x[p] + 200)
    assert_same_bits(found, wanted, "early return")


VALUE = """
@triton.jit
def pick(v, n):
    if n == 0:
        return v
    w = v * 2
    if n == 1:
        return w
    else:
        w += 1
    return w + n


@triton.jit
def kernel(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    n = tl.program_id(0)
    tl.store(o + n * BLOCK + i, pick(tl.load(x + i), n))
"""


def test_a_helper_that_returns_early() -> None:
    x = np.arange(8, dtype=np.int32)
    found = run(VALUE, {"x": x, "o": np.zeros((3, 8), np.int32)}, {"BLOCK": 8}, (3,))["o"]
    assert found.tolist() == [x.tolist(), (2 * x).tolist(), (2 * x + 3).tolist()]


IF_IN_LOOP = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -1.0, tl.float32)
    at = 0
    p = x + i
    for k in range(n):
        v = tl.load(p)
        if tl.sum(v) > tl.sum(best):
            best = v
            at = k
        else:
            p += 0
        p += BLOCK
    tl.store(o + i, best)
    tl.store(o + BLOCK, at)
"""


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("n", [0, 1, 6])
def test_a_reduction_decides(n: int, num_warps: int) -> None:
    """The condition comes from a reduction, so every lane takes one way."""
    x = np.random.default_rng(0).integers(0, 100, (6, 128)).astype(np.float32)
    arguments = {"x": x, "o": np.zeros(129, np.float32), "n": n}
    found = run(IF_IN_LOOP, arguments, {"BLOCK": 128}, num_warps=num_warps)["o"]
    best, at = np.full(128, -1, np.float32), 0
    for k in range(n):
        if x[k].sum() > best.sum():
            best, at = x[k], k
    assert_same_bits(found, np.append(best, np.float32(at)), "best")


REDUCE_IN_LOOP = """
@triton.jit
def kernel(x, o, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    at = r[:, None] * N + c[None, :]
    m = tl.full((M,), float("-inf"), tl.float32)
    s = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(n):
        v = tl.load(x + k * M * N + at)
        new = tl.maximum(m, tl.max(v, 1))
        scale = tl.where(new == m, 1.0, 0.5)
        s = s * scale + tl.sum(v, 1)
        acc = acc * scale[:, None] + v
        m = new
    tl.store(o + at, acc + s[:, None])
"""


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("shape", [(4, 4), (16, 64), (128, 16)], ids=lambda s: "x".join(map(str, s)))
def test_running_reductions(shape: tuple[int, int], num_warps: int) -> None:
    """As in attention: rows' maxima and sums carried beside an accumulator of another rank."""
    x = np.random.default_rng(1).integers(-8, 9, (5, *shape)).astype(np.float32)
    arguments = {"x": x, "o": np.zeros(shape, np.float32), "n": 5}
    found = run(REDUCE_IN_LOOP, arguments, {"M": shape[0], "N": shape[1]}, num_warps=num_warps)["o"]
    m, s, acc = np.full(shape[0], -np.inf), np.zeros(shape[0]), np.zeros(shape)
    for v in x.astype(np.float64):
        new = np.maximum(m, v.max(1))
        scale = np.where(new == m, 1.0, 0.5)
        s, acc, m = s * scale + v.sum(1), acc * scale[:, None] + v, new
    assert_same_bits(found, (acc + s[:, None]).astype(np.float32), "running")


UNCHANGED = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    w = v
    for k in range(n):
        v = v
        w, u = v, w
        if k > 100:
            v = v + 0
    tl.store(o + i, v + w)
"""


def test_what_a_loop_carries_for_nothing() -> None:
    x = np.arange(16, dtype=np.float32)
    found = run(UNCHANGED, {"x": x, "o": np.zeros_like(x), "n": 3}, {"BLOCK": 16})["o"]
    assert_same_bits(found, x * 2, "unchanged")


TUPLES = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    state = (tl.load(x + i), 1, (2.0, i))
    for k in range(n):
        state = (state[0] + k, state[1] * 2, (state[2][0] + 0.5, state[2][1] + 1))
    a, b, (c, d) = state
    tl.store(o + i, a + b + c + d)
"""


@pytest.mark.parametrize("n", [0, 3])
def test_a_carried_tuple(n: int) -> None:
    x = np.arange(16, dtype=np.float32)
    found = run(TUPLES, {"x": x, "o": np.zeros_like(x), "n": n}, {"BLOCK": 16})["o"]
    i = np.arange(16)
    assert_same_bits(found, (x + sum(range(n)) + 2**n + 2.0 + 0.5 * n + i + n).astype(np.float32), "tuple")


CHOSEN_POINTER = """
@triton.jit
def kernel(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x
    if n > 0:
        p = y + n
    q = x + i if n > 1 else y + 2 * i
    tl.store(o + i, tl.load(p + i) + tl.load(q))
"""


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_branch_chooses_a_pointer(n: int) -> None:
    """One side steps by 1, the other by 2; one is aligned, the other is not."""
    x, y = np.arange(64, dtype=np.float32), np.arange(128, dtype=np.float32) * 10
    arguments = {"x": x, "y": y, "o": np.zeros(64, np.float32), "n": n}
    found = run(CHOSEN_POINTER, arguments, {"BLOCK": 64}, assume={"x": {"div": 16}, "y": {"div": 16}})["o"]
    p = y[n : n + 64] if n > 0 else x
    assert_same_bits(found, p + (x if n > 1 else y[::2]), "pointer")


def results_of(kernel: str, array: Array, **scalars: int) -> list[float]:
    return run(kernel, {"o": array, **scalars})["o"].tolist()


def test_types_of_carried_numbers() -> None:
    """A Python number carried by a loop becomes a run-time value; a number of its kind may be assigned to it."""
    source = """
@triton.jit
def kernel(o, n):
    big = 5_000_000_000
    flag = False
    real = 0.0
    for i in range(n):
        big = 7_000_000_000
        flag = True
        real = 1.5
    tl.store(o, big)
    tl.store(o + 1, flag)
    tl.store(o + 2, real)
"""
    assert results_of(source, np.zeros(3, np.float64), n=0) == [5e9, 0, 0]
    assert results_of(source, np.zeros(3, np.float64), n=2) == [7e9, 1, 1.5]


def test_tl_range_takes_scheduling_options() -> None:
    source = """
@triton.jit
def kernel(o, n):
    t = 0
    for i in tl.range(2, n, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
        t += i
    for i in tl.range(n):
        t += 100
    tl.store(o, t)
"""
    assert results_of(source, np.zeros(1, np.int32), n=7) == [2 + 4 + 6 + 700]


FOUND_UNCHANGED_LATE = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x + i
    v = tl.load(p)
    w = v
    total = v * 0
    for k in range(n):
        total += tl.load(p) + v
        if k > 1:
            p += 0
        for j in range(k):
            if j > 100:
                w = w + 0
            total += w
        v = w
    tl.store(o + i, total)
"""


@pytest.mark.parametrize("n", [0, 1, 4])
def test_what_turns_out_unchanged_after_its_body_was_read(n: int) -> None:
    """Adding 0 in a branch folds away, so that the loop carries a value for nothing: seen only once its body is simple."""
    x = np.arange(16, dtype=np.float32)
    found = run(FOUND_UNCHANGED_LATE, {"x": x, "o": np.zeros_like(x), "n": n}, {"BLOCK": 16})["o"]
    assert_same_bits(found, x * (2 * n + sum(range(n))), "unchanged")


def test_a_loop_counts_past_two_to_the_31() -> None:
    """An unsigned bound is not a negative number."""
    source = """
@triton.jit
def kernel(o, first, last):
    n = 0
    for i in range(first, last):
        tl.store(o + n, i)
        tl.static_assert(i.dtype == tl.uint32)
        n += 1
    for i in range(last, first, -2):
        tl.store(o + n, i)
        n += 1
"""
    first, last = (1 << 31) - 1, (1 << 31) + 2
    arguments = {"o": np.zeros(5, np.int64), "first": Typed(first, "u32"), "last": Typed(last, "u32")}
    assert run(source, arguments)["o"].tolist() == [*range(first, last), *range(last, first, -2)]


def test_a_branch_that_is_not_taken_changes_nothing_in_a_loop() -> None:
    """What no loop could carry may be assigned there: an absent pointer, a constexpr, a dtype, a string."""
    source = """
@triton.jit
def kernel(o, p, n, B: tl.constexpr, NEVER: tl.constexpr):
    i = tl.arange(0, B)
    kind = tl.int32
    mode = "add"
    pair = (i, None)
    for k in range(n):
        if NEVER:
            p += B
            B *= 2
            kind = tl.float32
            mode = "multiply"
            pair = (i, i)
        tl.static_assert(p is None and mode == "add" and pair[1] is None)
        tl.store(o + k * B + tl.arange(0, B), (i + k).to(kind))
    tl.static_assert(B == 8 and kind == tl.int32)
"""
    found = run(
        source,
        {"o": np.zeros(24, np.int32), "p": None, "n": 3},
        {"B": 8, "NEVER": False},
        types={"p": "none"},
    )
    assert found["o"].tolist() == [i + k for k in range(3) for i in range(8)]


RETURN_INSIDE = """
@triton.jit
def early(v, KNOWN: tl.constexpr):
    if KNOWN:
        if v == 1:
            return v * 10
        v += 1
    return v

@triton.jit
def kernel(x, o, KNOWN: tl.constexpr):
    pid = tl.program_id(0)
    v = tl.load(x + pid)
    tl.store(o + 2 * pid, early(v, KNOWN))
    if KNOWN:
        if v == 2:
            tl.store(o + 2 * pid + 1, -1)
            return
    tl.store(o + 2 * pid + 1, v)
"""


def test_a_return_under_a_run_time_condition_under_a_known_one() -> None:
    x = np.array([1, 2, 3], np.int32)
    for known, wanted in ((True, [10, 1, 3, -1, 4, 3]), (False, [1, 1, 2, 2, 3, 3])):
        found = run(RETURN_INSIDE, {"x": x, "o": np.zeros(6, np.int32)}, {"KNOWN": known}, (3,))
        assert found["o"].tolist() == wanted
