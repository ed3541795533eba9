"""Kernels of the language tests, each with one request: what compiler and peer tests go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teenybuild.api import Artifact, compile
from teenybuild.compiler.frontend.builtins import libdevice
from tests.language import (
    oracle,
    test_addresses,
    test_atomics,
    test_block_pointers,
    test_combining,
    test_control,
    test_debugging,
    test_descriptor_arguments,
    test_descriptors,
    test_dot,
    test_dot_scaled,
    test_fp8,
    test_functions,
    test_gather,
    test_joining,
    test_many_axes,
    test_mapping,
    test_memory,
    test_pipelines,
    test_programs,
    test_random_numbers,
    test_reductions,
    test_rounding_and_hints,
    test_scans,
    test_shapes,
    test_sorting,
    test_tuple_arguments,
    test_while,
)

from .elementwise import language_dtype
from .run import workspace, write_source


@dataclass(frozen=True)
class Entry:
    """A kernel called ``kernel``, and one specialisation of it."""

    name: str
    source: str
    types: Mapping[str, str]
    const: Mapping[str, Any] = field(default_factory=dict[str, Any])
    assume: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    num_warps: int = 4
    debug: bool = False

    @property
    def path(self) -> Path:
        """A file with the kernel's source."""
        return write_source(self.source)

    def compile(self, target: str, **options: Any) -> Artifact:
        """Compiles it, or takes it from this process' cache."""
        return compile(
            f"{self.path}:kernel",
            target,
            self.types,
            self.const,
            assume=self.assume,
            num_warps=options.pop("num_warps", self.num_warps),
            debug=self.debug,
            cache_dir=workspace() / "cache",
            **options,
        )


def _typed(text: str) -> dict[str, str]:
    """``"x o: *f32, n: i32"`` as a mapping."""
    found: dict[str, str] = {}
    for part in text.split(","):
        names, _, type_ = part.partition(":")
        found.update(dict.fromkeys(names.split(), type_.strip()))
    return found


def _entry(name: str, source: str, types: str, const: str = "", **more: Any) -> Entry:
    values: dict[str, Any] = {}
    for part in const.split():
        key, _, value = part.partition("=")
        values[key] = {"True": True, "False": False, "None": None}.get(
            value, int(value) if value.isdigit() else value
        )
    return Entry(name, source, _typed(types), values, **more)


def _reduce(function: str, dtype: str, out: str, axis: str) -> Entry:
    source = test_reductions.REDUCE.replace("{function}", function)
    return _entry(
        f"{function}_{dtype}_{axis}", source, f"x: *{dtype}, o: *{out}", f"AXIS={axis} KEEP=False M=32 N=64"
    )


def _dot(dtype: str, out: str, options: str, shape: str) -> Entry:
    source = test_dot.DOT.replace("{options}", options)
    return _entry(
        f"dot_{dtype}_{out}_{shape.split()[0][2:]}",
        source,
        f"a b: *{dtype}, c o: *{out}",
        f"ACC=True {shape}",
    )


def _casts(source: str) -> Entry:
    """One dtype converted to every other."""
    names = [name for name in oracle.ALL if name != source]
    stores = "\n".join(f"    tl.store(o_{n} + i, v.to({language_dtype(n)}))" for n in names)
    text = f"@triton.jit\ndef kernel(x, {', '.join(f'o_{n}' for n in names)}):\n    i = tl.arange(0, 64)\n    v = tl.load(x + i)\n{stores}\n"
    return Entry(f"casts_{source}", text, {"x": f"*{source}"} | {f"o_{n}": f"*{n}" for n in names})


