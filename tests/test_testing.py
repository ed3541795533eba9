"""``teenybuild.testing``: what a user's own test says of a kernel that is right, and of each way to be wrong."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import teenybuild
from teenybuild.testing import check, run

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def forgets_the_last(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n - 1)


@triton.jit
def count(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum((tl.load(x_ptr + i, mask=i < n, other=0.0) > 0).to(tl.int32), axis=0))
"""


@pytest.fixture
def kernels(tmp_path: Path) -> str:
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE)
    return str(path)


def scaled(x_ptr: Any, factor: float, **_: Any) -> dict[str, Any]:
    return {"out_ptr": x_ptr * factor}


def arguments(dtype: Any, n: int = 1003) -> dict[str, Any]:
    x = np.random.default_rng().standard_normal(n).astype(dtype)
    return {"x_ptr": x, "out_ptr": np.empty_like(x), "factor": 1.5, "n": n}


def test_numbers_too_small_to_be_normal_may_be_off_by_half_a_step(kernels: str) -> None:
    """Half a step, 3e-8, is more than 2e-3 of the value here."""
    x = np.array([1.0e-5, 2.3e-6], np.float16)
    args = {"x_ptr": x, "out_ptr": np.empty_like(x), "factor": 0.7, "n": 2}
    check(f"{kernels}:scale", scaled, args, const={"BLOCK": 32}, grid=(1,))
    with pytest.raises(AssertionError, match="off by"):
        check(f"{kernels}:scale", scaled, args, const={"BLOCK": 32}, grid=(1,), tolerance=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64])
def test_a_right_kernel_passes_and_the_arguments_stay_as_they_were(kernels: str, dtype: Any) -> None:
    args = arguments(dtype)
    args["out_ptr"][:] = 7
    check(f"{kernels}:scale", scaled, args, const={"BLOCK": 128}, grid=(8,))
    assert (args["out_ptr"] == 7).all()


def test_what_is_not_written_shows(kernels: str) -> None:
    with pytest.raises(AssertionError, match=r"out_ptr.*1002"):
        check(f"{kernels}:forgets_the_last", scaled, arguments(np.float32), const={"BLOCK": 128}, grid=(8,))


def test_a_grid_that_is_too_small_shows(kernels: str) -> None:
    with pytest.raises(AssertionError, match=r"out_ptr"):
        check(f"{kernels}:scale", scaled, arguments(np.float32), const={"BLOCK": 128}, grid=(7,))


def test_a_wrong_value_says_where_and_how_far(kernels: str) -> None:
    def other(x_ptr: Any, **_: Any) -> dict[str, Any]:
        wanted = x_ptr * 1.5
        wanted[17] += 1
        return {"out_ptr": wanted}

    with pytest.raises(AssertionError, match=r"^out_ptr\[17\] on cpu is") as caught:
        check(f"{kernels}:scale", other, arguments(np.float32), const={"BLOCK": 128}, grid=(8,))
    assert "off by" in str(caught.value)
    check(f"{kernels}:scale", other, arguments(np.float32), const={"BLOCK": 128}, grid=(8,), tolerance=1.0)
    check(
        f"{kernels}:scale",
        other,
        arguments(np.float32),
        const={"BLOCK": 128},
        grid=(8,),
        tolerance={"out_ptr": 1.0},
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "writes out_ptr, which the reference does not give"),
        ({"out": 1, "out_ptr": 2}, "gives out, which is no array of the kernel\nhint: did you mean out_ptr"),
        (np.zeros(3), "gives a ndarray; it gives arrays by the names"),
        (None, "gives a NoneType"),
    ],
)
def test_a_reference_that_gives_something_else(kernels: str, given: Any, message: str) -> None:
    with pytest.raises(teenybuild.UserError, match=message):
        check(f"{kernels}:scale", lambda **_: given, arguments(np.float32), const={"BLOCK": 128}, grid=8)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64])
def test_what_is_not_written_is_no_nan(kernels: str, dtype: Any) -> None:
    args = arguments(dtype)
    args["x_ptr"][:] = np.nan
    check(f"{kernels}:scale", scaled, args, const={"BLOCK": 128}, grid=8)
    with pytest.raises(AssertionError, match=r"1 of 1003 elements are wrong"):
        check(f"{kernels}:forgets_the_last", scaled, args, const={"BLOCK": 128}, grid=8)


