"""What kernels say: while they are compiled, while they run, and why they end early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teenybuild import UserError, compile
from teenybuild.runtime.errors import KernelError
from teenybuild.testing import HOST_TARGETS, run

PRINTS = """
import triton
import triton.language as tl


@triton.jit
def helper(v, n):
    print("in a helper:", n)
    return v


@triton.jit
def kernel(x, y, o, n, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + i)
    tl.device_print("v", v)
    tl.device_print("both", v, n)
    tl.device_print("hello")
    tl.device_print("bits", v, hex=True)
    if n > 2:
        tl.device_print("y", tl.load(y + tl.arange(0, 2)))
    tl.store(o + i, helper(v, n))
"""


def kernel(tmp_path: Path, source: str) -> str:
    path = tmp_path / "kernel.py"
    path.write_text(source)
    return f"{path}:kernel"


@pytest.mark.parametrize("target", HOST_TARGETS)
@pytest.mark.parametrize("num_warps", [1, 4])
def test_prints(target: str, num_warps: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every element once and in order, program after program, however lanes hold them."""
    x = np.array([[1.5, -2, 0, 1e6], [3, np.inf, np.nan, -0.25]], np.float32)
    args = {"x": x, "y": np.array([200, 7], np.uint8), "o": np.zeros_like(x), "n": 3}
    run(kernel(tmp_path, PRINTS), args, grid=2, const={"R": 2, "C": 4}, target=target, num_warps=num_warps)
    words = ["1.500000", "-2.000000", "0.000000", "1000000.000000", "3.000000", "inf", "nan", "-0.250000"]
    raw = [f"0x{b:08x}" for b in x.ravel().view(np.uint32)]
    places = [f"{r}, {c}" for r in range(2) for c in range(4)]
    expected: list[str] = []
    for program in ("pid (0, 0, 0)", "pid (1, 0, 0)"):
        expected += [f"{program} idx ({p}) v: {w}" for p, w in zip(places, words, strict=True)]
        expected += [f"{program} idx ({p}) both: (operand 0) {w}" for p, w in zip(places, words, strict=True)]
        expected += [f"{program} idx () both: (operand 1) 3", f"{program} hello"]
        expected += [f"{program} idx ({p}) bits: {b}" for p, b in zip(places, raw, strict=True)]
        expected += [
            f"{program} idx (0) y: 200",
            f"{program} idx (1) y: 7",
            f"{program} idx () in a helper: 3",
        ]
    assert capsys.readouterr().out.splitlines() == expected
    np.testing.assert_array_equal(args["o"], x)


