"""Matrix products as tutorials have them: :mod:`tests.kernels.sources.products`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernels.case import BF16, F16, F32, Array, Case, cases, cdiv, normal, poison, strides, wide
from tests.support.run import described

E4M3, I8, I32 = ml_dtypes.float8_e4m3fn, np.int8, np.int32
BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K")


def pointers(a: Array, b: Array, c: Array) -> dict[str, Any]:
    """What kernels with pointers are given."""
    given: dict[str, Any] = {
        "a_ptr": a,
        "b_ptr": b,
        "c_ptr": c,
        "M": a.shape[0],
        "N": b.shape[1],
        "K": a.shape[1],
    }
    for name, array in (("am ak", a), ("bk bn", b), ("cm cn", c)):
        given |= {f"stride_{n}": s for n, s in zip(name.split(), strides(array), strict=True)}
    return given


def tiles(m: int, n: int, block: Sequence[int]) -> int:
    return cdiv(m, block[0]) * cdiv(n, block[1])


def blocks(block: Sequence[int], **more: Any) -> dict[str, Any]:
    return {**dict(zip(BLOCKS, block, strict=True)), "GROUP_M": 2, **more}


@cases
def product_pointers(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, dtype, out, block, tolerance in (
        (100, 72, 90, BF16, BF16, (64, 64, 32), 8e-3),
        (64, 128, 64, F16, F16, (64, 64, 32), 1e-3),
        (33, 48, 128, E4M3, BF16, (32, 32, 64), 2e-2),
        (70, 64, 48, F32, F32, (32, 64, 16), 4e-3),
        (50, 80, 100, I8, I32, (32, 32, 32), 0.0),
    ):
        if dtype == I8:
            a, b = (rng.integers(-128, 128, shape).astype(I8) for shape in ((m, k), (k, n)))
        else:
            a, b = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype)
        const = blocks(block, SUM="tl.int32" if out == I32 else "tl.float32")
        given = pointers(a, b, poison((m, n), out))
        yield Case(given, {"c_ptr": wide(a) @ wide(b)}, (tiles(m, n, block),), const, tolerance)


@cases
def product_blocks(rng: np.random.Generator) -> Iterator[Case]:
    block = (64, 64, 32)
    for m, n, k, dtype in ((100, 72, 90, BF16), (64, 128, 64, F16)):
        a, b = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype)
        given = pointers(a, b, poison((m, n), dtype))
        yield Case(given, {"c_ptr": wide(a) @ wide(b)}, (tiles(m, n, block),), blocks(block))


@cases
def product_described(rng: np.random.Generator) -> Iterator[Case]:
    yield from through_descriptors(rng, None)


def through_descriptors(rng: np.random.Generator, programs: int | None) -> Iterator[Case]:
    block = bm, bn, bk = 64, 64, 32
    for m, n, k, dtype in ((100, 72, 88, BF16), (64, 128, 64, F16)):
        a, b = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype)
        given = {
            "a_desc": described(a, (bm, bk)), "b_desc": described(b, (bk, bn)),
            "c_desc": described(poison((m, n), dtype), (bm, bn)), "M": m, "N": n, "K": k,
        }  # fmt: skip
        const = blocks(block) if programs is None else blocks(block, PROGRAMS=programs)
        grid = (programs or tiles(m, n, block),)
        yield Case(given, {"c_desc": wide(a) @ wide(b)}, grid, const)


@cases
def product_persistent_described(rng: np.random.Generator) -> Iterator[Case]:
    yield from through_descriptors(rng, 3)


@cases
def product_persistent(rng: np.random.Generator) -> Iterator[Case]:
    block = (64, 64, 32)
    for m, n, k, dtype in ((100, 170, 90, BF16), (64, 128, 64, F16)):
        a, b = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype)
        given = pointers(a, b, poison((m, n), dtype))
        yield Case(given, {"c_ptr": wide(a) @ wide(b)}, (3,), blocks(block, PROGRAMS=3))


@cases
def repeated_dot(rng: np.random.Generator) -> Iterator[Case]:
    m, n, k, times, programs = 64, 64, 32, 5, 2
    a, b = normal(rng, m, k, dtype=BF16), normal(rng, k, n, dtype=BF16)
    given = {"a_ptr": a, "b_ptr": b, "c_ptr": poison((programs, m, n), F32), "times": times}
    wanted = {"c_ptr": np.broadcast_to(times * (wide(a) @ wide(b)), (programs, m, n))}
    yield Case(given, wanted, (programs,), dict(zip(BLOCKS, (m, n, k), strict=True)), 1e-5)
