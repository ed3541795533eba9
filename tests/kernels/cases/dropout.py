"""Dropout: :mod:`tests.kernels.sources.dropout`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.philox import uniform, words
from tests.support.run import Typed


@cases
def seeded_dropout(rng: np.random.Generator) -> Iterator[Case]:
    p = 0.3
    for n, dtype, seed in ((3000, F32, 17), (2048, BF16, -3)):
        x = normal(rng, n, dtype=dtype)
        keep = uniform(seed & (1 << 64) - 1, np.arange(n)) > F32(p)
        given = {"x_ptr": x, "output_ptr": poison(n, dtype), "n_elements": n, "p": p, "seed": seed}
        wanted = {"output_ptr": np.where(keep, wide(x) / (1 - p), 0)}
        yield Case(given, wanted, (cdiv(n, 1024),), {"BLOCK_SIZE": 1024})


@cases
def dropout_four_at_a_time(rng: np.random.Generator) -> Iterator[Case]:
    block, p, seed, first = 256, 0.2, 2**40 + 7, 1000
    for n in (3000, 2048):
        x = normal(rng, n)
        programs = cdiv(n, 4 * block)
        drawn = words(seed, first + np.arange(programs * block))
        signed = [w.view(np.int32).reshape(programs, block) for w in drawn]
        floats = [np.where(s < 0, -s - 1, s).astype(F32) * F32(4.6566127342e-10) for s in signed]
        keep = np.concatenate(floats, 1).reshape(-1)[:n] > F32(p)
        given = {
            "X": x, "Y": poison(n, F32), "N": n, "p": p, "philox_seed": Typed(seed, "i64"), "philox_offset": first
        }  # fmt: skip
        yield Case(given, {"Y": np.where(keep, wide(x) / (1 - p), 0)}, (programs,), {"BLOCK": block})


def packed(keep: Any) -> Any:
    """Bits in words, the first the lowest."""
    padded = np.concatenate([keep, np.zeros(-len(keep) % 32, bool)]).reshape(-1, 32)
    return (padded.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32)


@cases
def dropout_with_bits(rng: np.random.Generator) -> Iterator[Case]:
    n, p = 1111, 0.4
    x, seed = normal(rng, n), rng.integers(0, 2**40, 1)
    keep = uniform(int(seed[0]) + 5, np.arange(n)) > F32(p)
    given = {
        "x_ptr": x, "y_ptr": poison(n, F32), "bits_ptr": poison(cdiv(n, 32), np.uint32), "n": n, "p": p,
        "seed_ptr": seed, "seed_offset": 5,
    }  # fmt: skip
    wanted = {"y_ptr": np.where(keep, wide(x) / (1 - p), 0), "bits_ptr": packed(keep)}
    yield Case(given, wanted, (cdiv(n, 32 * 16),), {"WORDS": 16})


@cases
def dropout_backward_from_bits(rng: np.random.Generator) -> Iterator[Case]:
    n, p = 1111, 0.4
    dy, keep = normal(rng, n, dtype=BF16), rng.random(n) > p
    given = {"dy_ptr": dy, "bits_ptr": packed(keep), "dx_ptr": poison(n, BF16), "n": n, "p": p}
    yield Case(given, {"dx_ptr": np.where(keep, wide(dy) / (1 - p), 0)}, (cdiv(n, 512),), {"BLOCK": 512})
