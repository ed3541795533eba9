"""Pooling: :mod:`tests.kernels.sources.pooling`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


def windows(x: Any, kernel: int, stride: int, padding: int, dilation: int = 1) -> tuple[Any, Any, Any]:
    """Of planes: what lies in each window (last axis), what place in the plane it has, and whether it is inside."""
    h, w = x.shape[-2:]
    reach = dilation * (kernel - 1) + 1
    oh, ow = ((size + 2 * padding - reach) // stride + 1 for size in (h, w))
    steps = np.arange(kernel) * dilation
    rows = (np.arange(oh) * stride - padding)[:, None, None, None] + steps[None, None, :, None]
    columns = (np.arange(ow) * stride - padding)[None, :, None, None] + steps[None, None, None, :]
    rows, columns = (a.reshape(oh, ow, -1) for a in np.broadcast_arrays(rows, columns))
    inside = (rows >= 0) & (rows < h) & (columns >= 0) & (columns < w)
    place = np.where(inside, rows * w + columns, 0)
    return x.reshape(*x.shape[:-2], -1)[..., place], place, inside


@cases
def max_pool2d_forward(rng: np.random.Generator) -> Iterator[Case]:
    planes, h, w = 3, 13, 10
    for kernel, stride, padding, dilation, dtype in ((3, 2, 1, 1, F32), (2, 1, 0, 2, F16)):
        x = normal(rng, planes, h, w, dtype=dtype)
        found, place, inside = windows(wide(x), kernel, stride, padding, dilation)
        found = np.where(inside, found, -np.inf)
        best = found.argmax(-1)
        y = found.max(-1)
        places = np.take_along_axis(np.broadcast_to(place, found.shape), best[..., None], -1)[..., 0]
        given = {
            "x_ptr": x, "y_ptr": poison(y.shape, dtype), "places_ptr": poison(y.shape, np.int64), "H": h, "W": w,
            "OH": y.shape[1], "OW": y.shape[2],
        }  # fmt: skip
        const = {
            "KH": kernel, "KW": kernel, "SH": stride, "SW": stride, "PH": padding, "PW": padding, "DH": dilation,
            "DW": dilation, "BLOCK_H": 8, "BLOCK_W": 8,
        }  # fmt: skip
        grid = (cdiv(y.shape[1], 8), cdiv(y.shape[2], 8), planes)
        yield Case(given, {"y_ptr": y, "places_ptr": places}, grid, const)


@cases
def max_pool2d_backward(rng: np.random.Generator) -> Iterator[Case]:
    planes, size, out = 3, 130, 60
    dy, places = normal(rng, planes, out), rng.integers(-1, size, (planes, out))
    dx = np.zeros((planes, size))
    for i in range(planes):
        np.add.at(dx[i], places[i][places[i] >= 0], wide(dy)[i][places[i] >= 0])
    given = {
        "dy_ptr": dy, "places_ptr": places, "dx_ptr": np.zeros(dx.shape, F32), "in_size": size, "out_size": out
    }  # fmt: skip
    yield Case(given, {"dx_ptr": dx}, (1, planes), {"BLOCK": 64}, ordered=False)


@cases
def avg_pool2d_forward(rng: np.random.Generator) -> Iterator[Case]:
    planes, h, w = 3, 13, 10
    for kernel, stride, padding, counted, divisor, dtype in (
        (3, 2, 1, False, None, F32), (2, 2, 0, True, None, BF16), (3, 1, 1, True, 7, F32)
    ):  # fmt: skip
        x = normal(rng, planes, h, w, dtype=dtype)
        found, _, inside = windows(wide(x), kernel, stride, padding)
        by = divisor or (kernel * kernel if counted else inside.sum(-1))
        y = np.where(inside, found, 0).sum(-1) / by
        oh, ow = y.shape[1:]
        given = {"x_ptr": x, "y_ptr": poison(y.shape, dtype), "H": h, "W": w, "OH": oh, "OW": ow}
        const = {
            "KH": kernel, "KW": kernel, "SH": stride, "SW": stride, "PH": padding, "PW": padding,
            "COUNT_PADDING": counted, "DIVISOR": divisor, "BLOCK": 32,
        }  # fmt: skip
        yield Case(given, {"y_ptr": y}, (cdiv(oh * ow, 32), planes), const, num_warps=1)


@cases
def adaptive_avg_pool1d(rng: np.random.Generator) -> Iterator[Case]:
    rows = 3
    for length, out in ((100, 7), (33, 20)):
        x = normal(rng, rows, length)
        y = np.stack(
            [wide(x)[:, o * length // out : cdiv((o + 1) * length, out)].mean(-1) for o in range(out)], -1
        )
        given = {"x_ptr": x, "y_ptr": poison(y.shape, F32), "L": length, "OL": out}
        yield Case(given, {"y_ptr": y}, (rows, cdiv(out, 8)), {"BLOCK_O": 8, "BLOCK_L": 8})


@cases
def sequence_pool(rng: np.random.Generator) -> Iterator[Case]:
    batch, length, size = 3, 50, 70
    lengths = np.array([50, 1, 23], np.int32)
    for mode, dtype in (("mean", F32), ("max", BF16), ("last", F16)):
        x = normal(rng, batch, length, size, dtype=dtype)
        f = {"mean": lambda v: v.mean(0), "max": lambda v: v.max(0), "last": lambda v: v[-1]}[mode]
        y = np.stack([f(wide(x)[i, :n]) for i, n in enumerate(lengths)])
        given = {
            "x_ptr": x, "lengths_ptr": lengths, "y_ptr": poison(y.shape, F32), "T": length, "D": size,
            "stride_b": length * size,
        }  # fmt: skip
        yield Case(given, {"y_ptr": y}, (batch, 2), {"MODE": mode, "BLOCK_T": 16, "BLOCK_D": 64})


@cases
def upsample_bilinear(rng: np.random.Generator) -> Iterator[Case]:
    planes, h, w, oh, ow = 2, 5, 7, 12, 11
    x = normal(rng, planes, h, w)

    def along(size: int, out: int) -> Any:
        """Weights [out, size]"""
        at = np.maximum((np.arange(out) + 0.5) * size / out - 0.5, 0)
        low = np.minimum(np.floor(at).astype(int), size - 1)
        weights = np.zeros((out, size))
        np.add.at(weights, (np.arange(out), low), 1 - (at - low))
        np.add.at(weights, (np.arange(out), np.minimum(low + 1, size - 1)), at - low)
        return weights

    given = {
        "x_ptr": x, "y_ptr": poison((planes, oh, ow), F32), "H": h, "W": w, "OH": oh, "OW": ow, "scale_h": h / oh,
        "scale_w": w / ow,
    }  # fmt: skip
    wanted = {"y_ptr": along(h, oh) @ wide(x) @ along(w, ow).T}
    yield Case(given, wanted, (cdiv(oh * ow, 64), planes), {"BLOCK": 64})
