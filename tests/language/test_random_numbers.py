"""Random numbers: Philox' published answers, NumPy's own Philox, and what becomes of them as floats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Typed, assert_same_bits, run

PHILOX = """
@triton.jit
def kernel(o, seed, a, b, c, d, ROUNDS: tl.constexpr):
    i = tl.arange(0, 4)
    w, x, y, z = tl.philox(seed, a, b, c, d, ROUNDS)
    tl.store(o, w)
    tl.store(o + 1, x)
    tl.store(o + 2, y)
    tl.store(o + 3, z)
"""

#: Dropout's way: a seed, and an offset for each element.
RAND = """
@triton.jit
def kernel(i, f, g, seed, start, B: tl.constexpr):
    k = tl.arange(0, B)
    offsets = start + k
    a, b, c, d = tl.randint4x(seed, offsets)
    tl.store(i + k, a)
    tl.store(i + B + k, b)
    tl.store(i + 2 * B + k, c)
    tl.store(i + 3 * B + k, d)
    tl.store(i + 4 * B + k, tl.randint(seed, offsets, n_rounds=7))
    tl.store(f + k, tl.rand(seed, offsets))
    p, q, r, s = tl.rand4x(seed, offsets)
    tl.store(g + k, p)
    tl.store(g + B + k, s)
"""

FLOATS = """
@triton.jit
def kernel(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.random.uint_to_uniform_float(tl.load(x + i)))
"""

NORMAL = """
@triton.jit
def kernel(o, seed, B: tl.constexpr):
    k = tl.program_id(0) * B + tl.arange(0, B)
    n = B * tl.num_programs(0)
    tl.store(o + k, tl.randn(seed, k))
    a, b, c, d = tl.randn4x(seed, k)
    tl.store(o + n + k, a)
    tl.store(o + 2 * n + k, b)
    tl.store(o + 3 * n + k, c)
    tl.store(o + 4 * n + k, d)
    u, v, w, x = tl.rand4x(seed, k)
    tl.store(o + 5 * n + k, u)
    tl.store(o + 6 * n + k, v)
    tl.store(o + 7 * n + k, w)
    tl.store(o + 8 * n + k, x)
    e, f = tl.random.pair_uniform_to_normal(u * 0.0, v)
    tl.store(o + 9 * n + k, e)
"""

#: Random123's known answers (kat_vectors): counter, key, result, of 10 rounds.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]  # fmt: skip


def philox4x32(counter: tuple[np.ndarray, ...], key: int, rounds: int) -> list[np.ndarray]:
    """Written from the paper, in 64-bit arithmetic."""
    mask = np.uint64(0xFFFFFFFF)
    a, b, c, d = (np.asarray(word, np.uint64) for word in counter)
    first, second = key & 0xFFFFFFFF, key >> 32
    for _ in range(rounds):
        left, right = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b, c, d = (
            (right >> np.uint64(32)) ^ b ^ np.uint64(first),
            right & mask,
            (left >> np.uint64(32)) ^ d ^ np.uint64(second),
            left & mask,
        )
        first, second = (first + 0x9E3779B9) & 0xFFFFFFFF, (second + 0xBB67AE85) & 0xFFFFFFFF
    return [word.astype(np.uint32) for word in (a, b, c, d)]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, int], answer: tuple[int, ...]) -> None:
    words = {name: Typed(word, "u32") for name, word in zip("abcd", counter, strict=True)}
    seed = Typed(key[0] | key[1] << 32, "u64")
    found = run(PHILOX, {"o": np.zeros(4, np.uint32), "seed": seed, **words}, {"ROUNDS": 10})
    assert found["o"].tolist() == list(answer)
    assert [int(w) for w in philox4x32(tuple(map(np.asarray, counter)), seed.value, 10)] == list(answer)


def test_words_of_64_bits_are_numpys() -> None:
    """NumPy's generator counts up before it draws."""
    generator = np.random.default_rng()
    key = int(generator.integers(0, 2**63))
    counter = [int(w) for w in generator.integers(0, 2**63, 4)]
    wanted = np.random.Philox(key=[key, 0], counter=[counter[0] - 1, *counter[1:]]).random_raw(4)
    words = {name: Typed(word, "i64") for name, word in zip("abcd", counter, strict=True)}
    arguments = {"o": np.zeros(4, np.uint64), "seed": Typed(key, "i64"), **words}
    assert_same_bits(run(PHILOX, arguments, {"ROUNDS": 10})["o"], wanted)


