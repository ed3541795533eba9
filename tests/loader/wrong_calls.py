"""Calls that are wrong, each in one way. What is said of them is in ``tests/golden/loader/wrong_calls.txt``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.runtime.fake_arrays import CudaArray, CupyArray, DLPackArray, Tensor

GOLDEN = Path(__file__).parents[1] / "golden" / "loader" / "wrong_calls.txt"

#: Given the package of the zoo and that of vector_add, makes the call.
Case = Callable[[Any, Any], object]

_cases: list[tuple[str, Case]] = []


def case(function: Case) -> Case:
    """Adds a case, called by its function's name."""
    _cases.append((function.__name__.replace("_", " ").strip(), function))
    return function


def f32(n: int = 1024) -> Any:
    return np.zeros(n, np.float32)


def host(dtype: str = "float32", address: int = 0x10000, **more: Any) -> Tensor:
    """A tensor on the host, at a known address: nothing that passes the checks may be launched on it."""
    return Tensor(dtype, "cpu", address=address, **more)


# Count and names.


@case
def no_arguments(z: Any, v: Any) -> object:
    return v.vector_add()


@case
def one_missing(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32())


@case
def one_missing_in_the_middle(z: Any, v: Any) -> object:
    return v.vector_add(f32(), out_ptr=f32(), n_elements=1)


@case
def one_too_many(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, 128)


@case
def too_many_for_a_kernel_without_any(z: Any, v: Any) -> object:
    return z.nothing(1)


@case
def given_twice(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, a_ptr=f32())


@case
def misspelled_const(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, BLOCKSIZE=128)


@case
def misspelled_argument(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), n_element=1024)


@case
def unknown_name(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, zzz=1)


@case
def dtype_variable_in_a_call(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, D="f32")


@case
def several_names_at_once(z: Any, v: Any) -> object:
    return v.vector_add(f32(), b_ptr=f32(), outptr=f32(), BLOCK=1)


@case
def launch_with_too_few(z: Any, v: Any) -> object:
    return v.vector_add.spec().launch((f32(), f32(), f32()), (1,))


@case
def launch_without_a_tuple(z: Any, v: Any) -> object:
    return v.vector_add.spec().launch(5, (1,))


@case
def spec_with_an_argument(z: Any, v: Any) -> object:
    return v.vector_add.spec(a_ptr=f32())


# What kind of thing.


@case
def integer_for_an_array(z: Any, v: Any) -> object:
    return v.vector_add(5, f32(), f32(), 1024)


@case
def list_for_an_array(z: Any, v: Any) -> object:
    return v.vector_add([1.0, 2.0], f32(), f32(), 1024)


@case
def none_for_an_array(z: Any, v: Any) -> object:
    return v.vector_add(None, f32(), f32(), 1024)


@case
def array_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), np.array(1024))


@case
def tensor_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), host("int64", elements=1))


@case
def float_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024.0)


@case
def numpy_float_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), np.float32(1024))


@case
def bool_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), True)


@case
def numpy_bool_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), np.bool_(False))


@case
def string_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), "1024")


@case
def none_for_an_integer(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), None)


@case
def bool_for_a_float(z: Any, v: Any) -> object:
    return z.affine(f32(), None, f32(), 1024, True, False)


@case
def complex_for_a_float(z: Any, v: Any) -> object:
    return z.affine(f32(), None, f32(), 1024, 1j, False)


@case
def integer_for_a_bool(z: Any, v: Any) -> object:
    return z.affine(f32(), None, f32(), 1024, 1.0, 1)


@case
def number_where_an_array_or_none_is_taken(z: Any, v: Any) -> object:
    return z.affine(f32(), 0, f32(), 1024, 1.0, False)


@case
def something_strange(z: Any, v: Any) -> object:
    class Strange:
        def __repr__(self) -> str:
            raise RuntimeError("not even this")

    return v.vector_add(Strange(), f32(), f32(), 1024)


# Dtypes.


