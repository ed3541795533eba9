"""Data moved about: :mod:`tests.kernels.sources.copies`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, strides, wide


@cases
def transpose_2d(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, dtype in ((70, 50, F32), (64, 96, F16), (33, 65, np.int8)):
        x = (30 * normal(rng, m, n)).astype(dtype)
        given = {"x_ptr": x, "y_ptr": poison((n, m), dtype), "M": m, "N": n, "stride_xm": n, "stride_yn": m}
        yield Case(given, {"y_ptr": wide(x).T}, (cdiv(m, 32), cdiv(n, 32)), {"BM": 32, "BN": 32}, 0.0)


@cases
def permute_heads(rng: np.random.Generator) -> Iterator[Case]:
    for b, s, h, d, dtype in ((2, 19, 5, 20, F32), (1, 16, 4, 32, BF16)):
        x = normal(rng, b, s, h, d, dtype=dtype)
        given = {
            "x_ptr": x,
            "y_ptr": poison((b, h, s, d), dtype),
            "S": s,
            "H": h,
            "D": d,
            "stride_b": s * h * d,
        }
        const = {"BS": 8, "BH": 4, "BD": 32}
        yield Case(given, {"y_ptr": wide(x).transpose(0, 2, 1, 3)}, (cdiv(s, 8), cdiv(h, 4), b), const, 0.0)


@cases
def concatenate_rows(rng: np.random.Generator) -> Iterator[Case]:
    rows, sizes = 3, (100, 7, 300)
    for order, dtype in (("reversed", F32), ("given", np.int64)):
        arrays = [(100 * normal(rng, rows, size)).astype(dtype) for size in sizes]
        given = {f"{n}_ptr": a for n, a in zip("abc", arrays, strict=True)}
        given |= {f"size_{n}": s for n, s in zip("abc", sizes, strict=True)}
        given |= {f"stride_{n}": s for n, s in zip("abc", sizes, strict=True)}
        given |= {"out_ptr": poison((rows, sum(sizes)), dtype), "stride_out": sum(sizes)}
        wanted = np.concatenate(arrays[:: -1 if order == "reversed" else 1], -1)
        yield Case(given, {"out_ptr": wanted}, (rows,), {"BLOCK": 128, "INTO": order}, 0.0)


@cases
def pad_2d(rng: np.random.Generator) -> Iterator[Case]:
    planes, h, w, top, bottom, left, right = 2, 7, 9, 2, 3, 1, 4
    modes = {"constant": "constant", "replicate": "edge", "reflect": "reflect", "circular": "wrap"}
    for mode, theirs in modes.items():
        x = normal(rng, planes, h, w, dtype=F16)
        more = {"constant_values": 0.5} if mode == "constant" else {}
        y = np.pad(wide(x), ((0, 0), (top, bottom), (left, right)), theirs, **more)  # type: ignore[call-overload]
        given = {
            "x_ptr": x, "y_ptr": poison(y.shape, F16), "H": h, "W": w, "OH": y.shape[1], "OW": y.shape[2], "top": top,
            "left": left, "value": 0.5,
        }  # fmt: skip
        yield Case(given, {"y_ptr": y}, (cdiv(y[0].size, 64), planes), {"MODE": mode, "BLOCK": 64}, 0.0)


@cases
def triangle(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, diagonal, upper in ((40, 70, -3, True), (64, 32, 5, False)):
        x = normal(rng, 2, m, n)
        given = {"x_ptr": x, "y_ptr": poison(x.shape, F32), "M": m, "N": n, "diagonal": diagonal}
        y = (np.triu if upper else np.tril)(wide(x), diagonal)
        const = {"UPPER": upper, "BM": 16, "BN": 16}
        yield Case(given, {"y_ptr": y}, (cdiv(m, 16), cdiv(n, 16), 2), const, 0.0)


@cases
def repeat_interleave(rng: np.random.Generator) -> Iterator[Case]:
    rows, size = 5, 70
    counts = np.array([3, 0, 17, 1, 4])
    x = normal(rng, rows, size, dtype=BF16)
    starts = np.concatenate([[0], counts.cumsum()])
    given = {"x_ptr": x, "starts_ptr": starts, "y_ptr": poison((int(counts.sum()), size), BF16), "D": size}
    yield Case(given, {"y_ptr": np.repeat(wide(x), counts, 0)}, (rows, 2), {"BLOCK_D": 64, "BLOCK_R": 8}, 0.0)


@cases
def strided_copy_5d(rng: np.random.Generator) -> Iterator[Case]:
    shape = (2, 3, 4, 5, 6)
    for added in (False, True):
        x = normal(rng, *shape)
        turned = x.transpose(4, 2, 0, 3, 1)
        y = normal(rng, *turned.shape)
        sizes = turned.shape
        given = {"x_ptr": x, "y_ptr": y, "n": x.size}
        given |= {f"s{i}": sizes[i] for i in range(1, 5)}
        given |= {f"x{i}": s for i, s in enumerate(strides(turned))}
        given |= {f"y{i}": s for i, s in enumerate(strides(y))}
        wanted = {"y_ptr": wide(turned) + (wide(y) if added else 0)}
        yield Case(given, wanted, (cdiv(x.size, 256),), {"BLOCK": 256, "ACCUMULATE": added})


@cases
def masked_fill_where(rng: np.random.Generator) -> Iterator[Case]:
    n = 700
    for kind in ("fill", "where"):
        x, other, mask = normal(rng, n), normal(rng, n), rng.random(n) < 0.5
        given = {
            "x_ptr": x, "mask_ptr": mask, "other_ptr": other if kind == "where" else None, "y_ptr": poison(n, F32),
            "value": -7.0, "n": n,
        }  # fmt: skip
        wanted = np.where(mask, -7, x) if kind == "fill" else np.where(mask, x, other)
        yield Case(given, {"y_ptr": wide(wanted)}, (cdiv(n, 256),), {"BLOCK": 256, "KIND": kind}, 0.0)


@cases
def fill_arange(rng: np.random.Generator) -> Iterator[Case]:
    n = 700
    for start, step, dtype in ((-5, 3, np.int64), (0.5, 0.25, F32)):
        given = {"out_ptr": poison(n, dtype), "start": start, "step": step, "n": n}
        yield Case(given, {"out_ptr": start + step * np.arange(n)}, (cdiv(n, 256),), {"BLOCK": 256})


@cases
def fill_eye(rng: np.random.Generator) -> Iterator[Case]:
    for n, m, dtype in ((20, 37, F16), (32, 32, np.int32)):
        given = {"out_ptr": poison((n, m), dtype), "N": n, "M": m}
        yield Case(given, {"out_ptr": np.eye(n, m)}, (cdiv(n, 16), cdiv(m, 16)), {"BLOCK": 16}, 0.0)