@pytest.mark.parametrize(("seed", "start", "kind"), [
    (0, 0, "i32"), (-5, 2**31 - 64, "i32"), (2**31 - 1, -40, "i32"), (123, 2**40 + 5, "i64"), (7, -3, "i64"),
])  # fmt: skip
@pytest.mark.parametrize("warps", [1, 4])
def test_numbers_of_a_seed_and_an_offset(seed: int, start: int, kind: str, warps: int) -> None:
    block = 64
    arguments = {
        "i": np.zeros(5 * block, np.uint32), "f": np.zeros(block, np.float32), "g": np.zeros(2 * block, np.float32),
        "seed": seed, "start": Typed(start, kind),
    }  # fmt: skip
    found = run(RAND, arguments, {"B": block}, num_warps=warps)
    offsets = np.array([start + k for k in range(block)]).astype(np.int64)
    low = (offsets & 0xFFFFFFFF).astype(np.uint64)
    high = ((offsets >> 32) & 0xFFFFFFFF).astype(np.uint64) if kind == "i64" else np.zeros_like(low)
    counter = (low, high, np.zeros_like(low), np.zeros_like(low))
    key = seed & 0xFFFFFFFFFFFFFFFF
    wanted = philox4x32(counter, key, 10)
    assert_same_bits(found["i"], np.concatenate([*wanted, philox4x32(counter, key, 7)[0]]))
    signed = [word.view(np.int32) for word in wanted]
    uniform = [np.where(w < 0, -w - 1, w).astype(np.float32) * np.float32(4.6566127342e-10) for w in signed]
    assert_same_bits(found["f"], uniform[0])
    assert_same_bits(found["g"], np.concatenate([uniform[0], uniform[3]]))


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
def test_floats_lie_from_0_to_below_1(dtype: type[np.generic]) -> None:
    info = np.iinfo(dtype)  # type: ignore[type-var]  # an integer
    edges = [info.min, info.max, 0, 1, info.max // 2, info.max // 2 + 1]
    x = np.array(edges * 3, dtype)[:16]
    found = run(FLOATS, {"x": x, "o": np.full(16, np.nan, np.float32)}, {"B": 16})["o"]
    assert (found >= 0).all()
    assert (found < 1).all()
    assert found.max() > 0.99999


def test_normal_numbers_are_box_and_mullers() -> None:
    """Of the evenly distributed numbers of the same seed and offsets; and their distribution is normal."""
    programs, block = 64, 256
    n = programs * block
    found = run(NORMAL, {"o": np.zeros(10 * n, np.float32), "seed": 77}, {"B": block}, (programs,))["o"]
    single, a, b, c, d, *evenly, least = found.reshape(10, n).astype(np.float64)
    for (first, second), (u, v) in (((a, b), evenly[:2]), ((c, d), evenly[2:])):
        radius = np.sqrt(-2 * np.log(np.maximum(u, 1e-7)))
        # The angle is rounded to f32, which is most of the difference.
        np.testing.assert_allclose(first, radius * np.cos(2 * np.pi * v), atol=3e-6)
        np.testing.assert_allclose(second, radius * np.sin(2 * np.pi * v), atol=3e-6)
    np.testing.assert_array_equal(single, a)
    # Nothing evenly distributed is so small that its logarithm would be infinite.
    np.testing.assert_allclose(np.max(np.abs(least)), np.sqrt(-2 * np.log(1e-7)), rtol=1e-4)
    for values in (a, b, c, d):
        assert abs(values.mean()) < 5 / np.sqrt(n)
        assert abs(values.std() - 1) < 5 / np.sqrt(2 * n)
        assert abs((np.abs(values) < 1).mean() - 0.6827) < 0.02
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(n)