def _operators(dtype: str) -> Entry:
    """Every operator and function that takes the dtype."""
    ops = [op for op, (_, kind, _) in oracle.BINARY.items() if kind == "any" or dtype not in oracle.FLOATS]
    texts = [oracle.spell(op, "a", "b") for op in ops]
    texts += ["a / b", "-a", "tl.abs(a)", "tl.where(a > b, a, b)", "not a", "a and b", "a or b"]
    if dtype in oracle.FLOATS:
        texts += ["a % b", "tl.clamp(a, b, 3.0)"]
    else:
        texts += ["~a", *(["a << 1", "a >> 1"] if dtype != "i1" else [])]
    if dtype in ("f32", "f64"):
        texts += [
            f"tl.{name}(a)" for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf")
        ]
        texts += ["a * b + c", "a * b - c", "c - a * b", "tl.fma(a, b, c)"]
    lines = "\n".join(
        f"    tl.store(o + {64 * n} + i, ({text}).to(tl.float32))" for n, text in enumerate(texts)
    )
    head = "    i = tl.arange(0, 64)\n    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(x + 2 * i)\n"
    return Entry(
        f"operators_{dtype}",
        f"@triton.jit\ndef kernel(x, y, o):\n{head}{lines}\n",
        {"x": f"*{dtype}", "y": f"*{dtype}", "o": "*f32"},
    )


def _libdevice(first: str) -> Entry:
    """Every function of libdevice whose first operand is of a dtype."""
    lines: list[str] = []
    for name, rows in libdevice.TABLE.items():
        for dtypes in rows:
            if dtypes[0].name == first:
                operands = ", ".join(f"a{i}.to({language_dtype(d.name)})" for i, d in enumerate(dtypes))
                lines.append(
                    f"    tl.store(o + {64 * len(lines)} + i, libdevice.{name}({operands}).to(tl.float64))\n"
                )
    loads = "".join(f"    a{i} = tl.load(x + {64 * i} + i)\n" for i in range(4))
    head = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n"
    source = f"{head}@triton.jit\ndef kernel(x, o):\n    i = tl.arange(0, 64)\n{loads}{''.join(lines)}"
    return Entry(f"libdevice_{first}", source, {"x": f"*{first}", "o": "*f64"})


def _arrangements() -> Iterator[Entry]:
    """Joins, gathers, sorting, and functions of scalars over tiles."""
    for dtype in ("f32", "i1", "bf16", "i64"):
        yield _entry(f"join_{dtype}", test_joining.JOIN, f"x y o p q r: *{dtype}", "M=8 N=64")
    yield _entry("split_columns", test_joining.SPLIT, "x o p: *f32", "N=256 S=1 T=256")
    yield _entry("cat", test_joining.CAT, "x y o p: *f16", "N=64")
    yield _entry("join_mixed", test_joining.MIXED, "x o p: *f32, n: i32")
    for dtype, index in (("f32", "i32"), ("u8", "i64"), ("f64", "u8")):
        const = "M=16 N=32 P=16 Q=8 AXIS=1"
        yield _entry(f"gather_{dtype}_{index}", test_gather.GATHER, f"x o: *{dtype}, i: *{index}", const)
    yield _entry("gather_patterns", test_gather.PATTERNS, "x o: *f32", "N=1024")
    yield _entry("gather_three_d", test_gather.THREE_D, "x o p q: *i32", "A=4 B=8 C=16")
    for dtype in ("bf16", "i1", "f64"):
        yield _entry(f"flip_{dtype}", test_gather.FLIP, f"x o p: *{dtype}", "M=16 N=64")
    for dtype in ("i32", "u8", "i64"):
        yield _entry(
            f"histogram_{dtype}",
            test_gather.HISTOGRAM,
            f"x: *{dtype}, mask: *i8, o p: *i32, n: i32",
            "N=512 BINS=64",
        )
    yield _entry("buckets", test_gather.BUCKETS, "x o p: *i32, n: i32", "B=128 BINS=32")
    for dtype in ("f32", "bf16", "i1", "u64", "f64"):
        yield _entry(f"sort_{dtype}", test_sorting.SORT, f"x o p: *{dtype}", "M=4 N=64 DIM=1")
    yield _entry("sort_columns", test_sorting.SORT, "x o p: *i16", "M=64 N=4 DIM=0")
    yield _entry("sort_line", test_sorting.LINE, "x o: *f32, n: i32", "N=512 DOWN=True")
    yield _entry(
        "topk", test_sorting.TOPK.replace("{out}", "tl.float32"), "x: *f16, o: *f32", "M=8 N=64 K=8 DIM=1"
    )
    yield _entry("merge", test_sorting.MERGE, "x o p: *f32", "M=4 N=128")
    yield _entry("map", test_mapping.MAP, "x o: *f32, i p: *i32", "N=64")
    yield _entry("map_packed", test_mapping.PACKED, "x y o p q: *i32", "M=8 N=16")
    yield _entry("swizzled", test_mapping.SWIZZLE, "o p: *i32, rows columns: i32", "I=4 J=4 G=2")
    body = "r = tl.cumsum(tl.sort(tl.permute(t, (3, 0, 4, 1, 2)), 1), 2).sum(3)"
    five = test_many_axes.KERNEL.replace("{shape}", "(2, 4, 2, 8, 4)").replace("{body}", body)
    yield _entry("five_axes", five, "x o: *f32", "SIZE=512 OUT=128")


