"""Operation by operation and dtype by dtype, what Triton's interpreter gives for edges and for random values.

Beside tests/peer/test_triton_interpreter.py, which has the operators, casts and control flow. Where both compute a function their own way the
two may be some units in the last place apart; zeros, infinities and NaN are the same. Not here, since the interpreter (3.6.0) has nothing to
hold ours against:

* libdevice: it has none of it. tests/language/test_libdevice.py and docs/accuracy.md hold ours against mpmath and NumPy.
* bf16: it computes on its bits as if they were integers.
* Floats of 8 bits: its denormals are zero, and what is rounded up to the next power of two loses half: exact normal numbers are compared.
* `x // 0`, `x % 0`, INT_MIN // -1, a shift by the width or more, a float that an integer cannot hold: no value in particular, in Triton either
  (float to integer saturates here, as on a GPU: tests/language/test_casts.py).
* tl.clamp and the extrema of NaN, and of zeros of different sign: it takes NumPy's.
* device_assert: its kernels are always built without debug. tests/language/test_debugging.py has ours.
* tl.map_elementwise, reductions by descriptors, tl.softmax, inline assembly, device_print: it lacks them, or fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.language import (
    oracle,
    test_atomics,
    test_block_pointers,
    test_combining,
    test_descriptors,
    test_dot,
    test_fp8,
    test_random_numbers,
    test_reductions,
    test_scans,
)
from tests.support.elementwise import elementwise, language_dtype
from tests.support.run import Array, Typed, assert_same_bits, numpy_dtype, run, write_source

from .interpret import interpreted

pytestmark = pytest.mark.peer
pytest.importorskip("triton")
pytest.importorskip("torch")

#: Source, arguments, grid, constants, and how many units in the last place results may be apart.
Case = tuple[str, dict[str, Any], tuple[int, ...], dict[str, Any], int]

#: It refuses an exchange of floats, and takes f64 for integers.
NO_ATOMICS = {("atomic_xchg", "f32"), ("atomic_xchg", "f64"), ("atomic_min", "f64"), ("atomic_max", "f64")}
WIDE = ("i32", "u32", "i64", "u64")
#: As whole numbers: the interpreter holds them in 64 bits under the name of f32, and stores all 64.
NORMAL = """
@triton.jit
def kernel(o, seed, B: tl.constexpr):
    k = tl.arange(0, B)
    tl.store(o + k, (tl.randn(seed, k) * 65536).to(tl.int32))