def test_integers_are_compared_exactly(kernels: str) -> None:
    x = np.random.default_rng().standard_normal(200).astype(np.float32)
    args = {"x_ptr": x, "out_ptr": np.zeros(1, np.int32), "n": 200}
    check(
        f"{kernels}:count",
        lambda x_ptr, **_: {"out_ptr": [(x_ptr > 0).sum()]},
        args,
        const={"BLOCK": 256},
        grid=(1,),
    )
    with pytest.raises(AssertionError):
        check(
            f"{kernels}:count",
            lambda x_ptr, **_: {"out_ptr": [(x_ptr > 0).sum() + 1]},
            args,
            const={"BLOCK": 256},
            grid=(1,),
        )


def test_integers_that_float64_cannot_tell_apart_are_told_apart(kernels: str) -> None:
    x = np.array([2**62 + 1, -7], np.int64)
    args = {"x_ptr": x, "out_ptr": np.zeros(2, np.int64), "factor": 1, "n": 2}
    check(f"{kernels}:scale", lambda x_ptr, **_: {"out_ptr": x_ptr}, args, const={"BLOCK": 2}, grid=(1,))
    with pytest.raises(AssertionError, match=rf"{2**62 + 1}, expected {2**62}"):
        check(
            f"{kernels}:scale",
            lambda x_ptr, **_: {"out_ptr": x_ptr - [1, 0]},
            args,
            const={"BLOCK": 2},
            grid=(1,),
        )


def test_a_reference_of_another_shape_is_said(kernels: str) -> None:
    with pytest.raises((AssertionError, teenybuild.UserError), match="shape"):
        check(
            f"{kernels}:scale",
            lambda **_: {"out_ptr": np.zeros(7)},
            arguments(np.float32),
            const={"BLOCK": 128},
            grid=(8,),
        )


def test_run_changes_arrays_in_place(kernels: str) -> None:
    args = arguments(np.float32)
    artifact = run(f"{kernels}:scale", args, const={"BLOCK": 128}, grid=(8,), num_warps=2)
    np.testing.assert_array_equal(args["out_ptr"], args["x_ptr"] * np.float32(1.5))
    assert artifact.abi["options"]["num_warps"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x_ptr": "text"}, "x_ptr is 'text'"),
        ({"x_ptr": np.zeros(3, np.complex64)}, "x_ptr has the dtype complex64"),
        ({"y": 1}, "names y, which scale does not have"),
        ({"n": 1 << 40}, "n: .*1099511627776"),
        ({"out_ptr": np.zeros(2006, np.float32)[::2]}, "out_ptr: .*contiguous"),
    ],
)
def test_wrong_arguments_are_errors_that_name_them(
    kernels: str, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(teenybuild.UserError, match=message):
        run(f"{kernels}:scale", {**arguments(np.float32), **change}, const={"BLOCK": 128}, grid=(8,))


@pytest.mark.parametrize("grid", [(), (0,), (-1,), (1, 1, 1, 1)])
def test_a_wrong_grid_is_an_error(kernels: str, grid: tuple[int, ...]) -> None:
    with pytest.raises(teenybuild.UserError, match="grid"):
        run(f"{kernels}:scale", arguments(np.float32), const={"BLOCK": 128}, grid=grid)


def test_a_gpu_target_is_no_target_for_tests(kernels: str) -> None:
    with pytest.raises(teenybuild.UserError, match="does not run on this machine"):
        run(f"{kernels}:scale", arguments(np.float32), const={"BLOCK": 128}, grid=(8,), target="sm_90a")


def test_an_array_of_another_dtype_than_is_said_is_an_error(kernels: str) -> None:
    types = {"x_ptr": "*f64"}
    with pytest.raises(teenybuild.UserError, match=r"x_ptr: expected .*f64"):
        run(f"{kernels}:scale", arguments(np.float32), const={"BLOCK": 128}, grid=8, types=types)


NESTED = """
import triton
import triton.language as tl


@triton.jit
def sums(ins, outs, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, (y, bias) = ins
    total = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    if bias is not None:
        total += tl.load(bias + i, mask=i < n)
    tl.store(outs[0] + i, total, mask=i < n)
    tl.store(outs[1] + i, -total, mask=i < n)


@triton.jit
def doubled(source, target, BM: tl.constexpr, BN: tl.constexpr):
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) * 2)
"""


@pytest.fixture
def nested(tmp_path: Path) -> str:
    path = tmp_path / "nested.py"
    path.write_text(NESTED)
    return str(path)


def nested_arguments(bias: bool) -> dict[str, Any]:
    rng = np.random.default_rng()
    x, y, b = (rng.standard_normal(300).astype(np.float32) for _ in range(3))
    return {"ins": (x, (y, b if bias else None)), "outs": (np.zeros_like(x), np.zeros_like(x)), "n": 300}


@pytest.mark.parametrize("bias", [False, True])
def test_tuples(nested: str, bias: bool) -> None:
    def sums(ins: Any, **_: Any) -> dict[str, Any]:
        x, (y, b) = ins
        total = x + y + (0 if b is None else b)
        return {"outs": (total, -total)}

    args = nested_arguments(bias)
    check(f"{nested}:sums", sums, args, const={"BLOCK": 128}, grid=3, tolerance={"outs": 1e-6})
    assert not args["outs"][0].any()
    with pytest.raises(AssertionError, match=r"^outs\[1\]\[\d+\] on cpu is"):
        check(
            f"{nested}:sums",
            lambda **a: {"outs": (sums(**a)["outs"][0],) * 2},
            args,
            const={"BLOCK": 128},
            grid=3,
        )
    with pytest.raises(AssertionError, match=r"^outs\[0\]\[256\] on cpu is nan"):
        check(f"{nested}:sums", sums, args, const={"BLOCK": 128}, grid=2)
    run(f"{nested}:sums", args, const={"BLOCK": 128}, grid=3)
    np.testing.assert_array_equal(args["outs"][0], -args["outs"][1])
    assert args["outs"][0].any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"outs[0]": 1, "outs[2]": 2}, r"gives outs\[2\], which is no array of the kernel"),
        ({"outs[0]": 1}, r"writes outs\[1\], which the reference does not give"),
        ({"outs": (1,)}, r"writes outs\[1\], which the reference does not give"),
    ],
)
def test_a_reference_that_gives_other_entries(nested: str, given: Any, message: str) -> None:
    with pytest.raises(teenybuild.UserError, match=message):
        check(f"{nested}:sums", lambda **_: given, nested_arguments(False), const={"BLOCK": 128}, grid=3)


