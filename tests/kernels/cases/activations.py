"""Activations: :mod:`tests.kernels.sources.activations`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gelu(x: Any) -> Any:
    """The tanh form."""
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_slope(x: Any) -> Any:
    """Its derivative."""
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x)


def forward(rng: np.random.Generator, names: str, f: Any) -> Iterator[Case]:
    """Rows through f(a) * b."""
    for columns, dtype in ((1000, F32), (2048, BF16), (300, F16)):
        a, b = normal(rng, 3, columns, dtype=dtype), normal(rng, 3, columns, dtype=dtype)
        given = dict(zip(names.split(), (a, b, poison(a.shape, dtype)), strict=True)) | {"stride": columns}
        block = 1 << (columns - 1).bit_length()
        const = {"n_cols": columns, "BLOCK_SIZE": block}
        yield Case(given, {names.split()[2]: f(wide(a)) * wide(b)}, (3,), const, num_warps=8)


def backward(rng: np.random.Generator, names: str, f: Any, slope: Any) -> Iterator[Case]:
    for columns, dtype in ((1000, F32), (2048, BF16)):
        dc, a, b = (normal(rng, 3, columns, dtype=dtype) for _ in range(3))
        given = dict(zip(names.split(), (dc, a, b), strict=True)) | {"stride": columns}
        _, first, second = names.split()
        wanted = {first: wide(dc) * wide(b) * slope(wide(a)), second: wide(dc) * f(wide(a))}
        const = {"n_cols": columns, "BLOCK_SIZE": 1 << (columns - 1).bit_length()}
        yield Case(given, wanted, (3,), const)


def silu(x: Any) -> Any:
    return x * sigmoid(x)


def silu_slope(x: Any) -> Any:
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)))


@cases
def swiglu_forward(rng: np.random.Generator) -> Iterator[Case]:
    yield from forward(rng, "a_ptr b_ptr c_ptr", silu)


@cases
def swiglu_backward(rng: np.random.Generator) -> Iterator[Case]:
    yield from backward(rng, "dc_ptr a_ptr b_ptr", silu, silu_slope)


@cases
def geglu_forward(rng: np.random.Generator) -> Iterator[Case]:
    yield from forward(rng, "a b c", gelu)


@cases
def geglu_backward(rng: np.random.Generator) -> Iterator[Case]:
    yield from backward(rng, "dc a b", gelu, gelu_slope)


@cases
def silu_and_mul_quantised(rng: np.random.Generator) -> Iterator[Case]:
    rows, group = 3, 128
    for columns, clamped in ((300, True), (256, False)):
        x = 2 * normal(rng, rows, 2 * columns, dtype=F16)
        gate, up = wide(x)[:, :columns], wide(x)[:, columns:]
        if clamped:
            gate, up = np.minimum(gate, 1.5), np.clip(up, -1.5, 1.5)
        y = silu(gate) * up
        groups = cdiv(columns, group)
        scale = np.stack([np.abs(y[:, i * group : (i + 1) * group]).max(-1) / 127 for i in range(groups)], -1)
        given = {
            "input_ptr": x, "output_ptr": poison((rows, columns), np.int8), "scale_ptr": poison((rows, groups), F32),
            "n_rows": rows, "n_cols": columns, "input_stride": 2 * columns, "output_stride": columns,
        }  # fmt: skip
        q = y / np.repeat(scale, group, 1)[:, :columns]
        # What lies half way may be rounded to either side.
        wanted = {"output_ptr": np.rint(q), "scale_ptr": scale}
        const = {"GROUP": group, "LIMIT": 1.5, "CLAMP": clamped}
        yield Case(given, wanted, (rows, groups), const, {"output_ptr": 1 / 127}, num_warps=1)


@cases
def squared_relu_forward(rng: np.random.Generator) -> Iterator[Case]:
    for n, dtype in ((2000, F32), (4096, BF16)):
        x = normal(rng, n, dtype=dtype)
        given = {"x_ptr": x, "y_ptr": poison(n, dtype), "n_elements": n}
        yield Case(given, {"y_ptr": np.maximum(wide(x), 0) ** 2}, (cdiv(n, 1024),), {"BLOCK": 1024})


@cases
def squared_relu_backward(rng: np.random.Generator) -> Iterator[Case]:
    for n, dtype in ((2000, F32), (4096, F16)):
        x, dy = normal(rng, n, dtype=dtype), normal(rng, n, dtype=dtype)
        given = {"x_ptr": x, "dy_ptr": dy, "dx_ptr": poison(n, dtype), "n_elements": n}
        wanted = {"dx_ptr": 2 * np.maximum(wide(x), 0) * wide(dy)}
        yield Case(given, wanted, (cdiv(n, 1024),), {"BLOCK": 1024})


ACTIVATIONS: dict[str | None, Any] = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "gelu": gelu,
    "silu": silu,
    "sigmoid": sigmoid,
    "squared_relu": lambda x: np.maximum(x, 0) ** 2,
}


@cases
def bias_activation_residual(rng: np.random.Generator) -> Iterator[Case]:
    m, n = 11, 300
    for number, (name, f) in enumerate(ACTIVATIONS.items()):
        everything = number % 2 == 0
        x, residual = normal(rng, m, n), normal(rng, m, n)
        bias, scale = normal(rng, n), normal(rng, n)
        pre = wide(x) * scale + bias if everything else wide(x)
        given = {
            "x_ptr": x, "bias_ptr": bias if everything else None, "scale_ptr": scale if everything else None,
            "residual_ptr": residual if everything else None, "out_ptr": poison(x.shape, F32),
            "pre_ptr": poison(x.shape, F32) if everything else None, "M": m, "N": n, "stride_xm": n, "stride_rm": n,
            "stride_om": n, "alpha": 0.5,
        }  # fmt: skip
        wanted = {"pre_ptr": pre, "out_ptr": 0.5 * f(pre) + (wide(residual) if everything else 0)}
        const = {"BLOCK_M": 4, "BLOCK_N": 256, "ACTIVATION": name, "SAVE_PRE": everything}
        yield Case(given, wanted, (cdiv(m, 4), cdiv(n, 256)), const)