"""
FUNCTIONS = {
    "floor": 0, "ceil": 0, "sqrt": 0, "abs": 0, "exp": 2, "exp2": 2, "log": 2, "log2": 2, "sin": 2, "cos": 2, "erf": 2, "rsqrt": 2, "sigmoid": 4,
}  # fmt: skip


def zeros(*shape: int, dtype: str = "f32") -> Array:
    return np.zeros(shape, numpy_dtype(dtype))


def whole(name: str, *shape: int, low: int = -3, high: int = 4) -> Array:
    """Small whole numbers, of which sums are exact."""
    low = max(low, 0) if name in (*oracle.UNSIGNED, "i1") else low
    return (
        np.random.default_rng(3).integers(low, 2 if name == "i1" else high, shape).astype(numpy_dtype(name))
    )


def expressions(texts: Mapping[str, str], inputs: Mapping[str, Array | Typed], ulps: int = 0) -> Case:
    made = elementwise(
        {f"r{n}": (t, d) for n, (t, d) in enumerate(texts.items())}, inputs, check_dtypes=False
    )
    return made.source, made.arguments, (1,), {}, ulps


def floats(name: str) -> Iterator[tuple[str, Case]]:
    """Functions of f32 and f64."""
    x, y = oracle.pairs(name, name, 512)
    for function, ulps in FUNCTIONS.items():
        yield f"{function} of {name}", expressions({f"tl.{function}(x)": name}, {"x": x}, ulps)
    exact = {"x % y": name, "x / y": name, "tl.fdiv(x, y)": name, "-x": name, "x - y": name}
    yield f"division of {name}", expressions(exact, {"x": x, "y": y})
    if name == "f32":
        yield (
            "correctly rounded",
            expressions({"tl.sqrt_rn(x)": name, "tl.div_rn(x, y)": name}, {"x": x, "y": y}),
        )
    # Its multiply-add rounds twice: exact numbers only.
    a, b = whole(name, 256, low=-99, high=99), whole(name, 256, low=-7, high=8)
    yield f"multiply-add of {name}", expressions({"tl.fma(x, y, x)": name}, {"x": a, "y": b})


def integers(name: str) -> Iterator[tuple[str, Case]]:
    """Shifts by tiles, the upper half of products, quotients rounded up."""
    x, y = oracle.pairs(name, name, 512)
    amount = (np.arange(512) % oracle.width(name)).astype(x.dtype)
    yield f"shifts of {name}", expressions({"x << y": name, "x >> y": name}, {"x": x, "y": amount})
    if name in WIDE:
        positive = np.abs(x.astype(np.float64)) % 1000
        given = {"x": positive.astype(x.dtype), "y": (amount + np.array(1, x.dtype))}
        yield f"rounded up of {name}", expressions({"tl.cdiv(x, y)": name}, given)
    if name in ("u32", "u64"):
        yield f"upper half of {name}", expressions({"tl.umulhi(x, y)": name}, {"x": x, "y": y})


def combinations(name: str) -> Iterator[tuple[str, Case]]:
    """Places of extremes with ties, running sums and products, bits."""
    x = whole(name, 16, 32)
    if name != "i1":
        for axis in (0, 1):
            out = x.shape[1 - axis]
            given = {
                "x": x, "i": zeros(2 * out, dtype="i32"), "j": zeros(2 * out, dtype="i32"), "v": zeros(out, dtype=name), "w": zeros(out, dtype=name),
            }  # fmt: skip
            yield (
                f"places in {name} along {axis}",
                (test_combining.PLACES, given, (1,), {"M": 16, "N": 32, "AXIS": axis, "OUT": out}, 0),
            )
        sums = test_reductions.SUMS.get(name, name)
        few = np.where(np.arange(512).reshape(16, 32) % 7 == 0, x, np.ones((), x.dtype))
        for reverse in (False, True):
            given = {"x": few, "o": zeros(16, 32, dtype=sums), "p": zeros(16, 32, dtype=name)}
            const = {"M": 16, "N": 32, "AXIS": 1, "REVERSE": reverse}
            yield f"running {name}{', reversed' * reverse}", (test_scans.RUNNING, given, (1,), const, 0)
    if name in oracle.INTEGERS:
        source = """
@triton.jit
def kernel(x, o, M: tl.constexpr, N: tl.constexpr):
    n = tl.arange(0, N)
    t = tl.load(x + tl.arange(0, M)[:, None] * N + n[None, :])
    tl.store(o + n, tl.xor_sum(t, 0))
    tl.store(o + N + n, tl.reduce_or(t, 0))
    tl.store(o + 2 * N, tl.xor_sum(t))
