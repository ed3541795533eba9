"""Tiles of three to five axes: reductions, scans, orders of axes, sorting, joining and picking along each."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Array, assert_same_bits, run

#: ``{body}`` computes ``r`` from ``t``; the tile's sides and the result's stand in the text.
KERNEL = """
@triton.jit
def smaller(a, b):
    return tl.where(a < b, a, b)


@triton.jit
def kernel(x, o, SIZE: tl.constexpr, OUT: tl.constexpr):
    t = tl.load(x + tl.arange(0, SIZE)).reshape({shape})
    {body}
    tl.store(o + tl.arange(0, OUT), r.reshape(OUT))
"""

SHAPES = [(4, 8, 16), (2, 1, 64), (2, 4, 8, 4), (16, 2, 2, 8), (2, 4, 2, 8, 4), (4, 2, 8, 1, 16)]


def check(x: Array, body: str, wanted: Array, warps: int) -> None:
    source = KERNEL.replace("{shape}", str(x.shape)).replace("{body}", body)
    out = np.zeros(wanted.size, wanted.dtype)
    found = run(source, {"x": x, "o": out}, {"SIZE": x.size, "OUT": wanted.size}, num_warps=warps)
    assert_same_bits(found["o"], np.ascontiguousarray(wanted).reshape(-1), body)


def whole(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng().integers(-9, 10, shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "warps"), list(zip(SHAPES, [4, 1, 8, 2, 4, 1], strict=True)), ids=str)
def test_reductions_and_scans(shape: tuple[int, ...], warps: int) -> None:
    x = whole(shape)
    for axis in range(len(shape)):
        check(x, f"r = tl.sum(t, {axis})", x.sum(axis), warps)
        check(x, f"r = tl.max(t, {axis - len(shape)}, keep_dims=True)", x.max(axis), warps)
        check(x, f"r = tl.argmin(t, {axis})", x.argmin(axis).astype(np.int32), warps)
        check(x, f"r = tl.reduce(t, {axis}, smaller)", x.min(axis), warps)
        check(x, f"r = tl.cumsum(t, {axis})", np.cumsum(x, axis), warps)
        turned = np.flip(np.minimum.accumulate(np.flip(x, axis), axis), axis)
        check(x, f"r = tl.associative_scan(t, {axis}, smaller, reverse=True)", turned, warps)
    check(x, "r = (tl.sum(t) + t * 0)", np.full(shape, x.sum(), np.float32), warps)


@pytest.mark.parametrize(("shape", "warps"), list(zip(SHAPES, [1, 4, 2, 4, 8, 2], strict=True)), ids=str)
def test_orders_and_picks(shape: tuple[int, ...], warps: int) -> None:
    x, rank = whole(shape), len(shape)
    order = tuple(np.random.default_rng().permutation(rank).tolist())
    check(x, f"r = tl.permute(t, {order})", x.transpose(order), warps)
    check(x, "r = tl.trans(t)", np.swapaxes(x, -1, -2), warps)
    axis = int(np.argmax(shape))
    check(x, f"r = tl.sort(t, {axis})", np.sort(x, axis), warps)
    check(
        x, f"r = tl.flip(t, {axis}).sum({(axis + 1) % rank})", np.flip(x, axis).sum((axis + 1) % rank), warps
    )
    top = np.flip(np.sort(x, axis), axis).take(range(2), axis)
    check(x, f"r = tl.topk(t, 2, {axis})", top, warps)
    check(
        x,
        f"r = tl.gather(t, (t * 0).to(tl.int32) - 1, {axis})",
        np.repeat(x.take([-1], axis), shape[axis], axis),
        warps,
    )
    both = np.stack([x, x * 2], -1)
    check(x, "r = tl.interleave(t, t * 2)", both, warps)
    if rank < 5:
        check(x, "a, b = tl.join(t, t * 2).split(); r = b - a", x, warps)
