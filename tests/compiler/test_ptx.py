"""What PTX must hold, and must not: widths of accesses, instructions of reductions and functions, directives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from teenybuild import compile
from teenybuild.diagnostics import UserError
from teenybuild.targets import ARCHITECTURES
from tests.support.catalogue import CATALOGUE, Entry
from tests.support.run import workspace, write_source

from .corpus import TESTS

ADD = """
@triton.jit
def kernel(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)
"""
WHOLE = """
@triton.jit
def kernel(x, y, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i) + tl.load(y + i))
"""
PAIRS = """
@triton.jit
def kernel(x, y, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, (a * b + a) - b)
"""
TRANSPOSED = """
@triton.jit
def kernel(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i[:, None] * BLOCK + i[None, :])
    tl.store(o + i[:, None] * BLOCK + i[None, :], tl.trans(a))
"""
PRODUCT = """
@triton.jit
def kernel(x, y, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + m[:, None] * K + k[None, :])
    b = tl.load(y + k[:, None] * N + n[None, :])
    tl.store(o + m[:, None] * N + n[None, :], tl.dot(a, b))
"""
SCAN = """
@triton.jit
def kernel(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.cumsum(tl.load(x + i)))
"""
ALIGNED = {name: {"div": 16} for name in ("x", "y", "o")}
ALL_ALIGNED = ALIGNED | {"n": {"div": 16}}


def add(
    dtype: str, assume: Mapping[str, Mapping[str, int]], *, block: int = 1024, num_warps: int = 4
) -> Entry:
    types = dict.fromkeys(("x", "y", "o"), f"*{dtype}") | {"n": "i32"}
    return Entry("add", ADD, types, {"BLOCK": block}, assume, num_warps)


def whole(dtype: str, assume: Mapping[str, Mapping[str, int]]) -> Entry:
    return Entry("whole", WHOLE, dict.fromkeys(("x", "y", "o"), f"*{dtype}"), {"BLOCK": 1024}, assume)


def expression(text: str, dtype: str = "f32") -> Entry:
    """One element a lane: each instruction appears once."""
    source = f"@triton.jit\ndef kernel(x, y, o):\n    i = tl.arange(0, 128)\n    a, b = tl.load(x + i), tl.load(y + i)\n    tl.store(o + i, {text})\n"
    return Entry("expression", source, {"x": f"*{dtype}", "y": f"*{dtype}", "o": f"*{dtype}"})


#: What is compiled, and how often a pattern matches a line of its PTX.
def product(rows: int) -> Entry:
    """[rows, 64] by [64, 128] in bf16."""
    return Entry(
        "product",
        PRODUCT,
        {"x": "*bf16", "y": "*bf16", "o": "*f32"},
        {"M": rows, "N": 128, "K": 64},
        {k: {"div": 16} for k in "xyo"},
    )


FRAGMENTS: dict[str, tuple[Entry, dict[str, int]]] = {
    # 1024 elements, 128 threads: 8 elements a thread, 4 an access.
    "add, aligned": (
        add("f32", ALL_ALIGNED),
        {r"ld\.global\.v4\.b32": 4, r"ld\.global": 4, r"st\.global\.v4\.b32": 2, r"st\.global": 2, r"add(\.rn)?\.f32": 8, r"\bcvt": 0, r"bar\.": 0},
    ),
    "add, unaligned": (add("f32", {}), {r"ld\.global\.b32": 16, r"ld\.global\.v": 0, r"st\.global\.b32": 8, r"\bcvt": 0}),
    # The mask may end anywhere: neighbours do not share it.
    "add, n unaligned": (add("f32", ALIGNED), {r"ld\.global\.b32": 16, r"ld\.global\.v": 0}),
    "add, no mask": (whole("f32", ALIGNED), {r"ld\.global\.v4": 4, r"ld\.global": 4, r"st\.global\.v4": 2, r"^\s*@": 0}),
    "add, no mask, unaligned": (whole("f32", {}), {r"ld\.global\.b32": 16, r"\.v[24]": 0}),
    "add, more warps": (add("f32", ALL_ALIGNED, num_warps=8), {r"ld\.global\.v4\.b32": 2, r"st\.global\.v4\.b32": 1, r"\.reqntid 256": 1}),
    "add, one element a thread": (add("f32", ALL_ALIGNED, block=128), {r"ld\.global\.b32": 2, r"\.v[24]": 0}),
    "add, bf16": (add("bf16", ALL_ALIGNED), {r"ld\.global\.v4\.b32": 2, r"ld\.global": 2, r"st\.global\.v4\.b32": 1}),
    "add, i8": (add("i8", ALL_ALIGNED), {r"ld\.global\.v2\.b32": 2, r"ld\.global": 2, r"st\.global\.v2\.b32": 1}),
    "add, f64": (add("f64", ALL_ALIGNED), {r"ld\.global\.v2\.b64": 8, r"ld\.global": 8, r"add(\.rn)?\.f64": 8}),
    "add, aligned by 8 bytes": (add("f32", {name: {"div": 8} for name in ALL_ALIGNED}), {r"ld\.global\.v2\.b32": 8, r"ld\.global": 8}),
    "softmax, aligned": (
        Entry("softmax", CATALOGUE["softmax"].source, {"x": "*f32", "o": "*f32", "n": "i32"}, {"BLOCK": 1024}, {k: {"div": 16} for k in "xon"}),
        # Two reductions: one barrier each, five exchanges each.
        {r"bar\.sync": 2, r"shfl\.sync\.bfly": 10, r"ex2\.approx\.f32": 8, r"div\.full\.f32": 8, r"ld\.global\.v4": 2, r"ld\.shared\.v4": 2},
    ),
    "softmax, one warp": (
        Entry("softmax", CATALOGUE["softmax"].source, {"x": "*f32", "o": "*f32", "n": "i32"}, {"BLOCK": 128}, num_warps=1),
        {r"bar\.": 0, r"shfl\.sync\.bfly": 10, r"\.shared": 0},
    ),
    "division": (expression("a / b"), {r"div\.full\.f32": 1}),
    "division, f64": (expression("a / b", "f64"), {r"div\.rn\.f64": 1}),
    "multiply and add": (expression("a * b + a"), {r"fma\.rn\.f32": 1, r"mul(\.rn)?\.f32": 0}),
    "exp": (expression("tl.exp(a)"), {r"ex2\.approx\.f32": 1, r"mul(\.rn)?\.f32": 1}),
    "exp2": (expression("tl.exp2(a)"), {r"ex2\.approx\.ftz\.f32": 1}),
    "rsqrt": (expression("tl.rsqrt(a)"), {r"rsqrt\.approx\.f32": 1}),
    "sqrt": (expression("tl.sqrt(a)"), {r"sqrt\.approx\.f32": 1}),
    "sqrt, rounded": (expression("tl.sqrt_rn(a)"), {r"sqrt\.rn\.f32": 1}),
    "maximum": (expression("tl.maximum(a, b)"), {r"max\.f32": 1}),
    "maximum with NaN": (expression("tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"), {r"max\.NaN\.f32": 1}),
    "comparison": (expression("tl.where(a < b, a, b)"), {r"setp\.lt\.f32": 1, r"selp\.": 1}),
    "integers, u8 to f32": (expression("(a.to(tl.float32) + 1).to(tl.uint8)", "u8"), {r"cvt\.rn\.f32\.u": 1}),
    # The conversion saturates by itself, at 32 bits; narrower integers are held in range as integers.
    "f32 to i32": (expression("a.to(tl.int32).to(tl.float32)"), {r"cvt\.rzi\.s32\.f32": 1, r"\b(setp|selp|max|min)\.": 0}),
    "f32 to i8": (expression("a.to(tl.int8).to(tl.float32)"), {r"cvt\.rzi\.s32\.f32": 1, r"max\.s32": 1, r"min\.s32": 1, r"\b(setp|selp)\.": 0}),
    # Two numbers at a time.
    "f16 arithmetic": (Entry("pairs", PAIRS, dict.fromkeys("xyo", "*f16"), {"BLOCK": 256}), {r"mul\.rn\.f16x2": 1, r"(add|sub)\.rn\.f16x2": 2, r"cvt": 0}),
    "bf16 arithmetic": (Entry("pairs", PAIRS, dict.fromkeys("xyo", "*bf16"), {"BLOCK": 256}), {r"mul\.rn\.bf16x2": 1, r"(add|sub)\.rn\.bf16x2": 2, r"cvt": 0}),
    # Rounded and used again: one instruction.
    "bf16 in between": (expression("(a * 3.0).to(tl.bfloat16).to(tl.float32) * a"), {r"cvt\.rn\.bf16x2\.f32": 1, r"cvt": 1}),
    "both halves of a product": (expression("(tl.umulhi(a, b) ^ (a * b))", "u32"), {r"mul\.wide\.u32\s+%rd\d+, %r\d+, %r": 1, r"mul\.(hi|lo)": 0}),
    # Both sides of the tile in shared memory in accesses of 16 bytes.
    "transposed": (Entry("transposed", TRANSPOSED, {"x": "*f32", "o": "*f32"}, {"BLOCK": 64}, {k: {"div": 16} for k in "xo"}), {r"st\.shared\.v4": 8, r"ld\.shared\.v4": 8, r"\.shared\.b32": 0, r"bar\.sync": 1}),
    # On tensor cores, and no operand is read from shared memory in pieces of less than 16 bytes.
    # [64, 64] and [64, 128] go to shared memory in pieces of 16 bytes, the result leaves by it: one barrier each.
    "product": (product(64), {r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.bf16\.bf16": 1, r"mma\.sync": 0, r"st\.shared\.v4": 28, r"st\.shared": 28, r"ld\.shared\.v4": 16, r"ld\.shared": 16, r"bar\.": 2, r"fma": 0}),
    "product of too few rows for groups of warps": (product(32), {r"wgmma": 0, r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.bf16\.bf16\.f32": 32, r"ld\.shared\.v4": 24, r"ld\.shared": 24, r"fma": 0}),
    # Five exchanges within a warp; what warps gathered is read once by each, and twice by half of them.
    "scan across warps": (Entry("scan", SCAN, {"x": "*f32", "o": "*f32"}, {"BLOCK": 128}), {r"shfl\.sync\.idx": 5, r"bar\.sync": 1, r"ld\.shared": 2}),
}  # fmt: skip


def count(pattern: str, ptx: str) -> int:
    return sum(1 for line in ptx.splitlines() if re.search(pattern, line))


@pytest.mark.parametrize("case", FRAGMENTS)
def test_fragments(case: str) -> None:
    entry, wanted = FRAGMENTS[case]
    ptx = entry.compile("sm_90a").ptx
    assert ptx is not None
    assert {pattern: count(pattern, ptx) for pattern in wanted} == wanted


def test_bf16_is_rounded_by_the_gpu_where_it_can() -> None:
    entry = expression("a.to(tl.float32) * 3.0", "bf16")
    old, new = entry.compile("sm_75").ptx, entry.compile("sm_80").ptx
    assert old is not None
    assert new is not None
    assert count(r"cvt\.rn\.bf16\.f32", old) == 0
    assert count(r"cvt\.rn\.bf16\.f32", new) == 1


def test_functions_of_their_own_have_what_they_call() -> None:
    """A function that is called rather than written out: its instructions are its own, conversions to integers too."""
    source = "@triton.jit\ndef kernel(x, o):\n    i = tl.arange(0, 128)\n    tl.store(o + i, tl.extra.libdevice.jn(i % 5, tl.load(x + i)))\n"
    ptx = Entry("jn", source, {"x": "*f64", "o": "*f64"}).compile("sm_90a").ptx
    assert ptx is not None
    assert count(r"cvt\.rzi\.s", ptx) >= 1


def test_dot_runs_on_fused_multiply_adds() -> None:
    ptx = CATALOGUE["dot_f32_f32_32"].compile("sm_90a").ptx
    assert ptx is not None
    assert count(r"fma\.rn\.f32", ptx) >= 4
    assert count(r"bar\.sync", ptx) >= 1
    assert count(r"st\.shared", ptx) >= 2


@pytest.mark.parametrize("arch", ARCHITECTURES.values(), ids=lambda arch: arch.name)
def test_every_architecture_has_its_header(arch: Any) -> None:
    artifact = add("bf16", ALL_ALIGNED).compile(arch.name)
    assert artifact.ptx is not None
    assert f".version {arch.ptx}\n" in artifact.ptx
    assert f".target {arch.name}\n" in artifact.ptx
    assert ".visible .entry kernel_entry_point(" in artifact.ptx
    assert artifact.abi["launch"] == {
        "threads": 128,
        "shared_bytes": 0,
        "cluster": [1, 1, 1],
        "cooperative": False,
        "programmatic": arch.sm >= 90,
        "residency": None,
        "tensor_maps": [],
    }


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_90a", "sm_120a"])
def test_code_waits_before_it_touches_memory(arch: str) -> None:
    """Where launches may start before what they depend on has ended."""
    artifact = add("bf16", ALL_ALIGNED).compile(arch)
    assert artifact.ptx is not None
    waits, accesses = (
        [m.start() for m in re.finditer(pattern, artifact.ptx)]
        for pattern in (r"griddepcontrol\.wait;", r"(ld|st)\.global")
    )
    assert len(waits) == artifact.abi["launch"]["programmatic"] == (arch != "sm_80")
    assert accesses
    assert all(wait < access for wait in waits for access in accesses)


TURNS = """
@triton.jit
def kernel(x, o, n):
    i = tl.arange(0, 512)
    v = tl.load(x + i)
    k = 0
    {loop}:
        v = v * 0.5 + tl.sum(v)
        k += 1
    tl.store(o + i, v)