@case
def dtype_that_is_not_built(z: Any, v: Any) -> object:
    return v.vector_add(*(np.zeros(8) for _ in range(3)), 8)


@case
def dtypes_that_do_not_agree(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32().astype(np.float16), f32(), 1024)


@case
def byte_swapped(z: Any, v: Any) -> object:
    return v.vector_add(f32().astype(">f4"), f32(), f32(), 1024)


@case
def complex_array(z: Any, v: Any) -> object:
    return v.vector_add(f32().astype(np.complex64), f32(), f32(), 1024)


@case
def fp8_array(z: Any, v: Any) -> object:
    return v.vector_add(f32().astype(ml_dtypes.float8_e4m3fn), f32(), f32(), 1024)


@case
def record_array(z: Any, v: Any) -> object:
    return v.vector_add(np.zeros(8, [("x", "f4")]), f32(), f32(), 1024)


@case
def tensor_of_another_dtype(z: Any, v: Any) -> object:
    return v.vector_add(Tensor("float64"), Tensor(), Tensor(), 1024)


@case
def dlpack_of_vectors(z: Any, v: Any) -> object:
    return v.vector_add(DLPackArray(dtype=(2, 32, 4)), Tensor(), Tensor(), 1024)


@case
def unsigned_for_signed(z: Any, v: Any) -> object:
    return z.where_am_i(np.zeros(6, np.uint32), grid=(1,))


@case
def dtype_for_one_specialisation(z: Any, v: Any) -> object:
    return v.vector_add.spec(D="f16").launch((f32(), f32(), f32(), 1024), (8,))


# Ranges.


@case
def integer_above_i32(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 2**31)


@case
def integer_below_i32(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), -(2**31) - 1)


@case
def integer_of_many_digits(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 10**5000)


def scalars(z: Any, **changed: Any) -> object:
    right = {"flag": False, **dict.fromkeys("abcdefgh", 0), **dict.fromkeys("pqrs", 0.0)}
    return z.scalars(np.zeros(13), **(right | changed))


@case
def every_number_out_of_range(z: Any, v: Any) -> object:
    return scalars(
        z,
        a=128,
        b=-1,
        c=-32769,
        d=65536,
        e=2**31,
        f=-1,
        g=2**63,
        h=2**64,
        p=65520.0,
        q=3.4e38,
        r=1e39,
        s=10**400,
    )


@case
def negative_for_unsigned(z: Any, v: Any) -> object:
    return scalars(z, f=-5)


@case
def numpy_scalar_out_of_range(z: Any, v: Any) -> object:
    return scalars(z, a=np.int16(300))


@case
def no_number_type_can_hold_it(z: Any, v: Any) -> object:
    return z.affine(f32(), None, f32(), 2**63, 1.0, False)


@case
def out_of_range_with_nothing_to_launch(z: Any, v: Any) -> object:
    return z.affine(host("float16"), None, host("float16"), 0, 1e6, False)


# Addresses.


@case
def not_aligned_as_assumed(z: Any, v: Any) -> object:
    return v.vector_add(host(address=0x10004), host(), host(), 1024)


@case
def not_aligned_to_its_elements(z: Any, v: Any) -> object:
    return v.vector_add(host(), host(address=0x10002), host(), 1024)


@case
def not_aligned_on_a_device(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(address=0x10008), Tensor(), Tensor(), 1024)


@case
def null_for_an_array_with_elements(z: Any, v: Any) -> object:
    return v.vector_add(host(), host(address=0), host(), 1024)


@case
def a_value_that_is_assumed(z: Any, v: Any) -> object:
    return z.count_rows(f32(), f32(), 2, grid=(1,))


@case
def a_multiple_that_is_assumed(z: Any, v: Any) -> object:
    return z.large_rows(f32(), f32(), 6, grid=(1,))


# Layouts and access.


@case
def not_contiguous(z: Any, v: Any) -> object:
    return v.vector_add(f32(2048)[::2], f32(), f32(), 1024)


