"""The kernel library's kernels with what they should compute: arguments, and NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}
#: How far a result may lie from float64, relative to the largest value of its row: a few roundings of the dtype.
TOLERANCE = {"f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2, "f64": 1e-14}


@dataclass
class Case:
    """One call of one kernel. ``arguments`` holds arrays and scalars by name; ``wanted`` float64 results of ``outputs``."""

    kernel: str
    label: str
    arguments: dict[str, Any]
    options: dict[str, Any]
    wanted: dict[str, np.ndarray]
    tolerance: float
    #: NumPy doing the same in the arrays' own dtypes, as a user would write it.
    numpy: Callable[[], Any]
    #: How large what a row's results are sums of is, in f32: where terms cancel, their roundings stay. Broadcasts to rows.
    terms: np.ndarray | float = 0.0

    def error(self, results: dict[str, np.ndarray]) -> float:
        """The largest difference from float64, relative to the largest value of its row; infinite where a NaN is.

        Below a dtype's smallest normal number its steps no longer shrink with the value: there it is relative to that.
        """
        terms = self.terms * (TOLERANCE["f32"] / self.tolerance) if self.tolerance else 0.0
        worst = 0.0
        for name, wanted in self.wanted.items():
            got = results[name].astype(np.float64)
            least = float(ml_dtypes.finfo(results[name].dtype).smallest_normal)
            scale = np.maximum(np.abs(wanted).max(axis=-1, keepdims=True), np.maximum(terms, least))
            relative = np.abs(got - wanted) / scale
            worst = max(worst, float("inf") if np.isnan(relative).any() else float(relative.max()))
        return worst


def _poison(shape: Any, dtype: Any) -> np.ndarray:
    """An output that shows what was not written."""
    return np.full(shape, np.nan).astype(dtype)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _in_f32(f: Callable[..., np.ndarray], dtype: Any, *arrays: np.ndarray) -> Callable[[], np.ndarray]:
    """``f`` in f32 on narrower arrays, in their own dtype on others."""
    if dtype in (np.float32, np.float64):
        return lambda: f(*arrays)
    return lambda: f(*(a.astype(np.float32) for a in arrays)).astype(dtype)


def elementwise(rng: np.random.Generator, n: int) -> Iterator[Case]:
    """The four elementwise kernels."""
    for name, dtype in DTYPES.items():
        a, b = (rng.standard_normal(n).astype(dtype) for _ in range(2))
        x, y = a.astype(np.float64), b.astype(np.float64)

        def case(kernel: str, arguments: dict[str, Any], f: Callable[..., np.ndarray], *arrays: Any) -> Case:
            wide = [v.astype(np.float64) for v in arrays]
            arguments = {**arguments, "out_ptr": _poison(n, dtype), "n_elements": n}  # noqa: B023  # used at once
            numpy = _in_f32(f, dtype, *arrays)  # noqa: B023
            return Case(kernel, f"{n} {name}", arguments, {}, {"out_ptr": f(*wide)}, TOLERANCE[name], numpy)  # noqa: B023

        for block in (1024, 128):
            made = case("vector_add", {"a_ptr": a, "b_ptr": b}, np.add, a, b)
            made.options = {"BLOCK_SIZE": block}
            made.label += f", blocks of {block}"
            made.wanted = {"out_ptr": (x + y).astype(dtype).astype(np.float64)}
            made.tolerance = 0.0 if name in ("f32", "f64") else TOLERANCE[name]
            yield made
        if name != "f64":
            yield case("silu", {"x_ptr": a}, lambda v: v * _sigmoid(v), a)
            gelu = case("gelu", {"x_ptr": a}, _gelu, a)
            gelu.terms = float(np.abs(x).max())  # 1 + tanh cancels
            yield gelu
            yield case("swiglu", {"gate_ptr": a, "up_ptr": b}, lambda g, u: g * _sigmoid(g) * u, a, b)


def rows(rng: np.random.Generator, count: int, columns: int) -> Iterator[Case]:
    """Softmax, sums and layer norm over ``count`` rows."""
    for name in ("f32", "f16", "bf16"):
        dtype = DTYPES[name]
        x = rng.standard_normal((count, columns)).astype(dtype)
        wide = x.astype(np.float64)
        label = f"{count} x {columns} {name}"
        common = {"x_ptr": x, "row_stride": columns, "n_columns": columns}
        numpy = _in_f32(_softmax, dtype, x)
        if columns <= 8192:
            block = next(b for b in (1024, 4096, 8192) if b >= columns)
            arguments = {**common, "out_ptr": _poison(x.shape, dtype)}
            options = {"BLOCK_SIZE": block, "grid": (count,)}
            yield Case(
                "softmax", label, arguments, options, {"out_ptr": _softmax(wide)}, TOLERANCE[name], numpy
            )
            yield _layer_norm(rng, x, wide, name, block)
        arguments = {**common, "out_ptr": _poison(x.shape, dtype)}
        yield Case(
            "softmax_long",
            label,
            arguments,
            {"grid": (count,)},
            {"out_ptr": _softmax(wide)},
            TOLERANCE[name],
            numpy,
        )
        # A sum's error grows with what is summed, not with what is left of it.
        slack = 1e-6 * np.abs(wide).sum(-1).max() / max(np.abs(wide.sum(-1)).max(), 1e-30)
        yield Case(
            "row_sum", label, {**common, "out_ptr": _poison(count, np.float32)}, {"grid": (count,)},
            {"out_ptr": wide.sum(-1)}, slack, lambda x=x: x.astype(np.float32, copy=False).sum(-1),
        )  # fmt: skip
        slack = 1e-6 * np.abs(wide).sum(0).max() / max(np.abs(wide.sum(0)).max(), 1e-30)
        yield Case(
            "column_sum", label, {**common, "n_rows": count, "out_ptr": _poison(columns, np.float32)}, {},
            {"out_ptr": wide.sum(0)}, slack, lambda x=x: x.astype(np.float32, copy=False).sum(0),
        )  # fmt: skip


def _layer_norm(rng: np.random.Generator, x: np.ndarray, wide: np.ndarray, name: str, block: int) -> Case:
    count, columns = x.shape
    dtype = DTYPES[name]
    weight, bias = (rng.standard_normal(columns).astype(dtype) for _ in range(2))

    def f(v: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        centred = v - v.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * w + b

    mean = wide.mean(-1)
    rstd = 1 / np.sqrt(((wide - mean[:, None]) ** 2).mean(-1) + 1e-5)
    arguments = {
        "x_ptr": x, "weight_ptr": weight, "bias_ptr": bias, "out_ptr": _poison(x.shape, dtype),
        "mean_ptr": _poison(count, np.float32), "rstd_ptr": _poison(count, np.float32),
        "row_stride": columns, "n_columns": columns, "eps": 1e-5,
    }  # fmt: skip
    wanted = {"out_ptr": f(wide, weight.astype(np.float64), bias.astype(np.float64)), "rstd_ptr": rstd}
    options = {"BLOCK_SIZE": block, "grid": (count,)}
    numpy = _in_f32(f, dtype, x, weight, bias)
    return Case(
        "layer_norm", f"{count} x {columns} {name}", arguments, options, wanted, TOLERANCE[name], numpy
    )


def products(rng: np.random.Generator, m: int, n: int, k: int) -> Iterator[Case]:
    """The matrix product, with and without bias and activations."""
    activations: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "none": lambda v: v,
        "relu": lambda v: np.maximum(v, 0),
        "gelu": _gelu,
    }
    for name in ("f32", "f16", "bf16"):
        dtype = DTYPES[name]
        a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
        for activation, f in activations.items():
            for bias in (rng.standard_normal(n).astype(np.float32), None):
                added = 0 if bias is None else bias.astype(np.float64)
                wanted = f(a.astype(np.float64) @ b.astype(np.float64) + added)

                def numpy(
                    a: Any = a, b: Any = b, bias: Any = bias, f: Any = f, dtype: Any = dtype
                ) -> np.ndarray:
                    total = a.astype(np.float32, copy=False) @ b.astype(np.float32, copy=False)
                    return f(total if bias is None else total + bias).astype(dtype)

                arguments = {
                    "a_ptr": a, "b_ptr": b, "bias_ptr": bias, "c_ptr": _poison((m, n), dtype), "M": m, "N": n, "K": k,
                    "stride_am": k, "stride_ak": 1, "stride_bk": n, "stride_bn": 1, "stride_cm": n, "stride_cn": 1,
                }  # fmt: skip
                label = f"{m} x {n} x {k} {name}, {'no ' if bias is None else ''}bias, {activation}"
                terms = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + np.abs(added)
                yield Case(
                    "matmul",
                    label,
                    arguments,
                    {"ACTIVATION": activation},
                    {"c_ptr": wanted},
                    TOLERANCE[name],
                    numpy,
                    terms.max(axis=-1, keepdims=True),
                )


def small(rng: np.random.Generator) -> Iterator[Case]:
    """Every kernel and dtype once, at odd sizes: masks end in the middle of blocks and vectors."""
    yield from elementwise(rng, 100_003)
    yield from rows(rng, 37, 1_000)
    yield from rows(rng, 5, 4_099)
    yield from rows(rng, 3, 9_001)
    yield from products(rng, 67, 131, 93)


def edges(rng: np.random.Generator) -> Iterator[Case]:
    """Sizes on both sides of a block's edge, and one element."""
    for n in (1, 127, 128, 129, 1023, 1024, 1025):
        yield from elementwise(rng, n)
    for columns in (1, 31, 1023, 1024, 1025, 4096, 8192):
        yield from rows(rng, 2, columns)
    for m, n, k in ((1, 1, 1), (64, 64, 32), (65, 63, 33)):
        yield from products(rng, m, n, k)