"""
        given = {"x": oracle.values(name, 512).reshape(16, 32), "o": zeros(65, dtype=name)}
        yield f"bits of {name}", (source, given, (1,), {"M": 16, "N": 32}, 0)


def memory(name: str) -> Iterator[tuple[str, Case]]:
    """Atomics, blocks across edges, and descriptors."""
    x, y = oracle.pairs(name, name, 128)
    for function, takes in test_atomics.STEPS:
        if takes == name and (function, name) not in NO_ATOMICS:
            if name in oracle.FLOATS:
                x, y = whole(name, 128, low=1, high=9), whole(name, 128, low=10, high=20)
            source = test_atomics.EACH.replace("{function}", function).replace("{sem}", "acq_rel")
            yield (
                f"{function} of {name}",
                (source, {"x": x, "y": y, "o": zeros(128, dtype=name), "n": 128}, (1,), {"B": 128}, 0),
            )
    if name in WIDE:
        given = {"x": x, "c": np.where(np.arange(128) % 3 > 0, x, y), "y": y, "o": zeros(128, dtype=name)}
        yield f"atomic_cas of {name}", (test_atomics.CAS.replace("sys", "gpu"), given, (1,), {"B": 128}, 0)
    if name in ("i1", "f64"):
        return
    matrix = whole(name, 33, 48, low=1, high=99)
    for at in ((0, 0), (8, 16), (29, 32), (40, 0)):
        given = {"x": matrix, "o": zeros(16, 32, dtype=name), "m": 33, "n": 48, "row": at[0], "col": at[1]}
        yield (
            f"a described block of {name} at {at}",
            (test_descriptors.COPY, given, (1,), {"M": 16, "N": 32, "PAD": "zero"}, 0),
        )
        given = {
            "x": matrix, "o": zeros(16, 32, dtype=name), "R": 33, "C": 48, "sxr": 48, "sxc": 1, "sor": 32, "at_r": at[0], "at_c": at[1],
        }  # fmt: skip
        yield (
            f"a block of {name} at {at}",
            (test_block_pointers.COPY, given, (1,), {"BR": 16, "BC": 32, "PAD": "zero"}, 0),
        )


def products() -> Iterator[tuple[str, Case]]:
    for name, out in (("f16", "f32"), ("f32", "f32"), ("f64", "f64"), ("i8", "i32"), ("f16", "f16")):
        a, b, c = whole(name, 16, 32), whole(name, 32, 16), whole(out, 16, 16)
        source = test_dot.DOT.replace("{options}", f"input_precision='ieee', out_dtype={language_dtype(out)}")
        for acc in (False, True):
            given = {"a": a, "b": b, "c": c, "o": zeros(16, 16, dtype=out)}
            yield (
                f"dot of {name} in {out}{' and more' * acc}",
                (source, given, (1,), {"ACC": acc, "M": 16, "N": 16, "K": 32}, 0),
            )


def eight_bits(name: str) -> Iterator[tuple[str, Case]]:
    """Floats of 8 bits as their bits, widened and narrowed again: every one that is neither denormal nor NaN nor infinite."""
    language, _ = test_fp8.FP8[name]
    codes = np.arange(256, dtype=np.uint8)
    exact = codes.view(numpy_dtype(name)).astype(np.float64)
    smallest = float(ml_dtypes.finfo(numpy_dtype(name)).smallest_normal)
    codes = codes[np.isfinite(exact) & ((np.abs(exact) >= smallest) | (exact == 0))]
    wider = {f"x.to(tl.{language}, bitcast=True).to({language_dtype(to)})": to for to in ("f16", "f32")}
    yield f"{name} widened", expressions(wider, {"x": codes})
    x = codes.view(numpy_dtype(name)).astype(np.float32)
    yield (
        f"narrowed to {name}",
        expressions({f"x.to(tl.{language}).to(tl.uint8, bitcast=True)": "u8"}, {"x": x}),
    )


def cases() -> Iterator[tuple[str, Case]]:
    """Everything that is compared, by name."""
    for name in ("f32", "f64"):
        yield from floats(name)
    for name in oracle.INTEGERS:
        yield from integers(name)
    for name in oracle.ALL:
        if name != "bf16":
            yield from combinations(name)
            yield from memory(name)
    yield from products()
    for name in test_fp8.FP8:
        yield from eight_bits(name)
    yield "normal numbers", (NORMAL, {"o": zeros(256, dtype="i32"), "seed": 11}, (1,), {"B": 256}, 1)
    words = np.concatenate([oracle.values("u32", 64), oracle.values("i32", 64).view(np.uint32)])
    yield "words as floats", (test_random_numbers.FLOATS, {"x": words, "o": zeros(128)}, (1,), {"B": 128}, 0)


with np.errstate(all="ignore"):
    CASES: dict[str, Case] = dict(cases())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What the interpreter gives for every case: one process for all."""
    jobs = {
        name: (str(write_source(source)), {k: v.value if isinstance(v, Typed) else v for k, v in arguments.items()}, grid, const)
        for name, (source, arguments, grid, const, _) in CASES.items()
    }  # fmt: skip
    return interpreted(jobs, tmp_path_factory.mktemp("interpreter"))


@pytest.mark.parametrize("name", CASES)
def test_the_interpreter_agrees(name: str, results: Mapping[str, Any]) -> None:
    source, arguments, grid, const, ulps = CASES[name]
    theirs = results[name]
    assert isinstance(theirs, dict), theirs
    with np.errstate(all="ignore"):
        ours = run(source, arguments, const, grid)
        for argument, array in ours.items():
            wanted = theirs[argument].reshape(array.shape)
            near = _near(array, wanted, ulps) if ulps else np.zeros(array.shape, np.bool_)
            assert_same_bits(np.where(near, wanted, array), wanted, f"{argument} of {name}")


def _near(a: Array, b: Array, ulps: int) -> Any:
    """Where two are at most so many units in the last place apart."""
    unit = np.spacing(np.maximum(np.abs(a), np.abs(b))) if a.dtype.kind == "f" else 1
    return np.abs(a - b) <= ulps * unit