"""


def test_warps_wait_for_each_other_in_every_turn() -> None:
    """A turn's shared memory is written when no warp reads what the turn before left: in a while as in a for."""
    barriers = [
        count(r"bar\.sync", ptx)
        for loop in ("for j in range(n)", "while k < n", "while (k < n) & (tl.max(v) < 3)")
        for ptx in [
            Entry("loop", TURNS.format(loop=loop), {"x": "*f32", "o": "*f32", "n": "i32"}, {})
            .compile("sm_90a")
            .ptx
        ]
        if ptx is not None
    ]
    # A reduction between warps has one between writing and reading; the first of a turn has another before it writes.
    assert barriers == [2, 2, 3]


COUNTED = """
@triton.jit
def kernel(count, x, o):
    i = tl.arange(0, 256)
    v = tl.load(x + i)
    n = tl.load({read})
    if n == 0:
        tl.{write}(count, 1)
    else:
        v += 1
    tl.store(o + i, v)
"""


@pytest.mark.parametrize("write", ["store", "atomic_xchg"])
@pytest.mark.parametrize(("read", "barriers"), [("count", 1), ("count + 4", 1), ("o", 0)])
def test_every_lane_has_read_a_scalar_before_one_writes_it(write: str, read: str, barriers: int) -> None:
    """Else late warps would see what the first has left, and take the other branch."""
    source = COUNTED.format(read=read, write=write)
    ptx = Entry("counted", source, {"count": "*i32", "x": "*i32", "o": "*i32"}, {}).compile("sm_90a").ptx
    assert ptx is not None
    assert count(r"bar\.sync", ptx) == barriers