def _entries() -> Iterator[Entry]:
    div = {name: {"div": 16} for name in ("x", "o", "n")}
    yield _entry("copy_f32", test_memory.COPY, "x o: *f32, n: i32", "BLOCK=1024")
    yield _entry("copy_f32_aligned", test_memory.COPY, "x o: *f32, n: i32", "BLOCK=1024", assume=div)
    yield _entry("copy_i1_aligned", test_memory.COPY, "x o: *i1, n: i32", "BLOCK=1024", assume=div)
    yield _entry(
        "copy_bf16_aligned", test_memory.COPY, "x o: *bf16, n: i64", "BLOCK=256", assume=div, num_warps=1
    )
    yield _entry("other", test_memory.OTHER, "x other o0 o1 o2 o3: *f16, c: *i8, n: i32", "BLOCK=128")
    yield _entry("gather", test_memory.GATHER, "x o: *f64, idx: *i64, c: *i8, n: i32", "BLOCK=256")
    yield _entry("nowhere", test_memory.NOWHERE, "x o: *f32, flag: i32", "BLOCK=64")
    yield _entry("scalars", test_memory.SCALARS, "x o: *i1, n: i32", "BLOCK=1")
    strides = ", rows columns sxr sxc sor soc: i32"
    yield _entry("two_d", test_memory.TWO_D, f"x o: *f32{strides}", "R=32 C=64")
    yield _entry(
        "two_d_transposed",
        test_memory.TWO_D,
        f"x o: *f16{strides}",
        "R=32 C=64",
        assume={"sxc": {"eq": 1}, "sor": {"eq": 1}},
    )
    yield _entry("transpose", test_memory.TRANSPOSE, "x o: *f32", "R=64 C=32")
    yield _entry("transposes", test_shapes.TRANSPOSES, "x o p: *f32", "R=32 C=64")
    yield _entry("transposed_pointers", test_shapes.POINTERS, "x o: *i32", "R=16 C=32")
    yield _entry(
        "block_copy",
        test_block_pointers.COPY,
        "x o: *f16, R C sxr sxc sor at_r at_c: i32",
        "BR=16 BC=32 PAD=nan",
    )
    yield _entry(
        "block_matmul", test_block_pointers.MATMUL, "a b c: *f32, M N K sa sb sc: i32", "BM=32 BN=16 BK=32"
    )
    yield _entry("block_branch", test_block_pointers.BRANCH, "x o: *f32, n k: i32", "B=32")
    yield _entry("places", test_combining.PLACES, "x v w: *f32, i j: *i32", "M=16 N=64 AXIS=1 OUT=16")
    yield _entry("own_combine", test_combining.OWN, "x o p: *f32, q: *i32", "M=16 N=32")
    yield from _arrangements()
    yield _entry("random", test_random_numbers.RAND, "i: *u32, f g: *f32, seed: i32, start: i64", "B=64")
    yield _entry("philox", test_random_numbers.PHILOX, "o: *u64, seed a b c d: i64", "ROUNDS=10")
    yield _entry("running", test_scans.RUNNING, "x o p: *f32", "M=16 N=64 AXIS=1 REVERSE=False")
    yield _entry("recurrence", test_scans.RECURRENCE, "a b o p: *f32", "M=64 N=8 AXIS=0 REVERSE=True")
    yield _entry("chunked_scan", test_scans.CHUNKS, "x o p q: *i32, n: i32", "B=64")
    yield _entry("softmax_function", test_combining.SOFTMAX, "x o: *f32", "M=8 N=64")
    yield _entry("rounded", test_rounding_and_hints.ROUNDED, "x y o: *f32, p: *u32, q: *u64", "B=128")
    yield _entry("curves", test_rounding_and_hints.CURVES, "x o: *f32", "B=128")
    yield _entry("hinted", test_rounding_and_hints.HINTED, "x o: *f32, n shift: i32", "B=128")
    yield _entry("barrier", test_rounding_and_hints.BARRIER, "x o: *f32", "B=256")
    yield _entry("counts", test_atomics.COUNTS, "x counts top: *i32, sums: *f32, n: i32", "B=256")
    yield _entry("tickets", test_atomics.TICKETS, "x o p: *i32", "B=16")
    yield _entry(
        "atomic_max_f32", test_atomics.EACH.replace("{function}", "atomic_max").replace("{sem}", "acquire"),
        "x y o: *f32, n: i32", "B=128",
    )  # fmt: skip
    yield _entry("compare_and_swap", test_atomics.CAS, "x c y o: *f16", "B=128")
    yield _entry("hints", test_memory.HINTS, "x o: *f32, n: i32", "BLOCK=256")
    yield _entry("mixed", test_memory.MIXED, "x o p: *f32, y: *f16, z: *i8", "BLOCK=256 STEP=2")
    yield _entry(
        "offsets", test_memory.OFFSETS, "x o: *f32, shift n: i32", "BLOCK=256", assume={"x": {"div": 16}}
    )
    yield _entry("unsigned", test_memory.UNSIGNED, "x o: *i32, k: u8", "BLOCK=8")
    yield _entry("negative", test_memory.NEGATIVE, "x o: *i16, k: i32", "BLOCK=64")
    yield _entry("cast_pointer", test_memory.CAST_POINTER, "x: *f32, y o: *u8", "BLOCK=64")
    yield _entry("bools", test_memory.BOOLS, "x o: *i1, p: *i32", "BLOCK=64")
    yield _entry("broadcast_store", test_memory.BROADCAST_STORE, "x o: *f32", "R=8 C=16")
    yield _entry("pointers_that_move", test_memory.POINTERS_THAT_MOVE, "x o: *f32", "R=64 C=32")
    for function, dtype, out, axis in (
        ("sum", "f32", "f32", "0"), ("sum", "f32", "f32", "1"), ("sum", "f16", "f16", "None"), ("sum", "i1", "u32", "1"),
        ("max", "bf16", "f32", "0"), ("max", "i64", "i64", "1"), ("min", "u32", "u32", "None"), ("min", "f64", "f64", "1"),
    ):  # fmt: skip
        yield _reduce(function, dtype, out, axis)
    yield _entry("sum_dtype", test_reductions.DTYPE, "x: *f32, o: *f64, p: *i64", "BLOCK=64")
    yield _entry("three_d", test_reductions.THREE_D, "x o p q: *f32", "A=8 B=16 C=16")
    yield _entry("softmax", test_reductions.SOFTMAX, "x o: *f32, n: i32", "BLOCK=1024")
    yield _entry("chain", test_reductions.CHAIN, "x o: *f32", "M=64 N=64")
    yield _dot("f32", "f32", "input_precision='ieee'", "M=32 N=16 K=64")
    yield _dot("f16", "f32", "input_precision='ieee'", "M=64 N=64 K=32")
    yield _dot("bf16", "f32", "", "M=16 N=16 K=16")
    yield _dot("f64", "f64", "input_precision='ieee'", "M=16 N=16 K=16")
    yield _entry("matmul", test_dot.MATMUL, "a b o: *f16, M N K: i32", "BM=64 BN=32 BK=32")
    yield _entry("twice", test_dot.TWICE, "a b o: *f32, v: *f16", "M=32 S=2")
    yield _entry("swap", test_control.SWAP, "x y o: *f32, n: i32", "BLOCK=128")
    yield _entry("carried_pointers", test_control.POINTERS, "x o: *f32, n step: i32", "BLOCK=64")
    yield _entry("nested", test_control.NESTED, "x o: *i32, n m: i32", "BLOCK=32")
    yield _entry("branch", test_control.BRANCH, "x o: *f32, n: i32", "BLOCK=64")
    yield _entry("early_return", test_control.EARLY, "x o: *f32, n: i32", "BLOCK=16")
    yield _entry("helper_returns", test_control.VALUE, "x o: *i32", "BLOCK=8")
    yield _entry("if_in_loop", test_control.IF_IN_LOOP, "x o: *f32, n: i32", "BLOCK=128")
    yield _entry("while_scalars", test_while.GCD, "a b o: *i64")
    yield _entry("while_until", test_while.NEWTON, "x o: *f64, turns: *i32", "BLOCK=512")
    yield _entry("while_layouts", test_while.SEVERAL_LAYOUTS, "x o: *f32, n: i32", "R=16 C=64")
    yield _entry("while_nested", test_while.NESTED, "o: *i32, last: i32")
    yield _entry("while_reads", test_while.LINKED_LIST, "after: *i32, value o: *i64, head: i32")
    yield _entry("addresses_loaded", test_addresses.GROUPED, "x y o: *f16, table: *i64, n: i32", "BLOCK=64")
    yield _entry(
        "grouped_products",
        test_addresses.GROUPED_PRODUCTS,
        "a_table b_table c_table: *i64, sizes: *i32, groups: i32",
        "PROGRAMS=3 BM=32 BN=32 BK=16",
    )
    yield _entry("addresses_each", test_addresses.TILES, "x y o: *i32, table: *u64", "BLOCK=64")
    yield _entry("addresses_computed", test_addresses.COMPUTED, "x o a b: *f32, c: *i64", "BLOCK=256")
    yield _entry(
        "pointers_to_pointers", test_addresses.POINTERS, "x y o: *f32, table: *i64, n: i32", "BLOCK=64"
    )
    yield _entry("pointers_to_others", test_addresses.BYTES, "x: *i32, o: *i8, p: *u16, n: i32", "BLOCK=128")
    yield _entry("null_pointers", test_addresses.NULL, "x: *f32, o: *i32, n: i32")
    yield _entry("while_lock", test_while.LOCK, "lock o: *i32", "BLOCK=64")
    yield _entry("prints", test_debugging.PRINTS, "x o: *f32, y: *u8, n: i32", "R=2 C=4")
    yield _entry("prints_wide", test_debugging.PRINTS, "x o: *bf16, y: *u8, n: i32", "R=16 C=64")
    yield _entry("asserts", test_debugging.ASSERTS, "x o: *i32, n: i32", "BLOCK=256", debug=True)
    yield _entry(
        "descriptor_copy", test_descriptors.COPY, "x o: *f16, m n row col: i32", "M=16 N=32 PAD=zero"
    )
    yield _entry("descriptor_transpose", test_descriptors.TRANSPOSE_SUM, "x o: *f32, m n: i32", "M=64 N=64")
    yield _entry(
        "descriptor_axes", test_descriptors.ONE_AND_THREE_AXES, "x y o: *f32, p: *i64, n a b c: i32", "N=8"
    )
    yield _entry(
        "descriptor_rows", test_descriptors.GATHER, "x: *f32, rows: *i32, o: *f32, m n: i32", "R=16 N=32"
    )
    yield from _arguments()
    for name, (language, _) in test_fp8.FP8.items():
        for other, spelled in test_fp8.WIDER.items():
            yield _entry(
                f"{other}_to_{name}",
                test_fp8.CAST.format(to=language),
                f"x: *{other}, o: *{name}, n: i32",
                "BLOCK=256",
            )
            yield _entry(
                f"{name}_to_{other}",
                test_fp8.CAST.format(to=spelled),
                f"x: *{name}, o: *{other}, n: i32",
                "BLOCK=256",
            )
        yield _entry(
            f"quantise_{name}",
            test_fp8.QUANTISE,
            f"x: *f32, q: *{name}, scale: *f32, n: i32",
            "LARGEST=448 BLOCK=128",
        )
    yield _entry(
        "dot_i8", test_dot.DOT.replace("{options}", ""), "a b: *i8, c o: *i32", "ACC=True M=16 N=32 K=64"
    )
    batched = test_dot.BATCHED.replace("{options}", "")
    for name, out in (("f16", "f32"), ("i8", "i32"), ("f64", "f64")):
        yield _entry(f"dots_{name}", batched, f"a b: *{name}, c o: *{out}", "ACC=True B=4 M=16 N=32 K=16")
    yield _entry("dots_of_dots", test_dot.ATTENTION, "q k v o: *f32", "H=4 S=16 D=32")
    sides = "ACC=True FAST=False M=16 N=32 K=64"
    for fa, ta, fb, tb, pa in (
        ("e2m1", "u8", "e2m1", "u8", False),
        ("e4m3", "f8e4m3", "e2m1", "u8", True),
        ("fp16", "f16", "e5m2", "u8", True),
    ):
        yield _entry(
            f"dot_scaled_{fa}_{fb}",
            test_dot_scaled.SCALED,
            f"a: *{ta}, b: *{tb}, sa sb: *u8, c o: *f32",
            f"FA={fa} FB={fb} PA={pa} PB={pa} {sides}",
        )
    for dtype, out, options in (
        ("f32", "f32", ""),
        ("f8e5m2", "f32", ""),
        ("f8e5m2", "f16", "out_dtype=tl.float16"),
        ("f16", "f16", "out_dtype=tl.float16"),
        ("f8e4m3", "f32", "max_num_imprecise_acc=0"),
        ("i8", "i32", "out_dtype=tl.int32"),
    ):
        yield _dot(dtype, out, options, "M=64 N=32 K=32")
    yield _entry(
        "tf32x3",
        test_dot.DOT.replace("{options}", "input_precision='tf32x3'"),
        "a b c o: *f32",
        "ACC=True M=64 N=32 K=32",
    )
    yield _entry(
        "staged_rows", test_pipelines.ROWS, "x w: *bf16, o: *f32, N stride: i32", "BLOCK=256 STAGES=3"
    )
    yield _entry("dot_fp8", test_fp8.DOT, "a: *f8e4m3, b: *f8e5m2, o: *f32", "M=16 N=16 K=32")
    yield _entry("running_reductions", test_control.REDUCE_IN_LOOP, "x o: *f32, n: i32", "M=64 N=32")
    yield _entry("carried_tuple", test_control.TUPLES, "x o: *f32, n: i32", "BLOCK=16")
    yield _entry("chosen_pointer", test_control.CHOSEN_POINTER, "x y o: *f32, n: i32", "BLOCK=64")
    yield _entry("late_unchanged", test_control.FOUND_UNCHANGED_LATE, "x o: *f32, n: i32", "BLOCK=64")
    yield _entry("ids", test_programs.IDS, "o: *i32")
    yield _entry("grouped", test_programs.GROUPED, "o: *i32, M N: i32", "GROUP=8")
    helpers = f"{test_functions.HELPERS}\n\n@triton.jit\ndef kernel(x, o, n):\n    i = tl.arange(0, 64)\n"
    yield _entry(
        "helpers",
        f"{helpers}    a, b = both(affine(tl.load(x + i)), n)\n    nothing(o + i, a * b)\n",
        "x o: *f32, n: i32",
    )
    yield _entry("normal", test_random_numbers.NORMAL, "o: *f32, seed: i32", "B=64")
    for dtype in ("f32", "f64", "i32", "u32", "i64", "u64"):
        yield _libdevice(dtype)
    for dtype in oracle.ALL:
        yield _casts(dtype)
        yield _operators(dtype)


