"""The same elements in another shape or order, against NumPy, on the host and in a GPU's layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.run import assert_same_bits, run

SHUFFLE = """
@triton.jit
def kernel(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
{steps}
    tl.store(o + i, tl.ravel(v))
"""

#: 1-D to 5-D, with and without a view in between, on tiles that fill a warp and that do not.
TRANSPOSES = """
@triton.jit
def kernel(x, o, p, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    w = v.T
    tl.store(o + c[:, None] * R + r[None, :], w)
    s = tl.sum(w, axis=0) + tl.sum(tl.trans(v) * 2, axis=0)
    tl.store(p + r, s)
"""

POINTERS = """
@triton.jit
def kernel(x, o, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    offsets = r[:, None] * C + c[None, :]
    tl.store(tl.trans(o + offsets), tl.load(tl.trans(x + offsets), mask=tl.trans(offsets > 2), other=-1))
"""


@st.composite
def shuffles(draw: st.DrawFn) -> tuple[int, list[tuple[str, tuple[int, ...]]]]:
    """Reshapes and permutations of a tile of 2 to 2,048 elements."""
    bits = draw(st.integers(1, 11))
    steps: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(draw(st.integers(1, 4))):
        rank = draw(st.integers(1, 5))
        cuts = sorted(draw(st.lists(st.integers(0, bits), min_size=rank - 1, max_size=rank - 1)))
        sides = [b - a for a, b in zip([0, *cuts], [*cuts, bits], strict=True)]
        steps.append(("reshape", tuple(1 << n for n in sides)))
        steps.append(("permute", tuple(draw(st.permutations(range(rank))))))
    return 1 << bits, steps


@settings(max_examples=40, deadline=None)
@given(case=shuffles(), warps=st.sampled_from([1, 4]), dtype=st.sampled_from(["float32", "int8", "float16"]))
def test_any_reshape_and_permutation(
    case: tuple[int, list[tuple[str, tuple[int, ...]]]], warps: int, dtype: str
) -> None:
    size, steps = case
    x = np.arange(size).astype(dtype)
    wanted = x
    lines: list[str] = []
    for name, values in steps:
        lines.append(f"    v = tl.{name}(v, {values})")
        wanted = wanted.reshape(values) if name == "reshape" else wanted.transpose(values)
    source = SHUFFLE.replace("{steps}", "\n".join(lines))
    found = run(source, {"x": x, "o": np.zeros_like(x)}, {"B": size}, num_warps=warps)
    assert_same_bits(found["o"], np.ascontiguousarray(wanted).reshape(-1))


@pytest.mark.parametrize("shape", [(32, 64), (64, 32), (4, 4), (1, 16), (128, 1), (16, 256)])
@pytest.mark.parametrize("warps", [1, 2, 8])
def test_transposes(shape: tuple[int, int], warps: int) -> None:
    rows, columns = shape
    x = np.random.default_rng().integers(-99, 99, shape).astype(np.float32)
    arguments = {"x": x, "o": np.zeros(rows * columns, np.float32), "p": np.zeros(rows, np.float32)}
    found = run(TRANSPOSES, arguments, {"R": rows, "C": columns}, num_warps=warps)
    assert_same_bits(found["o"], np.ascontiguousarray(x.T).reshape(-1))
    assert_same_bits(found["p"], 3 * x.sum(axis=1))


def test_transposed_pointers() -> None:
    x = np.arange(16 * 32, dtype=np.int32)
    found = run(POINTERS, {"x": x, "o": np.zeros_like(x)}, {"R": 16, "C": 32})
    assert_same_bits(found["o"], np.where(x > 2, x, -1))


def test_spellings() -> None:
    """Sides and axes one by one or as a tuple, as functions and as methods, axes from the end."""
    body = [
        "v = v.reshape(4, 8).trans(1, 0).reshape((32,))",
        "v = tl.view(v, (4, 8)).permute((-1, 0)).ravel()",
        "v = tl.reshape(v, [4, 8], can_reorder=True).T.view(32)",
        "v = tl.expand_dims(v, (0, 2)).reshape(4, 8).T.ravel()",
        "a, b = tl.broadcast(v, v * 0)\n    v = (a + b).reshape(4, 8).T.ravel()",
    ]
    x = np.arange(32, dtype=np.int32)
    for line in body:
        found = run(SHUFFLE.replace("{steps}", f"    {line}"), {"x": x, "o": np.zeros_like(x)}, {"B": 32})
        assert_same_bits(found["o"], np.ascontiguousarray(x.reshape(4, 8).T).reshape(-1))