@pytest.mark.parametrize("target", HOST_TARGETS)
@pytest.mark.parametrize(
    ("values", "shown", "raw"),
    [
        (np.array([True, False]), ["1", "0"], ["0x1", "0x0"]),
        (np.array([-1, 127], np.int8), ["-1", "127"], ["0xff", "0x7f"]),
        (np.array([-1, 2], np.int16), ["-1", "2"], ["0xffff", "0x0002"]),
        (np.array([2**63, 5], np.uint64), ["9223372036854775808", "5"], ["0x8000000000000000", "0x0000000000000005"]),
        (np.array([-(2**63), 5], np.int64), ["-9223372036854775808", "5"], ["0x8000000000000000", "0x0000000000000005"]),
        (np.array([0.5, -2], np.float16), ["0.500000", "-2.000000"], ["0x3800", "0xc000"]),
        (np.array([0.5, -2], ml_dtypes.bfloat16), ["0.500000", "-2.000000"], ["0x3f00", "0xc000"]),
        (np.array([1 / 3, -2]), ["0.333333", "-2.000000"], ["0x3fd5555555555555", "0xc000000000000000"]),
    ],
)  # fmt: skip
def test_every_dtype(
    target: str,
    values: np.ndarray,
    shown: list[str],
    raw: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = """
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 2))
    print("", v)
    print("", v, hex=True)
"""
    run(kernel(tmp_path, source), {"x": values}, grid=1, target=target)
    lines = [line.rpartition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == [*shown, *raw]


ASSERTS = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.device_assert(v < n, "below n", mask=v >= 0)
    assert n != 13, "unlucky"
    tl.store(o + at, v)
"""


@pytest.mark.parametrize("target", HOST_TARGETS)
def test_assertions(target: str, tmp_path: Path) -> None:
    """The program ends where its assertion fails, the others run; the message has the place and the element."""
    x = np.arange(64, dtype=np.int32)
    x[21] = 100
    x[40] = -100
    args: dict[str, Any] = {"x": x, "o": np.full(64, -1, np.int32), "n": 64}
    spelled = kernel(tmp_path, ASSERTS)
    with pytest.raises(KernelError) as caught:
        run(spelled, args, grid=4, const={"BLOCK": 16}, target=target, debug=True)
    path = spelled.rpartition(":")[0]
    assert str(caught.value) == (
        "kernel: assertion failed: below n (program (1, 0, 0), element [5])\n"
        f"  {path}:10: tl.device_assert(v < n, 'below n', mask=v >= 0)"
    )
    expected = x.copy()
    expected[16:32] = -1
    assert args["o"].tolist() == expected.tolist()


@pytest.mark.parametrize("target", HOST_TARGETS)
def test_many_assertions_are_counted(target: str, tmp_path: Path) -> None:
    args: dict[str, Any] = {"x": np.zeros(320, np.int32), "o": np.zeros(320, np.int32), "n": 13}
    with pytest.raises(KernelError) as caught:
        run(kernel(tmp_path, ASSERTS), args, grid=20, const={"BLOCK": 16}, target=target, debug=True)
    lines = str(caught.value).splitlines()
    assert lines[0] == "kernel: assertion failed: unlucky (program (0, 0, 0))"
    assert lines[1].endswith("kernel.py:11: assert n != 13, 'unlucky'")
    assert lines[-1] == "and 15 more"
    assert len(lines) == 11


@pytest.mark.parametrize("target", [*HOST_TARGETS, "sm_90a"])
def test_assertions_cost_nothing_unless_asked_for(target: str, tmp_path: Path) -> None:
    types = {"x": "*i32", "o": "*i32", "n": "i32"}
    found = {
        debug: compile(kernel(tmp_path, ASSERTS), target, types, {"BLOCK": 16}, debug=debug, cache_dir=tmp_path)
        for debug in (False, True)
    }  # fmt: skip
    assert found[False].key != found[True].key
    assert ("tt.assert" in found[False].mlir, "tt.assert" in found[True].mlir) == (False, True)
    assert found[False].abi["reports"] == []
    for text in (found[False].ptx, found[False].ll):
        assert text is None or ("assertfail" not in text and "report" not in text)
    if target == "sm_90a":
        assert found[True].ptx is not None
        assert (
            found[True].ptx.count("call.uni __assertfail") + found[True].ptx.count("call __assertfail") == 2
        )


def test_gpus_print_through_the_driver(tmp_path: Path) -> None:
    types = {"x": "*f32", "y": "*u8", "o": "*f32", "n": "i32"}
    found = compile(kernel(tmp_path, PRINTS), "sm_90a", types, {"R": 2, "C": 4}, cache_dir=tmp_path)
    assert found.abi["reports"] == []
    assert found.ptx is not None
    formats = [
        bytes(map(int, line.partition("{")[2].partition("}")[0].split(","))).split(b"\0")[0].decode()
        for line in found.ptx.splitlines()
        if ".b8 text_" in line
    ]
    assert sorted(formats) == sorted(
        [
            "pid (%u, %u, %u) idx (%1u, %1u) v: %f\n",
            "pid (%u, %u, %u) idx (%1u, %1u) both: (operand 0) %f\n",
            "pid (%u, %u, %u) idx () both: (operand 1) %i\n",
            "pid (%u, %u, %u) hello\n",
            "pid (%u, %u, %u) idx (%1u, %1u) bits: 0x%08x\n",
            "pid (%u, %u, %u) idx (%1u) y: %u\n",
            "pid (%u, %u, %u) idx () in a helper: %i\n",
        ]
    )


def test_static_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    tl.static_print("B is", B, v, f"{B * 2}", sep=", ", end="!")
    tl.store(x + tl.arange(0, B), v)
"""
    compile(kernel(tmp_path, source), "cpu", {"x": "*f32"}, {"B": 8}, cache_dir=tmp_path)
    assert capsys.readouterr() == ("", "B is, 8, a tile of f32 [8], 16!")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("tl.device_print(v)", "the first argument of tl.device_print is a string known at compile time, got a tile of f32 [8]"),
        ("tl.device_print('caf\\xe9', v)", "the first argument of tl.device_print is printable ASCII, and has 'é'"),
        ("tl.device_print('v', v, hex=v)", "hex of tl.device_print is True or False, known at compile time, got a tile of f32 [8]"),
        ("tl.device_assert(v > 0, v)", "the message of tl.device_assert is a string known at compile time, got a tile of f32 [8]"),
        ("assert v > 0, v", "the message of an assertion is known at compile time, got a tile of f32 [8]"),
    ],
)  # fmt: skip
def test_wrong_calls(call: str, message: str, tmp_path: Path) -> None:
    """Assertions are checked also where they are left out."""
    source = f"""
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    {call}
"""
    with pytest.raises(UserError) as caught:
        compile(kernel(tmp_path, source), "cpu", {"x": "*f32"}, cache_dir=tmp_path)
    assert [d.message for d in caught.value.diagnostics] == [message]