@case
def transposed(z: Any, v: Any) -> object:
    return v.vector_add(np.zeros((8, 4), np.float32).T, f32(), f32(), 32)


@case
def tensor_that_is_not_contiguous(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(contiguous=False), Tensor(), Tensor(), 1024)


@case
def dlpack_that_is_not_contiguous(z: Any, v: Any) -> object:
    return v.vector_add(DLPackArray(strides=(2,)), DLPackArray(), DLPackArray(), 1024)


@case
def read_only_output(z: Any, v: Any) -> object:
    out = f32()
    out.flags.writeable = False
    return v.vector_add(f32(), f32(), out, 1024)


@case
def read_only_dlpack_output(z: Any, v: Any) -> object:
    return v.vector_add(DLPackArray(), DLPackArray(), DLPackArray(read_only=True), 1024)


@case
def read_only_cuda_output(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(), Tensor(), CudaArray(data=(0x7F0000000000, True)), 1024)


# Devices.


@case
def host_array_among_device_arrays(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(), f32(), Tensor(), 1024)


@case
def device_array_among_host_arrays(z: Any, v: Any) -> object:
    return v.vector_add(f32(), Tensor(), CupyArray(device=1), 1024)


@case
def two_devices(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(), Tensor(device="cuda:1"), Tensor(), 1024)


@case
def neither_host_nor_cuda(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(device="meta"), Tensor(device="meta"), Tensor(device="meta"), 1024)


@case
def host_arrays_for_a_gpu_target(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, target="sm_90a")


@case
def device_arrays_for_the_host(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(), Tensor(), Tensor(), 1024, target="cpu")


@case
def host_array_for_a_package_without_host_code(z: Any, v: Any) -> object:
    return z.only_gpu(np.zeros(6, np.int32))


@case
def device_array_for_a_package_without_gpu_code(z: Any, v: Any) -> object:
    return z.only_host(Tensor("int32"))


@case
def device_that_is_not_there(z: Any, v: Any) -> object:
    return v.vector_add(*(Tensor(device="cuda:7") for _ in range(3)), 1024)


@case
def device_that_nothing_runs_on(z: Any, v: Any) -> object:
    return v.vector_add(*(Tensor(device="cuda:2") for _ in range(3)), 1024)


@case
def target_that_does_not_run_there(z: Any, v: Any) -> object:
    return z.only_gpu(Tensor("int32", "cuda:3"), target="sm_90a")


@case
def unknown_target(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, target="sm_80")


@case
def nothing_says_where(z: Any, v: Any) -> object:
    return z.nothing()


@case
def pointer_that_the_driver_does_not_know(z: Any, v: Any) -> object:
    return v.vector_add(CudaArray(data=(0x50000, False)), Tensor(), Tensor(), 1024)


# Consts, options, combinations.


@case
def const_that_is_not_built(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, BLOCK_SIZE=256)


@case
def const_of_another_type(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, BLOCK_SIZE=128.0)


@case
def const_that_is_a_list(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, BLOCK_SIZE=[128])


@case
def bool_for_a_const(z: Any, v: Any) -> object:
    return z.awkward(1, 2, 3, 4, np.zeros(1, np.int32), auto=True)


@case
def option_that_is_not_built(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, num_warps=8)


@case
def two_values_that_are_not_built(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, num_warps=8, BLOCK_SIZE=1)


@case
def combination_that_is_excluded(z: Any, v: Any) -> object:
    return v.vector_add(*(np.zeros(8, ml_dtypes.bfloat16) for _ in range(3)), 8, BLOCK_SIZE=128)


@case
def configs_mixed(z: Any, v: Any) -> object:
    return z.transpose_copy(np.zeros((4, 4), np.int32), np.zeros((4, 4), np.int32), 4, 4, 4, 1, BM=16, BN=16)


@case
def spec_that_is_excluded(z: Any, v: Any) -> object:
    return v.vector_add.spec(D="bf16", BLOCK_SIZE=128)


