"""Any chain of moves: what one operation leaves in registers, lanes and warps, the next one finds there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.run import Array, assert_same_bits, run

CHAIN = """
@triton.jit
def kernel(x, o, SIZE: tl.constexpr, OUT: tl.constexpr):
    v = tl.load(x + tl.arange(0, SIZE))
{steps}
    tl.store(o + tl.arange(0, OUT), v.reshape(OUT))
"""

#: A step as a kernel says it, and what it does in NumPy.
Step = tuple[str, Callable[[Array], Array]]


def sides(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    bits, rank = size.bit_length() - 1, draw(st.integers(1, 4))
    cuts = sorted(draw(st.lists(st.integers(0, bits), min_size=rank - 1, max_size=rank - 1)))
    return tuple(1 << b - a for a, b in zip([0, *cuts], [*cuts, bits], strict=True))


def step(draw: st.DrawFn, shape: tuple[int, ...]) -> Step:
    """One that a tile of the shape allows."""
    axis = draw(st.integers(0, len(shape) - 1))
    size, side = int(np.prod(shape)), shape[axis]
    ways: list[Callable[[], Step]] = [
        lambda: reshaped(sides(draw, size)),
        lambda: permuted(tuple(draw(st.permutations(range(len(shape)))))),
        lambda: (f"tl.flip(v, {axis})", lambda x: np.flip(x, axis)),
        lambda: (f"tl.sort(v, {axis}, descending=True)", lambda x: np.flip(np.sort(x, axis), axis)),
        lambda: (f"tl.cumsum(v, {axis})", lambda x: np.cumsum(x, axis, dtype=np.int32)),
        lambda: exchanged(shape, axis, draw(st.integers(0, side - 1))),
        lambda: shifted(shape, axis, draw(st.integers(-3, 3))),
    ]
    if size < 2048:
        ways.append(lambda: ("tl.join(v, v * 3)", lambda x: np.stack([x, x * 3], -1)))
        ways.append(
            lambda: ("tl.cat(v.ravel(), v.ravel() + 1)", lambda x: np.concatenate([x.ravel(), x.ravel() + 1]))
        )
    if len(shape) > 1:
        ways.append(lambda: (f"tl.sum(v, {axis})", lambda x: x.sum(axis, dtype=np.int32)))
    if len(shape) > 1 and shape[-1] == 2:
        which = draw(st.integers(0, 1))
        ways.append(lambda: (f"tl.split(v)[{which}]", lambda x: x[..., which]))
        ways.append(lambda: ("tl.join(*tl.split(v)[::-1])", lambda x: x[..., ::-1]))
    return draw(st.sampled_from(ways))()


def reshaped(shape: tuple[int, ...]) -> Step:
    return f"tl.reshape(v, {shape})", lambda x: x.reshape(shape)


def permuted(order: tuple[int, ...]) -> Step:
    return f"tl.permute(v, {order})", lambda x: x.transpose(order)


def places(shape: tuple[int, ...], axis: int) -> str:
    wide = ", ".join(":" if d == axis else "None" for d in range(len(shape)))
    return f"tl.broadcast_to(tl.arange(0, {shape[axis]})[{wide}], {shape})"


def exchanged(shape: tuple[int, ...], axis: int, flip: int) -> Step:
    index = np.arange(shape[axis]) ^ flip
    return f"tl.gather(v, {places(shape, axis)} ^ {flip}, {axis})", lambda x: x.take(index, axis)


def shifted(shape: tuple[int, ...], axis: int, by: int) -> Step:
    index = (np.arange(shape[axis]) + by) % shape[axis]
    return f"tl.gather(v, {places(shape, axis)} + {by}, {axis})", lambda x: x.take(index, axis)


@st.composite
def chains(draw: st.DrawFn) -> tuple[Array, list[str], Array]:
    x = (
        np.random.default_rng(draw(st.integers(0, 99)))
        .integers(-99, 99, 1 << draw(st.integers(0, 10)))
        .astype(np.int32)
    )
    wanted, texts = x, list[str]()
    for _ in range(draw(st.integers(2, 8))):
        text, compute = step(draw, wanted.shape)
        texts.append(text)
        wanted = compute(wanted)
    return x, texts, np.ascontiguousarray(wanted).reshape(-1)


@settings(max_examples=60, deadline=None)
@given(chain=chains(), warps=st.sampled_from([1, 2, 4, 8]))
def test_any_chain_of_moves(chain: tuple[Array, list[str], Array], warps: int) -> None:
    x, texts, wanted = chain
    source = CHAIN.replace("{steps}", "\n".join(f"    v = {text}" for text in texts))
    const = {"SIZE": x.size, "OUT": wanted.size}
    found = run(source, {"x": x, "o": np.zeros_like(wanted)}, const, num_warps=warps)
    assert_same_bits(found["o"], wanted, "; ".join(texts))