def test_arrays_as_descriptors(nested: str) -> None:
    """An array is one where its type says so; with gaps between its rows, what is in them stays as it is."""
    whole = np.random.default_rng().standard_normal((20, 64)).astype(np.float32)
    types = dict.fromkeys(("source", "target"), "desc<f32[16, 32]>")
    target = np.zeros((20, 40), np.float32)
    args = {"source": whole[:, :40], "target": target}
    check(
        f"{nested}:doubled",
        lambda source, **_: {"target": 2 * source},
        args,
        const={"BM": 16, "BN": 32},
        grid=(2, 2),
        types=types,
    )
    run(f"{nested}:doubled", args, const={"BM": 16, "BN": 32}, grid=(2, 2), types=types)
    np.testing.assert_array_equal(target, 2 * whole[:, :40])
    with pytest.raises(
        teenybuild.UserError, match=r"source: expected strides that are multiples of 16 bytes"
    ):
        run(f"{nested}:doubled", {**args, "source": np.zeros((4, 5), np.float32)}, const={"BM": 16, "BN": 32}, grid=1, types=types)  # fmt: skip


def test_descriptors_that_say_their_blocks(nested: str) -> None:
    rng = np.random.default_rng()
    whole, out = rng.standard_normal((2, 20, 64)).astype(np.float32)
    source = SimpleNamespace(
        base=whole[:, 4:44], shape=(20, 40), strides=(64, 1), block_shape=[8, 16], padding="nan"
    )
    target = SimpleNamespace(base=out, shape=(20, 64), strides=(64, 1), block_shape=[8, 16])

    def doubled(source: Any, target: Any) -> dict[str, Any]:
        wanted = np.full(target.shape, np.nan)
        wanted[:, :40] = 2 * source
        return {"target": wanted}

    # The NaNs of what is padded are others than those of what nobody wrote.
    args = {"source": source, "target": target}
    check(f"{nested}:doubled", doubled, args, const={"BM": 8, "BN": 16}, grid=(3, 4))
    run(f"{nested}:doubled", args, const={"BM": 8, "BN": 16}, grid=(3, 4))
    np.testing.assert_array_equal(out[:, :40], 2 * whole[:, 4:44])
    assert np.isnan(out[:, 40:]).all()
