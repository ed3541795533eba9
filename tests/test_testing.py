"""``teenybuild.testing``: what a user's own test says of a kernel that is right, and of each way to be wrong."""

from __future__ import annotations

from pathlib import Path
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
