"""Triton's own interpreter and our host target give the same bits: operators, casts, reductions, control flow.

Left out is where the interpreter itself is wrong (3.6.0):

* bf16 with bf16: it computes on the 16 bits as if they were integers. (bf16 with another dtype is widened first, and compared.)
* bf16 denormals are read as zero, and what is cast to bf16 is cut off, not rounded (or, an integer or f64, taken for 16 bits).
* i1 + i1 is NumPy's logical or, and i1 - i1 fails; Triton's IR adds and subtracts one bit.
* maximum and minimum take NumPy's: zeros of different sign come out in either order, and ``minimum`` gives a NaN whatever is asked.
* ``~x`` of an unsigned integer fails: it is an XOR with -1.
* A float out of the range of an integer is converted as NumPy's C compiler does; a GPU saturates.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from tests.language import (
    oracle,
    test_addresses,
    test_control,
    test_descriptor_arguments,
    test_dot,
    test_gather,
    test_joining,
    test_mapping,
    test_memory,
    test_programs,
    test_random_numbers,
    test_reductions,
    test_scans,
    test_sorting,
    test_tuple_arguments,
    test_while,
)
from tests.support.elementwise import elementwise, language_dtype
from tests.support.run import (
    Array,
    Described,
    Typed,
    assert_same_bits,
    described,
    numpy_dtype,
    run,
    write_source,
)

from .interpret import interpreted

pytestmark = pytest.mark.peer
pytest.importorskip("triton")
pytest.importorskip("torch")

Job = tuple[str, dict[str, Any], tuple[int, ...], dict[str, Any]]


def tame(values: Array) -> Array:
    """Without bf16 denormals."""
    if oracle.name_of(values) != "bf16":
        return values
    small = np.abs(values.astype(np.float64)) < 2.0**-126
    return np.where(small, np.zeros((), values.dtype), values)


def operators(left: str, right: str) -> Job | None:
    """All operators that take the two, in one kernel."""
    if left == right == "bf16":
        return None
    x, y = (tame(v) for v in oracle.pairs(left, right, 256))
    expressions: dict[str, tuple[str, str]] = {}
    for op, (_, kind, division) in oracle.BINARY.items():
        meet = oracle.promote(left, right, division=division)
        if meet is None or (kind == "int" and meet in oracle.FLOATS) or op.startswith(("max", "min")):
            continue
        if left == right == "i1" and op in "+-":
            continue
        b = "y"
        if division:
            b = f"tl.where(y == 0, 1, y).to({language_dtype(right)})"
        expressions[f"r{len(expressions)}"] = (
            oracle.spell(op, "x", b),
            "i1" if op in oracle.COMPARISONS else meet,
        )
    meet = oracle.promote(left, right)
    assert meet is not None
    expressions["where"] = ("tl.where(x > y, x, y)", meet)
    quotient = oracle.promote(left, right, division=True)
    if quotient is not None:
        expressions["quotient"] = ("x / y", quotient if quotient in oracle.FLOATS else "f32")
    made = elementwise(expressions, {"x": x, "y": y}, check_dtypes=False)
    return made.source, made.arguments, (1,), {}


def extrema(name: str) -> Job:
    """maximum and minimum of numbers that are neither zero nor NaN."""
    x, y = oracle.pairs(name, name, 256)
    if name in oracle.FLOATS:
        x, y = (np.where(np.isnan(v) | (v == 0), np.ones((), v.dtype), v) for v in (x, y))
    made = elementwise(
        {"low": ("tl.minimum(x, y)", name), "high": ("tl.maximum(x, y)", name)}, {"x": x, "y": y}
    )
    return made.source, made.arguments, (1,), {}


def casts(source: str) -> Job:
    """To every dtype; floats only where integers hold them."""
    x = tame(oracle.values(source, 256))
    if source in oracle.FLOATS:
        x = np.where(np.isfinite(x) & (np.abs(x) < 100), x, np.ones((), x.dtype))
    names = [n for n in oracle.ALL if n != "bf16" and not (source in oracle.FLOATS and n in oracle.UNSIGNED)]
    made = elementwise({f"r{n}": (f"x.to({language_dtype(n)})", n) for n in names}, {"x": x})
    return made.source, made.arguments, (1,), {}


def unary(name: str) -> Job:
    x = oracle.values(name, 256)
    expressions = {"minus": ("-x", name), "abs": ("tl.abs(x)", name)}
    if name not in oracle.FLOATS:
        expressions |= {"left": ("x << 2", name), "right": ("x >> 3", name)}
    if name in oracle.SIGNED:
        expressions["invert"] = ("~x", name)
    made = elementwise(expressions, {"x": x})
    return made.source, made.arguments, (1,), {}


def reduction(function: str, name: str, axis: int | None) -> Job:
    x = test_reductions.small(name, (16, 32), seed=2)
    wanted = test_reductions.expected(function, x, axis)
    const = {"AXIS": axis, "KEEP": False, "M": 16, "N": 32}
    return (
        test_reductions.REDUCE.replace("{function}", function),
        {"x": x, "o": np.zeros(wanted.size, wanted.dtype)},
        (1,),
        const,
    )


def ramp(*shape: int, dtype: str = "f32") -> Array:
    return (np.arange(int(np.prod(shape))) % 97).reshape(shape).astype(numpy_dtype(dtype))


def whole(seed: int, *shape: int, dtype: str = "f32") -> Array:
    return test_dot.whole(dtype, shape, seed)


def zeros(*shape: int, dtype: str = "f32") -> Array:
    return np.zeros(shape, numpy_dtype(dtype))


#: Whole kernels: (source, arguments, grid, constants).
KERNELS: dict[str, Job] = {
    "copy": (test_memory.COPY, {"x": ramp(1000), "o": zeros(1000), "n": 1000}, (8,), {"BLOCK": 128}),
    "gather": (
        test_memory.GATHER,
        {"x": ramp(100), "idx": ramp(64, dtype="i64"), "c": ramp(64, dtype="i8") % 2, "o": zeros(100), "n": 100}, (1,), {"BLOCK": 64},
    ),
    "strides": (
        test_memory.TWO_D,
        {"x": ramp(12, 20), "o": zeros(20, 12), "rows": 12, "columns": 20, "sxr": 20, "sxc": 1, "sor": 1, "soc": 12}, (2, 2), {"R": 8, "C": 16},
    ),
    "unsigned offsets": (test_memory.UNSIGNED, {"x": ramp(256, dtype="i32"), "o": zeros(24, dtype="i32"), "k": 100}, (1,), {"BLOCK": 8}),
    "offsets below zero": (test_memory.BELOW_ZERO, {"x": ramp(256), "o": zeros(512), "shift": -16}, (1,), {"BLOCK": 128}),
    "three axes": (
        test_reductions.THREE_D, {"x": whole(1, 4, 8, 16), "o": zeros(8, 16), "p": zeros(4, 16), "q": zeros(4)}, (1,), {"A": 4, "B": 8, "C": 16},
    ),
    "random numbers": (
        test_random_numbers.RAND,
        {"i": np.zeros(320, np.uint32), "f": zeros(64), "g": zeros(128), "seed": 77, "start": 2**31 - 100}, (1,), {"B": 64},
    ),
    "running sums": (test_scans.RUNNING, {"x": whole(3, 16, 32), "o": zeros(16, 32), "p": zeros(16, 32)}, (1,), {"M": 16, "N": 32, "AXIS": 1, "REVERSE": False}),
    "running sums, reversed": (test_scans.RUNNING, {"x": whole(3, 16, 32), "o": zeros(16, 32), "p": zeros(16, 32)}, (1,), {"M": 16, "N": 32, "AXIS": 0, "REVERSE": True}),
    "reductions that feed each other": (test_reductions.CHAIN, {"x": whole(2, 16, 32), "o": zeros(16, 32)}, (1,), {"M": 16, "N": 32}),
    "swizzled programs": (test_mapping.SWIZZLE, {"o": zeros(7, 3, dtype="i32"), "p": zeros(8, 8, dtype="i32"), "rows": 8, "columns": 8}, (7, 3), {"I": 7, "J": 3, "G": 2}),
    "three axes picked": (
        test_gather.THREE_D, {"x": ramp(4, 8, 16, dtype="i32"), "o": zeros(2, 4, 8, 16, dtype="i32"), "p": zeros(4, 8, 16, dtype="i32"), "q": zeros(2, 4, 8, 16, dtype="i32")},
        (1,), {"A": 4, "B": 8, "C": 16},
    ),
    "counts": (
        test_gather.HISTOGRAM, {"x": ramp(512, dtype="i32") % 64, "mask": ramp(512, dtype="i8") % 3, "o": zeros(64, dtype="i32"), "p": zeros(64, dtype="i32"), "n": 500},
        (1,), {"N": 512, "BINS": 64},
    ),
    "several matrices": (
        test_dot.BATCHED.replace("{options}", "input_precision='ieee'"),
        {"a": whole(3, 4, 16, 32), "b": whole(4, 4, 32, 16), "c": whole(5, 4, 16, 16), "o": zeros(4, 16, 16)}, (1,), {"ACC": True, "B": 4, "M": 16, "N": 16, "K": 32},
    ),
    "matmul": (
        test_dot.MATMUL, {"a": whole(3, 33, 40), "b": whole(4, 40, 17), "o": zeros(33, 17, dtype="f16"), "M": 33, "N": 17, "K": 40}, (2, 2),
        {"BM": 32, "BN": 16, "BK": 32},
    ),
    "swap": (test_control.SWAP, {"x": ramp(32), "y": ramp(32)[::-1].copy(), "o": zeros(96), "n": 5}, (1,), {"BLOCK": 32}),
    "nested loops": (test_control.NESTED, {"x": ramp(32, dtype="i32"), "o": zeros(32, dtype="i32"), "n": 3, "m": 5}, (1,), {"BLOCK": 32}),
    "while": (test_while.SEVERAL_LAYOUTS, {"x": whole(5, 5, 16, 64), "o": zeros(16, 64), "n": 5}, (1,), {"R": 16, "C": 64}),
    "addresses that are computed": (
        test_addresses.COMPUTED, {"x": ramp(256), "o": zeros(256), "a": zeros(256), "b": zeros(256), "c": zeros(256, dtype="i64")}, (1,), {"BLOCK": 256},
    ),
    "addresses in memory": (
        test_addresses.GROUPED, {"x": ramp(50, dtype="f16"), "y": ramp(50, dtype="f16")[::-1].copy(), "table": zeros(2, dtype="i64"), "o": zeros(100, dtype="f16"), "n": 50},
        (1,), {"BLOCK": 64},
    ),
    "while in a helper": (test_while.NESTED, {"o": zeros(128, dtype="i32"), "last": 30}, (1,), {}),
    "branches": (test_control.BRANCH, {"x": ramp(64), "o": zeros(64), "n": 7}, (1,), {"BLOCK": 64}),
    "early return": (test_control.EARLY, {"x": ramp(5, 16), "o": zeros(5, 16), "n": 4}, (5,), {"BLOCK": 16}),
    "a reduction decides": (test_control.IF_IN_LOOP, {"x": whole(5, 6, 128), "o": zeros(129), "n": 6}, (1,), {"BLOCK": 128}),
    "running reductions": (test_control.REDUCE_IN_LOOP, {"x": whole(6, 5, 16, 32), "o": zeros(16, 32), "n": 5}, (1,), {"M": 16, "N": 32}),
    "program ids": (test_programs.IDS, {"o": zeros(4, 3, 2, 7, dtype="i32")}, (2, 3, 4), {}),
    "grouped programs": (test_programs.GROUPED, {"o": zeros(7, 3, dtype="i32"), "M": 7, "N": 3}, (21,), {"GROUP": 2}),
}  # fmt: skip


def unlike(name: str, *shape: int) -> Array:
    """Numbers that all differ, in any order, without NaN: what sorting loses none of in Triton either. Bools repeat, and come out equal."""
    found = np.random.default_rng(1).permutation(int(np.prod(shape)))
    return (
        (found % 2 == 1 if name == "i1" else found - (0 if name in oracle.UNSIGNED else 60))
        .reshape(shape)
        .astype(numpy_dtype(name))
    )


def arrangements(name: str) -> Iterator[tuple[str, Job]]:
    """Joins, picks, counts and sorting of one dtype."""
    x, y = tame(unlike(name, 8, 16)), tame(unlike(name, 8, 16)[::-1].copy())
    two, wide = np.stack([zeros(8, 16, dtype=name)] * 2, -1), zeros(8, 32, dtype=name)
    yield (
        f"joins of {name}",
        (
            test_joining.JOIN,
            {"x": x, "y": y, "o": two, "p": wide, "q": x * 0, "r": x * 0},
            (1,),
            {"M": 8, "N": 16},
        ),
    )
    yield f"flips of {name}", (test_gather.FLIP, {"x": x, "o": x * 0, "p": x * 0}, (1,), {"M": 8, "N": 16})
    index = np.random.default_rng(2).integers(0, 16, (8, 4)).astype(np.int32)
    picked = {"x": x, "i": index, "o": zeros(8, 4, dtype=name)}
    yield f"picks of {name}", (test_gather.GATHER, picked, (1,), {"M": 8, "N": 16, "P": 8, "Q": 4, "AXIS": 1})
    if name == "bf16":
        return  # compared as integers
    yield (
        f"sorting of {name}",
        (test_sorting.SORT, {"x": x, "o": x * 0, "p": x * 0}, (1,), {"M": 8, "N": 16, "DIM": 1}),
    )
    given = test_sorting.NARROW.get(name, name)
    source = test_sorting.TOPK.replace("{out}", language_dtype(given))
    yield (
        f"the largest of {name}",
        (source, {"x": x, "o": zeros(8, 4, dtype=given)}, (1,), {"M": 8, "N": 16, "K": 4, "DIM": 1}),
    )
    yield (
        f"merging of {name}",
        (test_sorting.MERGE, {"x": x, "o": x * 0, "p": x * 0}, (1,), {"M": 8, "N": 16}),
    )


def jobs() -> Iterator[tuple[str, Job]]:
    """Everything that is compared, by name."""
    for left, right in itertools.product(oracle.ALL, repeat=2):
        job = operators(left, right)
        if job is not None:
            yield f"operators {left} {right}", job
    for name in oracle.ALL:
        yield f"casts of {name}", casts(name)
        if name != "bf16":
            yield f"extrema {name}", extrema(name)
            if name != "i1":
                yield f"unary {name}", unary(name)
        yield from arrangements(name)
        for function in ("sum", "max", "min"):
            if name not in ("bf16", "i1"):
                yield f"{function} of {name}", reduction(function, name, 1)
    for axis in (0, None):
        yield f"sum along {axis}", reduction("sum", "f32", axis)
    yield from KERNELS.items()
    yield from nested()


def nested() -> Iterator[tuple[str, Job]]:
    """Arguments that are tuples and descriptors."""
    x, y, z = whole(90, 500), whole(91, 500, dtype="f16"), whole(92, 500, dtype="i32")
    arguments = {"ptrs": (x, y, z), "out": zeros(500), "n": 500}
    yield "tuple of pointers", (test_tuple_arguments.SUM, arguments, (4,), {"B": 128})
    arguments = {"work": (((x, x * 2), (zeros(500), zeros(500))), 40), "bias": (whole(93, 40), None)}
    yield "tuples in tuples", (test_tuple_arguments.NESTED, arguments, (1,), {"B": 64})
    for padding in ("zero", "nan"):
        for row, col in ((0, 0), (30, 24), (-3, -8), (40, 0)):
            source = described(whole(94, 33, 48), (16, 32), padding)
            arguments = {"source": source, "o": zeros(16, 32), "row": row, "col": col}
            name = f"descriptor at {row} {col} with {padding}"
            yield name, (test_descriptor_arguments.COPY, arguments, (1,), {"M": 16, "N": 32})
    source = Described(whole(95, 37, 64), (37, 52), (64, 1), (16, 16))
    arguments = {"a": source, "b": Described(zeros(52, 48), (52, 37), (48, 1), (16, 16))}
    yield "descriptors with gaps", (test_descriptor_arguments.TRANSPOSE, arguments, (3,), {"M": 16, "N": 16})
    cube, five = (
        described(whole(96, 3, 5, 12), (2, 4, 8)),
        described(whole(97, 2, 2, 2, 2, 8), (1, 1, 2, 1, 4)),
    )
    arguments = {
        "one": described(whole(98, 32), (8,)), "three": cube, "out": described(zeros(3, 5, 12), (2, 4, 8)), "five": five,
        "p": zeros(2, dtype="i64"),
    }  # fmt: skip
    yield "descriptors of other axes", (test_descriptor_arguments.AXES, arguments, (1,), {})


with np.errstate(all="ignore"):
    JOBS: dict[str, Job] = dict(jobs())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What the interpreter gives for every job: one process for all."""
    given = {
        name: (
            str(write_source(source)),
            {k: v.value if isinstance(v, Typed) else v for k, v in arguments.items()},
            grid,
            const,
        )
        for name, (source, arguments, grid, const) in JOBS.items()
    }
    return interpreted(given, tmp_path_factory.mktemp("interpreter"))


@pytest.mark.parametrize("name", JOBS)
def test_the_interpreter_agrees(name: str, results: Mapping[str, Any]) -> None:
    source, arguments, grid, const = JOBS[name]
    theirs: Any = results[name]
    assert isinstance(theirs, dict), theirs
    with np.errstate(all="ignore"):
        ours = run(source, arguments, const, grid)
    for argument, array in ours.items():
        assert_same_bits(array, theirs[argument].reshape(array.shape), f"{argument} of {name}")