ACCESSES = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(o + at, v, mask=at < n)
    if tl.program_id(0) == 1:
        tl.store(o - 2, 7.0)
        tl.atomic_add(o + 40, 1.0)
"""


@pytest.mark.parametrize("target", HOST_TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_accesses_outside_of_the_arrays(target: str, dtype: Any, tmp_path: Path) -> None:
    """Each is told once a program with the nearest element, and is not carried out; all others are."""
    behind = np.full(64, 5, dtype)
    x, o = np.arange(20, dtype=dtype), behind[8:28]
    spelled = kernel(tmp_path, ACCESSES)
    with pytest.raises(KernelError) as caught:
        run(spelled, {"x": x, "o": o, "n": 20}, grid=2, const={"BLOCK": 16}, target=target, debug=True)
    path = spelled.rpartition(":")[0]
    assert str(caught.value).splitlines() == [
        "kernel: load of x[20], which has 20 elements, by program (1, 0, 0)",
        f"  {path}:9: v = tl.load(x + at)",
        "kernel: store of o[-2], which has 20 elements, by program (1, 0, 0)",
        f"  {path}:12: tl.store(o - 2, 7.0)",
        "kernel: atomic access of o[40], which has 20 elements, by program (1, 0, 0)",
        f"  {path}:13: tl.atomic_add(o + 40, 1.0)",
    ]
    assert o.tolist() == x.tolist()
    assert behind[:8].tolist() == [5] * 8
    assert behind[28:].tolist() == [5] * 36


RACES = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, total, BLOCK: tl.constexpr, STEP: tl.constexpr):
    at = tl.program_id(0) * STEP + tl.program_id(1) * 64 + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(o + at, v)
    tl.store(o + at, v + 1)
    tl.atomic_add(total, tl.sum(v))
"""


@pytest.mark.parametrize("target", HOST_TARGETS)
@pytest.mark.parametrize("num_warps", [1, 4])
def test_programs_that_write_the_same_address(target: str, num_warps: int, tmp_path: Path) -> None:
    args: dict[str, Any] = {"x": np.arange(128.0), "o": np.zeros(128), "total": np.zeros(1)}
    spelled = kernel(tmp_path, RACES)
    options: dict[str, Any] = {"target": target, "debug": True, "num_warps": num_warps}
    run(spelled, args, grid=(4, 2), const={"BLOCK": 16, "STEP": 16}, **options)
    assert args["o"].tolist() == (args["x"] + 1).tolist()
    assert args["total"][0] == args["x"].sum()
    with pytest.raises(KernelError) as caught:
        run(spelled, args, grid=(3, 1), const={"BLOCK": 16, "STEP": 15}, **options)
    lines = str(caught.value).splitlines()
    assert lines[::2] == [
        f"kernel: o[{at}] is written by program ({x}, 0, 0), and by another before it"
        for at, x in ((15, 1), (30, 2))
    ]
    assert {line.rpartition(": ")[2] for line in lines[1::2]} == {"tl.store(o + at, v)"}


@pytest.mark.parametrize("target", HOST_TARGETS)
def test_right_kernels_are_found_right(target: str, tmp_path: Path) -> None:
    """Strided, reversed and empty arrays, scalar accesses, masks: nothing is said of what is right."""
    source = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, o, empty, last, n, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at * stride, mask=at < n, other=0.0)
    w = tl.load(empty + at, mask=at < 0, other=1.0)
    tl.store(o + at, v + w, mask=at < n)
    tl.store(last, tl.load(x))
"""
    x = np.arange(10, dtype=np.float32)[::-2]
    args: dict[str, Any] = {
        "x": x, "o": np.zeros(5, np.float32), "empty": np.zeros(0, np.float32), "last": np.zeros((), np.float32),
        "n": 5, "stride": -2,
    }  # fmt: skip
    run(kernel(tmp_path, source), args, grid=1, const={"BLOCK": 8}, target=target, debug=True)
    assert args["o"].tolist() == [10, 8, 6, 4, 2]
    assert args["last"] == 9
