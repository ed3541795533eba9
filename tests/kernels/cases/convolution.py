"""Convolutions: :mod:`tests.kernels.sources.convolution`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, strides, wide
from tests.kernels.cases.activations import ACTIVATIONS, silu


def convolved(x: Any, w: Any, stride: int, padding: int, dilation: int, groups: int) -> Any:
    """[N, C, H, W] with [O, C / groups, h, w]"""
    n, c, _, _ = x.shape
    o, per, kh, kw = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    oh, ow = ((x.shape[i] - dilation * (w.shape[i] - 1) - 1) // stride + 1 for i in (2, 3))
    out = np.zeros((n, o, oh, ow))
    for i in range(kh):
        for j in range(kw):
            rows, columns = i * dilation, j * dilation
            part = x[
                :, :, rows : rows + stride * (oh - 1) + 1 : stride, columns : columns + stride * (ow - 1) + 1 : stride
            ].reshape(n, groups, per, oh, ow)  # fmt: skip
            weights = w[:, :, i, j].reshape(groups, o // groups, per)
            out += np.einsum("ngchw,goc->ngohw", part, weights).reshape(out.shape)
    assert c == per * groups
    return out


@cases
def conv2d_forward(rng: np.random.Generator) -> Iterator[Case]:
    for shape, weights, stride, padding, dilation, groups, dtype, activation in (
        ((2, 6, 9, 7), (10, 3, 3, 3), 1, 1, 1, 2, F16, "relu"), ((1, 20, 8, 8), (16, 20, 3, 2), 2, 2, 2, 1, F32, None)
    ):  # fmt: skip
        x, w = normal(rng, *shape, dtype=dtype), normal(rng, *weights, dtype=dtype)
        b = normal(rng, weights[0]) if activation else None
        y = convolved(wide(x), wide(w), stride, padding, dilation, groups)
        if b is not None:
            y = y + wide(b)[:, None, None]
        n, c, oh, ow = y.shape
        given = {
            "input_pointer": x, "weight_pointer": w, "output_pointer": poison(y.shape, dtype), "bias_pointer": b,
            "in_n": n, "input_height": shape[2], "input_width": shape[3], "out_c": c, "out_height": oh, "out_width": ow,
        }  # fmt: skip
        for name, array in (("input", x), ("weight", w), ("output", given["output_pointer"])):
            given |= {
                f"{name}_{axis}_stride": s
                for axis, s in zip(("n", "c", "height", "width"), strides(array), strict=True)
            }
        const: dict[str, Any] = {
            "weight_c": weights[1], "weight_height": weights[2], "weight_width": weights[3], "groups": groups,
            "BLOCK_NI_HO_WO": 32, "BLOCK_CI": 16, "BLOCK_CO": 16, "ACTIVATION": activation,
        }  # fmt: skip
        for name, value in (("stride", stride), ("padding", padding), ("dilation", dilation)):
            const |= {f"{name}_height": value, f"{name}_width": value}
        wanted = {"output_pointer": ACTIVATIONS[activation](y)}
        yield Case(given, wanted, (cdiv(n * oh * ow, 32), cdiv(c // groups, 16), groups), const)


def causal(x: Any, w: Any, before: Any) -> Any:
    """[B, T, D] with weights [D, W] and what came before, [B, D, W - 1]."""
    width = w.shape[1]
    full = np.concatenate([before.swapaxes(1, 2), x], 1)
    return sum(full[:, i : i + x.shape[1]] * w[:, i] for i in range(width))


@cases
def causal_conv1d_forward(rng: np.random.Generator) -> Iterator[Case]:
    batch, size, width = 2, 40, 4
    for length, everything, dtype in ((37, True, F32), (2, True, BF16), (32, False, F16)):
        x, w = normal(rng, batch, length, size, dtype=dtype), normal(rng, size, width, dtype=dtype)
        b, state = normal(rng, size), normal(rng, batch, size, width - 1, dtype=dtype)
        y = causal(wide(x), wide(w), wide(state) if everything else np.zeros(state.shape))
        full = np.concatenate([wide(state), wide(x).swapaxes(1, 2)], 2)[..., 1 - width :]
        given = {
            "x_ptr": x, "w_ptr": w, "bias_ptr": b if everything else None, "initial_ptr": state if everything else None,
            "out_ptr": poison(x.shape, dtype), "final_ptr": poison(state.shape, dtype) if everything else None, "D": size,
            "T": length, "stride_xb": length * size, "stride_xt": size, "stride_xd": 1,
        }  # fmt: skip
        const = {
            "WIDTH": width, "BT": 16, "BD": 32, "SILU": everything, "HAS_INITIAL": everything, "STORE_FINAL": everything
        }  # fmt: skip
        wanted = {"out_ptr": silu(y + wide(b)) if everything else y, "final_ptr": full}
        yield Case(given, wanted, (cdiv(length, 16), cdiv(size, 32), batch), const)


@cases
def causal_conv1d_update(rng: np.random.Generator) -> Iterator[Case]:
    batch, size, width = 3, 100, 4
    x, w, b = normal(rng, batch, size, dtype=F16), normal(rng, size, width), normal(rng, size)
    states, slots = normal(rng, 5, size, width - 1, dtype=F16), np.array([3, -1, 0], np.int32)
    out = normal(rng, batch, size, dtype=F16)
    new_states, new_out = wide(states), wide(out)
    for i, slot in enumerate(slots):
        if slot >= 0:
            full = np.concatenate([wide(states)[slot], wide(x)[i][:, None]], 1)
            new_out[i] = silu((full * w).sum(-1) + b)
            new_states[slot] = full[:, 1:]
    given = {
        "x_ptr": x, "state_ptr": states, "state_indices_ptr": slots, "w_ptr": w, "bias_ptr": b, "out_ptr": out,
        "D": size, "pad_slot": -1, "stride_xb": size, "stride_sb": size * (width - 1),
    }  # fmt: skip
    const = {"WIDTH": width, "BD": 64, "SILU": True}
    yield Case(given, {"state_ptr": new_states, "out_ptr": new_out}, (batch, 2), const)


@cases
def causal_conv1d_backward(rng: np.random.Generator) -> Iterator[Case]:
    batch, length, size, width = 2, 37, 40, 4
    x, dy, w = normal(rng, batch, length, size), normal(rng, batch, length, size), normal(rng, size, width)
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for i in range(width):
        shift = width - 1 - i
        dx[:, : length - shift] += wide(dy)[:, shift:] * w[:, i]
        dw[:, i] = (wide(x)[:, : length - shift] * wide(dy)[:, shift:]).sum((0, 1))
    given = {
        "x_ptr": x, "w_ptr": w, "dy_ptr": dy, "dx_ptr": poison(x.shape, F32), "dw_ptr": np.zeros(w.shape, F32),
        "db_ptr": np.zeros(size, F32), "D": size, "T": length, "stride_b": length * size, "stride_t": size,
    }  # fmt: skip
    wanted = {"dx_ptr": dx, "dw_ptr": dw, "db_ptr": wide(dy).sum((0, 1))}
    yield Case(given, wanted, (cdiv(size, 32), batch), {"WIDTH": width, "BT": 16, "BD": 32}, ordered=False)


@cases
def depthwise_conv2d(rng: np.random.Generator) -> Iterator[Case]:
    n, c, h, w, k = 2, 3, 11, 9, 3
    x, weights, b = normal(rng, n, c, h, w, dtype=F16), normal(rng, c, 1, k, k), normal(rng, c)
    y = convolved(wide(x), wide(weights), 2, 1, 1, c) + wide(b)[:, None, None]
    oh, ow = y.shape[2:]
    given = {
        "x_ptr": x, "w_ptr": weights, "b_ptr": b, "y_ptr": poison(y.shape, F32), "C": c, "H": h, "W": w, "OH": oh, "OW": ow
    }  # fmt: skip
    const = {"KH": k, "KW": k, "SH": 2, "SW": 2, "PH": 1, "PW": 1, "BLOCK": 32}
    yield Case(given, {"y_ptr": y}, (cdiv(oh * ow, 32), n * c), const, num_warps=1)