@case
def spec_of_an_unknown_dtype(z: Any, v: Any) -> object:
    return v.vector_add.spec(D="f64")


@case
def spec_of_a_variant_that_there_is_none_of(z: Any, v: Any) -> object:
    return z.where_am_i.spec(auto=True)


@case
def array_where_this_specialisation_takes_none(z: Any, v: Any) -> object:
    return z.affine.spec(B="none").launch((f32(), f32(), f32(), 1024, 1.0, False))


@case
def none_where_this_specialisation_takes_an_array(z: Any, v: Any) -> object:
    return z.affine.spec(B="*f32").launch((f32(), None, f32(), 1024, 1.0, False))


# Grids and streams.


@case
def no_grid(z: Any, v: Any) -> object:
    return z.where_am_i(np.zeros(6, np.int32))


@case
def grid_of_zero(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, grid=(0,))


@case
def grid_of_a_float(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, grid=(8.0,))


@case
def grid_of_four(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, grid=(1, 1, 1, 1))


@case
def grid_that_is_a_number(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, grid=8)


@case
def grid_too_large_for_a_gpu(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(), Tensor(), Tensor(), 1024, grid=(1, 70000))


@case
def grid_computed_below_zero(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), -1024)


@case
def stream_that_is_none(z: Any, v: Any) -> object:
    return v.vector_add(Tensor(), Tensor(), Tensor(), 1024, stream="default")


@case
def stream_on_the_host(z: Any, v: Any) -> object:
    return v.vector_add(f32(), f32(), f32(), 1024, stream=0)


# Several things at once, and things that go wrong by themselves.


@case
def several_arguments_at_once(z: Any, v: Any) -> object:
    return v.vector_add(f32(2048)[::2], 5, f32(), 1.5)


@case
def several_values_at_once(z: Any, v: Any) -> object:
    out = f32()
    out.flags.writeable = False
    return v.vector_add.spec(D="f32").launch((host(address=0x10004), f32(2048)[::2], out, 2**40), (8,))


@case
def array_that_cannot_be_read(z: Any, v: Any) -> object:
    class Deleted(DLPackArray):
        def __dlpack__(self, **named: Any) -> Any:
            raise RuntimeError("array has been deleted")

    Deleted.__module__, Deleted.__qualname__ = "jaxlib", "ArrayImpl"
    return v.vector_add(Deleted(), Tensor(), Tensor(), 1024)


@case
def use_after_unload(z: Any, v: Any) -> object:
    spec = v.vector_add.spec(BLOCK_SIZE=1024)
    spec.unload()
    try:
        return spec.launch((f32(), f32(), f32(), 1024))
    finally:
        spec.load()


@case
def loading_where_nothing_runs(z: Any, v: Any) -> object:
    return v.vector_add.load(2)


@case
def loading_the_host_on_a_device(z: Any, v: Any) -> object:
    return v.vector_add.load(0, target="cpu")


CASES: dict[str, Case] = dict(_cases)


def complaint(make: Case, zoo: Any, vector_add: Any) -> str:
    """The class and the text of what a call raises."""
    try:
        make(zoo, vector_add)
    except (zoo.LaunchError, vector_add.LaunchError) as error:
        # NumPy 1 has another name for it.
        return f"{type(error).__name__}: {error}".replace("numpy.bool_", "numpy.bool")
    return "nothing is wrong"


def read_golden() -> dict[str, str]:
    """What is expected of each case."""
    blocks = GOLDEN.read_text(encoding="utf-8").split("\n\n")
    found: dict[str, str] = {}
    for block in blocks:
        name, _, rest = block.strip("\n").partition("\n")
        found[name.removeprefix("## ")] = "\n".join(line.removeprefix("    ") for line in rest.split("\n"))
    return found


def write_golden(found: dict[str, str]) -> None:
    """Writes what is expected of each case."""
    blocks = [
        f"## {name}\n" + "\n".join(f"    {line}" for line in text.split("\n")) for name, text in found.items()
    ]
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
