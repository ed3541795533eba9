"""Norms: :mod:`tests.kernels.sources.norms`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.philox import uniform

EPS = 1e-5


def normalised(x: Any, *, rms: bool = False) -> tuple[Any, Any, Any]:
    """(normalised, mean, 1 / deviation) of rows."""
    mean = np.zeros((len(x), 1)) if rms else x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + EPS)
    return (x - mean) * rstd, mean[:, 0], rstd[:, 0]


def gradient(dy: Any, x_hat: Any, rstd: Any, *, rms: bool = False) -> Any:
    """Of the rows that were normalised, from those of what came out (times the weights)."""
    mean = 0.0 if rms else dy.mean(-1, keepdims=True)
    return (dy - x_hat * (dy * x_hat).mean(-1, keepdims=True) - mean) * rstd[:, None]


def kept(seeds: Any, columns: int, p: float) -> Any:
    """What dropout keeps, a seed each row."""
    return np.stack([uniform(int(seed), np.arange(columns), rounds=7) for seed in seeds]) > np.float32(p)


@cases
def norm_forward(rng: np.random.Generator) -> Iterator[Case]:
    rows, p = 5, 0.25
    for columns, dtype, rms, everything in (
        (1000, F32, False, True), (384, BF16, True, True), (300, F16, False, False), (257, F32, True, False),
    ):  # fmt: skip
        x, residual, x1 = (normal(rng, rows, columns, dtype=dtype) for _ in range(3))
        w, b, w1, b1 = (normal(rng, columns) for _ in range(4))
        scale = normal(rng, 2 * rows)
        seeds = rng.integers(0, 2**31, 2 * rows)
        total, wanted = wide(x), dict[str, Any]()
        if everything:
            keep, keep1 = kept(seeds[:rows], columns, p), kept(seeds[rows:], columns, p)
            total = np.where(keep, total * wide(scale)[:rows, None] / (1 - p), 0)
            total = total + np.where(keep1, wide(x1) * wide(scale)[rows:, None] / (1 - p), 0) + wide(residual)
            wanted = {"DROPOUT_MASK": keep, "DROPOUT_MASK1": keep1, "RESIDUAL_OUT": total}
        x_hat, mean, rstd = normalised(total, rms=rms)
        wanted |= {"Y": x_hat * w + b if everything else x_hat * (1 + wide(w)), "Rstd": rstd}
        if not rms:
            wanted["Mean"] = mean
        if everything:
            wanted["Y1"] = x_hat * w1 + b1
        optional = {
            "B": b, "RESIDUAL": residual, "X1": x1, "W1": w1, "B1": b1, "Y1": poison(x.shape, dtype),
            "RESIDUAL_OUT": poison(x.shape, F32), "ROWSCALE": scale, "SEEDS": seeds,
            "DROPOUT_MASK": poison(x.shape, bool), "DROPOUT_MASK1": poison(x.shape, bool),
        }  # fmt: skip
        given = {name: value if everything else None for name, value in optional.items()}
        given |= {"X": x, "Y": poison(x.shape, dtype), "W": w, "Rstd": poison(rows, F32)}
        given["Mean"] = None if rms else poison(rows, F32)
        names = ("x", "y", "res", "res_out", "x1", "y1")
        given |= {f"stride_{name}_row": columns for name in names}
        given |= {"M": rows, "N": columns, "eps": EPS, "dropout_p": p}
        flags = (
            "HAS_RESIDUAL", "STORE_RESIDUAL_OUT", "HAS_BIAS", "HAS_DROPOUT", "STORE_DROPOUT_MASK", "HAS_ROWSCALE",
            "HAS_X1", "HAS_W1", "HAS_B1",
        )  # fmt: skip
        const = dict.fromkeys(flags, everything) | {
            "zero_centered_weight": not everything, "IS_RMS_NORM": rms, "BLOCK_N": 1024, "HAS_WEIGHT": True,
        }  # fmt: skip
        yield Case(given, wanted, (rows,), const, assumed=everything)


@cases
def norm_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, share, p = 11, 4, 0.3
    for columns, dtype, rms, everything in ((500, F32, False, True), (640, BF16, True, False)):
        x, dy, dresidual = (normal(rng, rows, columns, dtype=dtype) for _ in range(3))
        w, b = normal(rng, columns), normal(rng, columns)
        seeds = rng.integers(0, 2**31, rows)
        x_hat, mean, rstd = normalised(wide(x), rms=rms)
        dx = gradient(wide(dy) * w, x_hat, rstd, rms=rms) + (wide(dresidual) if everything else 0)
        starts = range(0, rows, share)
        programs = len(starts)
        wanted: dict[str, Any] = {
            "DX": np.where(kept(seeds, columns, p), dx / (1 - p), 0) if everything else dx,
            "DW": [(wide(dy) * x_hat)[i : i + share].sum(0) for i in starts],
        }
        if everything:
            wanted |= {
                "Y": x_hat * w + b,
                "DX_IN": dx,
                "DB": [wide(dy)[i : i + share].sum(0) for i in starts],
            }
        optional = {
            "B": b, "Y": poison(x.shape, dtype), "DB": poison((programs, columns), F32), "DRESIDUAL": dresidual,
            "DX_IN": poison(x.shape, F32), "SEEDS": seeds,
        }  # fmt: skip
        given = {name: value if everything else None for name, value in optional.items()}
        given |= {
            "X": x,
            "W": w,
            "DY": dy,
            "DX": poison(x.shape, dtype),
            "DW": poison((programs, columns), F32),
        }
        given |= {"Mean": None if rms else mean.astype(F32), "Rstd": rstd.astype(F32)}
        given |= {f"stride_{n}_row": columns for n in ("x", "y", "dy", "dx", "dres", "dres_in")}
        given |= {"M": rows, "N": columns, "eps": EPS, "dropout_p": p, "rows_per_program": share}
        const = {
            "IS_RMS_NORM": rms, "BLOCK_N": 1024, "HAS_DRESIDUAL": everything, "STORE_DRESIDUAL": everything,
            "HAS_WEIGHT": True, "HAS_BIAS": everything, "HAS_DROPOUT": everything, "RECOMPUTE_OUTPUT": everything,
        }  # fmt: skip
        yield Case(given, wanted, (programs,), const)


@cases
def column_sums(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns in ((33, 100), (64, 257)):
        partial = normal(rng, rows, columns)
        given = {"PARTIAL": partial, "OUT": poison(columns, BF16), "rows": rows, "N": columns}
        wanted = {"OUT": wide(partial).sum(0)}
        yield Case(given, wanted, (cdiv(columns, 128),), {"BLOCK_M": 32, "BLOCK_N": 128})


MODES = {"none": -1, "llama": 0, "gemma": 1}


@cases
def rms_norm_forward(rng: np.random.Generator) -> Iterator[Case]:
    rows = 6
    for columns, dtype, mode, offset in (
        (1000, BF16, "llama", 0.0), (768, F16, "gemma", 1.0), (100, F32, "none", 0.5)
    ):  # fmt: skip
        x, w = normal(rng, rows, columns, dtype=dtype), normal(rng, columns, dtype=dtype)
        x_hat, _, rstd = normalised(wide(x), rms=True)
        given = {
            "Y_ptr": poison(x.shape, dtype), "Y_row_stride": columns, "X_ptr": x, "X_row_stride": columns, "W_ptr": w,
            "W_row_stride": 1, "RSTD_ptr": poison(rows, F32), "RSTD_row_stride": 1, "n_cols": columns, "eps": EPS,
            "offset": offset,
        }  # fmt: skip
        const = {"casting_mode": MODES[mode], "elementwise_affine": True, "BLOCK_SIZE": 1024}
        yield Case(
            given, {"Y_ptr": x_hat * (offset + wide(w)), "RSTD_ptr": rstd}, (rows,), const, num_warps=8
        )


@cases
def rms_norm_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, share = 7, 3
    for columns, dtype, mode in ((500, BF16, "llama"), (512, F16, "gemma"), (77, F32, "none")):
        name = {BF16: "bfloat16", F16: "float16", F32: "float32"}[dtype]
        x, dy, w = (normal(rng, n, columns, dtype=dtype) for n in (rows, rows, 1))
        x_hat, _, rstd = normalised(wide(x), rms=True)
        programs = cdiv(rows, share)
        wanted = {
            "dX_ptr": gradient(wide(dy) * (0.5 + wide(w)), x_hat, rstd, rms=True),
            "dW_ptr": np.stack(
                [(wide(dy) * x_hat)[i * share : (i + 1) * share].sum(0) for i in range(programs)]
            ),
        }
        given = {
            "dY_ptr": dy, "dY_row_stride": columns, "dX_ptr": poison(x.shape, dtype), "dX_row_stride": columns,
            "X_ptr": x, "X_row_stride": columns, "W_ptr": w, "W_row_stride": 1, "RSTD_ptr": rstd.astype(F32),
            "RSTD_row_stride": 1, "dW_ptr": poison((programs, columns), F32), "dW_row_stride": columns,
            "n_rows": rows, "n_cols": columns, "offset": 0.5, "rows_per_program": share,
        }  # fmt: skip
        const = {"X_dtype": f"tl.{name}", "casting_mode": MODES[mode], "BLOCK_SIZE": 512}
        # Llama's way rounds what the weights' gradients are summed from.
        tolerance = {"dW_ptr": 1.6e-2} if mode == "llama" else {}
        yield Case(given, wanted, (programs,), const, tolerance)


@cases
def fused_add_rms_norm(rng: np.random.Generator) -> Iterator[Case]:
    rows = 4
    for columns, dtype, stages in ((2500, F32, 3), (1024, BF16, 1)):
        x, r, w = (normal(rng, n, columns, dtype=dtype) for n in (rows, rows, 1))
        total = wide(x) + wide(r)
        given = {
            "input_ptr": x, "residual_ptr": r, "weight_ptr": w, "input_row_stride": columns,
            "residual_row_stride": columns, "n_cols": columns, "eps": EPS,
        }  # fmt: skip
        wanted = {"input_ptr": normalised(total, rms=True)[0] * wide(w), "residual_ptr": total}
        yield Case(given, wanted, (rows,), {"BLOCK_SIZE": 1024, "num_stages": stages})


@cases
def group_norm_forward(rng: np.random.Generator) -> Iterator[Case]:
    for images, groups, channels, size in ((2, 3, 2, 150), (1, 4, 1, 64)):
        x = normal(rng, images, groups, channels, size)
        w, b = normal(rng, groups * channels), normal(rng, groups * channels)
        x_hat, mean, rstd = normalised(wide(x).reshape(images * groups, -1))
        y = x_hat.reshape(images, groups * channels, size) * w[:, None] + b[:, None]
        row, column = groups * channels * size, channels * size
        given = {
            "Y_ptr": poison(x.shape, F32), "X_ptr": x, "Mean_ptr": poison((images, groups), F32),
            "RSTD_ptr": poison((images, groups), F32), "W_ptr": w, "B_ptr": b, "eps": EPS, "hidden_size": column,
            "channels_per_group": channels, "Y_row_stride": row, "Y_col_stride": column, "X_row_stride": row,
            "X_col_stride": column, "Mean_row_stride": groups, "Mean_col_stride": 1, "RSTD_row_stride": groups,
            "RSTD_col_stride": 1,
        }  # fmt: skip
        wanted = {"Y_ptr": y, "Mean_ptr": mean, "RSTD_ptr": rstd}
        yield Case(given, wanted, (images, groups), {"hidden_size_per_channel": size, "BLOCK_SIZE": 128})


@cases
def group_norm_backward(rng: np.random.Generator) -> Iterator[Case]:
    images, groups, channels, size = 2, 3, 2, 150
    x, dy = normal(rng, images, groups, channels, size), normal(rng, images, groups, channels, size)
    w = normal(rng, groups, channels)
    x_hat, mean, rstd = normalised(wide(x).reshape(images * groups, -1))
    x_hat = x_hat.reshape(x.shape)
    weighted = wide(dy) * w[..., None]
    rows = (images * groups, -1)
    given = {
        "X_ptr": x, "X_row_stride": groups * channels * size, "X_col_stride": size, "W_ptr": w,
        "Mean_ptr": mean.astype(F32), "Mean_row_stride": groups, "Mean_col_stride": 1, "RSTD_ptr": rstd.astype(F32),
        "DX_ptr": poison(x.shape, F32), "DW_ptr": np.zeros_like(w), "DB_ptr": np.zeros_like(w), "UPSTREAM_ptr": dy,
    }  # fmt: skip
    wanted = {
        "DX_ptr": gradient(weighted.reshape(rows), x_hat.reshape(rows), rstd),
        "DW_ptr": (wide(dy) * x_hat).sum((0, 3)),
        "DB_ptr": wide(dy).sum((0, 3)),
    }
    const = {"hidden_size": size, "channels_per_group": channels, "BLOCK_SIZE": 128, "dtype": "tl.float32"}
    yield Case(given, wanted, (images, groups), const, ordered=False)


@cases
def l2_norm_forward(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns, dtype in ((37, 60, F32), (16, 64, BF16)):
        x = normal(rng, rows, columns, dtype=dtype)
        rstd = 1 / np.sqrt((wide(x) ** 2).sum(-1) + EPS)
        given = {
            "x": x, "y": poison(x.shape, dtype), "rstd": poison(rows, F32), "eps": EPS, "T": rows,
        }  # fmt: skip
        const = {"D": columns, "BT": 16, "BD": 64}
        yield Case(given, {"y": wide(x) * rstd[:, None], "rstd": rstd}, (cdiv(rows, 16),), const)


@cases
def l2_norm_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 37, 60
    y, dy, rstd = normal(rng, rows, columns), normal(rng, rows, columns), np.abs(normal(rng, rows))
    along = (wide(dy) * y).sum(-1, keepdims=True)
    given = {"y": y, "rstd": rstd, "dy": dy, "dx": poison(y.shape, F32), "T": rows}
    wanted = {"dx": (wide(dy) - along * y) * rstd[:, None]}
    yield Case(given, wanted, (cdiv(rows, 16),), {"D": columns, "BT": 16, "BD": 64})


@cases
def gated_layer_norm(rng: np.random.Generator) -> Iterator[Case]:
    rows, groups = 5, 3
    for columns, dtype, before, rms in ((100, F32, True, False), (128, BF16, False, True)):
        x, z = (normal(rng, rows, groups, columns, dtype=dtype) for _ in range(2))
        w, b = normal(rng, groups, columns), normal(rng, groups, columns)
        gate = wide(z) / (1 + np.exp(-wide(z)))
        inside = wide(x) if before else wide(x) * gate
        x_hat, mean, rstd = normalised(inside.reshape(rows * groups, columns), rms=rms)
        y = x_hat.reshape(x.shape) * w + (0 if rms else b)
        given = {
            "X": x, "Y": poison(x.shape, dtype), "W": w, "B": None if rms else b, "Z": z,
            "Mean": None if rms else poison((groups, rows), F32), "Rstd": poison((groups, rows), F32), "M": rows,
            "N": columns, "eps": EPS,
        } | {f"stride_{name}_row": groups * columns for name in "xyz"}  # fmt: skip
        wanted = {"Y": y * gate if before else y, "Rstd": rstd.reshape(rows, groups).T}
        if not rms:
            wanted["Mean"] = mean.reshape(rows, groups).T
        const = {
            "BLOCK_N": 128, "HAS_BIAS": not rms, "HAS_Z": True, "NORM_BEFORE_GATE": before, "IS_RMS_NORM": rms
        }  # fmt: skip
        yield Case(given, wanted, (rows, groups), const, num_warps=1)


@cases
def batch_norm_statistics(rng: np.random.Generator) -> Iterator[Case]:
    for images, channels, size, dtype in ((5, 3, 100, F32), (4, 2, 64, F16)):
        x = normal(rng, images, channels, size, dtype=dtype)
        mean, var = wide(x).mean((0, 2)), wide(x).var((0, 2))
        old_mean, old_var = normal(rng, channels), np.abs(normal(rng, channels))
        n = images * size
        given = {
            "x_ptr": x, "mean_ptr": poison(channels, F32), "var_ptr": poison(channels, F32),
            "running_mean_ptr": old_mean, "running_var_ptr": old_var, "momentum": 0.1, "batch": images, "spatial": size,
            "stride_n": channels * size, "stride_c": size,
        }  # fmt: skip
        wanted = {
            "mean_ptr": mean, "var_ptr": var, "running_mean_ptr": 0.9 * wide(old_mean) + 0.1 * mean,
            "running_var_ptr": 0.9 * wide(old_var) + 0.1 * var * n / (n - 1),
        }  # fmt: skip
        yield Case(given, wanted, (channels,), {"BLOCK_N": 4, "BLOCK_S": 64, "UPDATE": True})


@cases
def layer_norm_tiles(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns, dtype in ((13, 200, F32), (8, 256, BF16)):
        x, g = normal(rng, rows, columns, dtype=dtype), normal(rng, columns, dtype=dtype)
        given = {"X": x, "Y": poison(x.shape, dtype), "G": g, "M": rows, "N": columns, "eps": EPS}
        wanted = {"Y": normalised(wide(x))[0] * wide(g)}
        yield Case(given, wanted, (cdiv(rows, 8),), {"BM": 8, "BN": 256})