def test_directives() -> None:
    ptx = add("f32", {}, num_warps=2).compile("sm_90a", maxnreg=64, ptx="8.4").ptx
    assert ptx is not None
    assert (".version 8.4\n" in ptx, count(r"\.reqntid 64\b", ptx), count(r"\.maxnreg 64", ptx)) == (
        True,
        1,
        1,
    )
    with pytest.raises(UserError, match=r"PTX 7\.8 is not a version that sm_90a has"):
        add("f32", {}).compile("sm_90a", ptx="7.8")


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_kernel_compiles_to_one_function(name: str) -> None:
    """On the oldest and the newest architecture: nothing outside is called, nothing is kept in local memory.

    But to print and to fail: with the driver's own functions, which take a format's values from local memory.
    """
    outside = r"\.extern \.func|\.local|vprintf|st\.local"
    if name.startswith(("prints", "asserts")):
        outside = r"\.extern \.func(?! __assertfail|  \(\.param \.b32 func_retval0\) vprintf)"
    for target in ("sm_75", "sm_121"):
        ptx = CATALOGUE[name].compile(target).ptx
        assert ptx is not None
        assert count(r"\.entry", ptx) == 1
        assert [line for line in ptx.splitlines() if re.search(outside, line)] == []


def test_the_bytes_do_not_depend_on_hash_seeds() -> None:
    """Fresh processes with other seeds, and in another order, give the same artifacts."""
    names = list(CATALOGUE)
    script = (
        "import hashlib, sys\n"
        "from tests.support.catalogue import CATALOGUE\n"
        "for name in sorted(sys.argv[1:]):\n"
        "    for target in ('cpu', 'cpu:sm_90a'):\n"
        "        artifact = CATALOGUE[name].compile(target)\n"
        "        print(name, artifact.key, hashlib.sha256(artifact.path.read_bytes()).hexdigest())\n"
    )

    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, *order],
            cwd=TESTS.parent,
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, order in (("1", names), ("2", names[::-1]))
    ]
    first, second = (run.communicate()[0].splitlines() for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert len(first) == 2 * len(names)
    assert [a for a, b in zip(first, second, strict=True) if a != b] == []


# Line information -----------------------------------------------------------------------------------------------


def located(ptx: str, source: str) -> list[tuple[str, str]]:
    """(instruction, line of the canonical source it is said to come from)."""
    lines = source.splitlines()
    found: list[tuple[str, str]] = []
    current = ""
    for line in ptx.splitlines():
        place = re.match(r"\s*\.loc\s+1 (\d+)", line)
        if place:
            current = lines[int(place[1]) - 1].strip()
        elif line.startswith("\t") and not line.strip().startswith("."):
            found.append((line.strip(), current))
    return found


def test_lines_are_those_of_the_canonical_source() -> None:
    """What a profiler shows beside an instruction is the statement that it comes from, in a helper too."""
    source = """
@triton.jit
def helper(v):
    # A comment that is not in the canonical source.
    w = tl.exp2(v)
    return w


@triton.jit
def kernel(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)

    a = tl.load(x + i, mask=i < n)
    b = helper(a)
    c = tl.max(b)
    tl.store(o + i, c / b, mask=i < n)
"""
    entry = Entry("lines", source, dict.fromkeys(("x", "y", "o"), "*f32") | {"n": "i32"}, {"BLOCK": 128})
    artifact = entry.compile("sm_90a", lineinfo=True)
    assert artifact.ptx is not None
    assert f'.file\t1 "kernel_{artifact.key}.py"' in artifact.ptx
    places = located(artifact.ptx, artifact.source)
    wanted = {
        "ld.global": "a = tl.load(x + i, mask=i < n)",
        "ex2.approx": "w = tl.exp2(v)",
        "shfl.sync": "c = tl.max(b)",
        "div.full": "tl.store(o + i, c / b, mask=i < n)",
        "st.global": "tl.store(o + i, c / b, mask=i < n)",
    }
    for instruction, line in wanted.items():
        assert {where for text, where in places if instruction in text} == {line}, instruction


@pytest.mark.parametrize("name", CATALOGUE)
def test_lines_change_no_instruction(name: str) -> None:
    def instructions(ptx: str | None) -> list[str]:
        """Without directives, labels, and the numbers of registers."""
        assert ptx is not None
        kept = [line.split("//")[0].strip() for line in ptx.splitlines() if line.startswith(("\t", "@"))]
        return sorted(re.sub(r"%\w+|\$L\w+", "%", line) for line in kept if not line.startswith("."))

    entry = CATALOGUE[name]
    plain, lines = entry.compile("sm_90a"), entry.compile("sm_90a", lineinfo=True)
    assert plain.key != lines.key
    assert plain.source == lines.source
    assert instructions(lines.ptx) == instructions(plain.ptx)
    numbers = {int(n) for n in re.findall(r"\.loc\s+1 (\d+)", lines.ptx or "")}
    # 0 is what LLVM gives an instruction that it merged from two places.
    assert numbers - {0}
    assert numbers <= set(range(len(lines.source.splitlines()) + 1))


MANY = """
@triton.jit
def kernel(pointers, out_ptr):
    tl.store(out_ptr, tl.load(pointers[0]))
"""


@pytest.mark.parametrize(
    ("pointers", "ptx", "message"),
    [
        (540, "8.0", None),
        (541, "8.0", "a launch passes 4,360 bytes, and a kernel of PTX 8.0 takes 4,352"),
        (541, "8.1", None),
        (4091, "8.1", None),
        (4092, "8.1", "a launch passes 32,768 bytes, and a kernel of PTX 8.1 takes 32,764"),
    ],
)
def test_more_than_can_be_passed(pointers: int, ptx: str, message: str | None) -> None:
    types = {"pointers": f"({', '.join(['*f32'] * pointers)})", "out_ptr": "*f32"}
    kernel = f"{write_source(MANY)}:kernel"
    if message is None:
        compile(kernel, "sm_90a", types, ptx=ptx, cache_dir=workspace() / "cache")
        return
    with pytest.raises(UserError, match=message):
        compile(kernel, "sm_90a", types, ptx=ptx, cache_dir=workspace() / "cache")