def _arguments() -> Iterator[Entry]:
    """Tuples and descriptors as arguments."""
    of_tuples, of_descriptors = test_tuple_arguments, test_descriptor_arguments
    tuples = {"ptrs": "(*f32, *f16, *i32)", "out": "*f32", "n": "i32"}
    yield Entry("tuple_sum", of_tuples.SUM, tuples, {"B": 256})
    yield Entry(
        "tuple_sum_aligned", of_tuples.SUM, tuples, {"B": 256}, {"ptrs": {"div": 16}, "n": {"div": 16}}
    )
    scalars = {"before": "i8", "values": "(i1, i64, i16, u8, f32)", "o": "*f64", "after": "i16"}
    yield Entry("tuple_of_scalars", of_tuples.EVERY_SCALAR, scalars)
    nested = {"work": "(((*f32, *f32), (*f32, *f32)), i32)", "bias": "(*f32, none)"}
    yield Entry("tuple_nested", of_tuples.NESTED, nested, {"B": 64})
    carried = {"ptrs": "(*f32, *f32)", "sizes": "(i32, i32)", "out": "*f32"}
    yield Entry("tuple_carried", of_tuples.CARRIED, carried, {"B": 32}, {"sizes[1]": {"eq": 1}})
    copied = {"source": "desc<bf16[16, 32]>", "o": "*bf16", "row": "i32", "col": "i32"}
    yield Entry("descriptor_argument", of_descriptors.COPY, copied, {"M": 16, "N": 32})
    turned = {"a": "desc<f16[64, 64]>", "b": "desc<f16[64, 64]>"}
    extents = {"a.shape[1]": {"div": 8}, "b.shape[1]": {"div": 8}}
    yield Entry("descriptor_argument_turned", of_descriptors.TRANSPOSE, turned, {"M": 64, "N": 64}, extents)
    axes = {
        "one": "desc<f32[8]>", "three": "desc<f32[2, 4, 8]>", "out": "desc<f32[2, 4, 8]>", "five": "desc<f32[1, 1, 2, 1, 4]>",
        "p": "*i64",
    }  # fmt: skip
    yield Entry("descriptor_argument_axes", of_descriptors.AXES, axes)
    blocks = "desc<f32[8, 16]>"
    several = {"descs": f"({blocks}, {blocks}, {blocks})", "scales": "(f32, f32)"}
    yield Entry("descriptor_argument_several", of_descriptors.IN_TUPLES, several, {"M": 8, "N": 16})
    yield Entry(
        "descriptor_argument_atomic", of_descriptors.ATOMICS, {"d": "desc<i32[4, 8]>"}, {"M": 4, "N": 8}
    )
    rows = {"source": "desc<f32[1, 32]>", "target": "desc<f32[1, 32]>", "rows": "*i32"}
    yield Entry("descriptor_argument_rows", of_descriptors.ROWS, rows, {"R": 16, "N": 32})


#: Every entry by name.
CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _entries()}
