"""Calls with tuples and tensor descriptors: on the host against NumPy, and on a GPU as a fake driver sees them."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtime.fake_arrays import CudaArray, DLPackArray, Tensor
from tests.runtime.fake_driver import FakeDevice, FakeDriver

from .manifests import NESTED
from .packages import imported, install
from .test_host import aligned, poisoned

ADDRESS = 0x7F0000000000


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with imported(install(NESTED, tmp_path_factory.mktemp("nested"))) as kernels:
        yield kernels


@dataclass
class Descriptor:
    """As ``triton.tools.tensor_descriptor.TensorDescriptor``."""

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"


class Strided(Tensor):
    """A tensor that says how it lies."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.shape, self._strides = shape, strides

    def stride(self) -> tuple[int, ...]:
        return self._strides


def described(array: np.ndarray[Any, Any], block: tuple[int, int], padding: str = "zero") -> Descriptor:
    return Descriptor(array, array.shape, [s // array.itemsize for s in array.strides], block, padding)


def random(shape: Any, dtype: Any) -> Any:
    return aligned(np.random.default_rng().standard_normal(shape).astype(dtype).reshape(-1), 64).reshape(
        shape
    )


@pytest.mark.parametrize("widths", [(5, 9), (70, 1, 130), (0, 3, 4)])
@pytest.mark.parametrize("kind", [tuple, list])
def test_tuples_of_several_lengths(nested: Any, widths: tuple[int, ...], kind: type) -> None:
    rng = np.random.default_rng()
    arrays = [rng.integers(-9, 9, (4, width)).astype(np.int32) for width in widths]
    out = poisoned((4, sum(widths)), np.int32)
    nested.concat(kind(arrays), kind(widths), (4, np.int64(sum(widths))), out)
    np.testing.assert_array_equal(out, np.concatenate(arrays, axis=1))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_tuples_in_tuples(nested: Any, dtype: Any, bias: bool) -> None:
    x, out = random(300, dtype), random(300, dtype)
    more = random(300, np.float32) if bias else None
    work = ((x, out), more, np.float32(2))
    assert nested.affine_of.pick(work, 300).auto
    nested.affine_of(work, n=300)
    expected = x.astype(np.float32) * np.float32(2)
    np.testing.assert_array_equal(out, (expected if more is None else expected + more).astype(dtype))
    moved = aligned(x, 64, shift=x.itemsize)
    picked = nested.affine_of.pick(((moved, out), more, 2.5), 300)
    assert not picked.auto
    assert picked.types["work"] == f"((*{'f32' if dtype == np.float32 else 'f16'}, " + (
        f"*{'f32' if dtype == np.float32 else 'f16'}), {'*f32' if bias else 'none'}, "
        f"{'f32' if dtype == np.float32 else 'f16'})"
    )
    picked.launch((((moved, out), more, 1), 300))
    np.testing.assert_array_equal(out, (x if more is None else x.astype(np.float32) + more).astype(dtype))


def shifted(x: Any, by: int, outside: float = 0) -> Any:
    expected = np.full_like(x, outside)
    expected[: max(len(x) - by, 0)] = x[by:]
    return expected


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", [(37, 72), (16, 32), (1, 8), (0, 8)])
def test_arrays_as_descriptors(nested: Any, shape: tuple[int, int], dtype: Any) -> None:
    x, out = random(shape, dtype), random(shape, dtype)
    nested.shift(x, out, 3)
    np.testing.assert_array_equal(out, shifted(x, 3))


def test_rows_with_gaps(nested: Any) -> None:
    """No strides are asked for, and still arrays need not be contiguous: a descriptor says how they lie."""
    whole, out = random((20, 64), np.float32), random((20, 64), np.float32)
    before = out.copy()
    nested.shift(whole[:, 4:44], out[:, :40], 2)
    np.testing.assert_array_equal(out[:, :40], shifted(whole[:, 4:44], 2))
    np.testing.assert_array_equal(out[:, 40:], before[:, 40:])


def test_explicit_descriptors_choose_by_their_blocks(nested: Any) -> None:
    x, out = random((21, 48), np.float32), random((21, 48), np.float32)
    for block in ((16, 32), (8, 16)):
        source, target = described(x, block, "nan"), described(out, block)
        assert nested.shift.pick(source, target, 4).consts == {"BM": block[0], "BN": block[1]}
        nested.shift(source, target, 4)
        np.testing.assert_array_equal(out, shifted(x, 4, np.nan))
    assert nested.shift.pick(x, described(out, (8, 16)), 4).consts == {"BM": 8, "BN": 16}
    assert nested.shift.pick(x, out, 4).auto
    assert not nested.shift.pick(x[:, :20], out, 4).auto


def test_part_of_an_array(nested: Any) -> None:
    x, out = random((8, 64), np.float32), np.zeros((8, 64), np.float32)
    nested.shift(Descriptor(x, (4, 24), (128, 1), (8, 16)), Descriptor(out, (4, 24), (64, 1), (8, 16)), 0)
    expected = np.zeros_like(out)
    expected[:4, :24] = x[::2, :24]
    np.testing.assert_array_equal(out, expected)


X = np.zeros((16, 32), np.float32)
OUT = np.zeros((16, 32), np.float32)
INTS = np.zeros((2, 4), np.int32)
F = aligned(np.zeros(64, np.float32), 64)

#: Name → call, and what it is told.
WRONG: dict[str, tuple[str, tuple[Any, ...], str]] = {
    "too many entries": ("concat", ((INTS,) * 4, (4, 4), (2, 8), INTS), "concat: ptrs: expected a tuple of 2 or 3, got one of 4"),
    "no tuple": ("concat", (INTS, (4, 4), (2, 8), INTS), "concat: ptrs: expected a tuple (*i32, *i32) or (*i32, *i32, *i32), got an array of i32 (numpy.ndarray)"),
    "an entry of another dtype": ("concat", ((INTS, F), (4, 4), (2, 8), INTS), "concat: ptrs[1]: expected an array of i32, got an array of f32 (numpy.ndarray)"),
    "several entries": ("concat", ((INTS, 3), (4, 4.5), (2, 8), None), "concat: 3 arguments are wrong\n  ptrs[1]: expected an array of i32, got the int 3\n  widths[1]: expected an integer (i32), got the float 4.5\n  out_ptr: expected an array of i32, got None"),
    "lengths that do not go together": ("concat", ((INTS, INTS), (4, 4, 4), (2, 8), INTS), "concat: no specialisation for cpu fits\n  nearest: {concat2}, but widths: expected a tuple of 2, got one of 3\n  there are: {concat2}, {concat3}"),
    "a number out of range": ("concat", ((INTS, INTS), (4, 2**31), (2, 8), INTS), "{concat2}: widths[1]: expected -2147483648 to 2147483647 (i32), got 2147483648"),
    "an array of another shape of tuple": ("affine_of", ((F, F, None, 1.0), 4), "affine_of: work: expected a tuple of 3, got one of 4"),
    "an inner entry": ("affine_of", (((F, None), None, 1.0), 4), "affine_of: work[0][1]: expected an array of f32 or f16, got None"),
    "a tuple for an array": ("affine_of", (((F, (F,)), None, 1.0), 4), "affine_of: work[0][1]: expected an array of f32 or f16, got a tuple of 1"),
    "an entry that is not contiguous": ("affine_of", (((F[::2], F), None, 1.0), 4), "affine_of__f32__none__128__a: work[0][0]: expected a contiguous array, got one with gaps or in another order; the kernel takes no strides"),
    "entries in several places": ("affine_of", (((F, Tensor()), None, 1.0), 4), "affine_of__f32__none__128__a: work[0][1]: expected an array on the host, where work[0][0] is, got one on CUDA device 0"),
    "other blocks": ("shift", (described(X, (16, 16)), OUT, 0), "shift: source: expected an array of f32 or f16 (or a descriptor of one, with blocks [16, 32] or [8, 16]), got a descriptor desc<f32[16, 16]> (tests.loader.test_nested.Descriptor)"),
    "another number of axes": ("shift", (F, OUT, 0), "shift__f32__16__32: source: expected 2 axes, as blocks of [16, 32] have, got 1"),
    "a last stride": ("shift", (X.T, OUT, 0), "shift__f32__16__32: source: expected a last stride of 1, got 32: elements of a row lie next to each other"),
    "strides that are not aligned": ("shift", (np.zeros((4, 31), np.float32), OUT, 0), "shift__f32__16__32: source: expected strides that are multiples of 16 bytes (4 elements), got 31 elements for axis 0"),
    "strides that are no elements": (
        "shift",
        (np.zeros((4, 8), [("a", "<f4"), ("b", "i1")])["a"], OUT, 0),
        "shift__f32__16__32: source: its shape and strides cannot be read: ValueError: its strides are no multiples of 4 bytes, an element",
    ),
    "an address that is not aligned": ("shift", (aligned(F, 64, shift=4).reshape(4, 16), OUT, 0), "shift__f32__16__32: source: expected an address that is a multiple of 16, as the specialisation assumes, got {address}"),
    "padding of another kind": ("shift", (described(X, (16, 32), "one"), OUT, 0), "shift__f32__16__32: source: expected padding 'zero' or 'nan', got 'one'"),
    "a shape beyond the array": ("shift", (Descriptor(X, (17, 32), (32, 1), (16, 32)), OUT, 0), "shift__f32__16__32: source: expected a shape within the array, which has 512 elements, got one that reaches 544"),
    "an extent below 0": ("shift", (Descriptor(X, (-1, 32), (32, 1), (16, 32)), OUT, 0), "shift__f32__16__32: source: expected extents from 0 to 2147483647, got -1 for axis 0"),
    "shape and strides of two lengths": ("shift", (Descriptor(X, (16, 32), (1,), (16, 32)), OUT, 0), "shift__f32__16__32: source: expected 2 axes, as blocks of [16, 32] have, got 2 extents and 1 strides"),
    "a base that is no array": ("shift", (Descriptor(3, (16, 32), (32, 1), (16, 32)), OUT, 0), "shift: source: tests.loader.test_nested.Descriptor cannot be read: TypeError: its base is no array but int"),
    "a target that is read-only": ("shift", (X, np.broadcast_to(np.float32(0), (16, 32)), 0), "shift__f32__16__32: target: expected a last stride of 1, got 0: elements of a row lie next to each other"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(nested: Any, name: str) -> None:
    kernel, arguments, message = WRONG[name]
    kernels = {f"concat{len(s.types['ptrs'].split(','))}": s.id for s in nested.concat.specialisations}
    with pytest.raises(nested.LaunchError) as caught:
        getattr(nested, kernel)(*arguments)
    address = hex(arguments[0].ctypes.data) if "{address}" in message else ""
    assert str(caught.value) == message.format(**kernels, address=address)


def test_a_launch_is_told_of_entries_too(nested: Any) -> None:
    one = nested.affine_of.spec(D="f32", B="none")
    with pytest.raises(nested.LaunchError) as caught:
        one.launch((((F, INTS), F, 1.0), 4))
    assert str(caught.value) == (
        "affine_of__f32__none__128: 2 arguments are wrong\n"
        "  work[0][1]: expected an array of f32, got an array of i32 (numpy.ndarray)\n"
        "  work[1]: expected None, got an array of f32 (numpy.ndarray)"
    )


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    found = FakeDriver(FakeDevice())
    found.pointers.update({ADDRESS: 0, ADDRESS + 4096: 0})
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", found)
    return found


def test_entries_on_a_gpu(driver: FakeDriver, tmp_path: Path) -> None:
    with imported(install(NESTED, tmp_path)) as kernels:
        tensors = [Tensor("int32", address=ADDRESS + 4096 * n) for n in range(4)]
        kernels.concat(tuple(tensors[:3]), (5, 6, 7), (2, 18), tensors[3])
    [launch] = driver.launches
    assert launch.grid == (2, 1, 1)
    assert launch.integers == [*(ADDRESS + 4096 * n for n in range(3)), 5, 6, 7, 2, 18, ADDRESS + 3 * 4096, 2, 1, 1, 0]  # fmt: skip


@pytest.mark.parametrize("kind", ["tensor", "descriptor", "interface", "dlpack"])
def test_descriptors_on_a_gpu(driver: FakeDriver, tmp_path: Path, kind: str) -> None:
    target = Strided((20, 48), (48, 1), address=ADDRESS + 4096, elements=960)
    source: Any = Strided((20, 40), (64, 1), address=ADDRESS, contiguous=False)
    padding = 0
    if kind == "descriptor":
        source, padding = Descriptor(source, (20, 40), (64, 1), (16, 32), "nan"), 1
    elif kind == "interface":
        source = CudaArray(shape=(20, 40), strides=(256, 4))
    elif kind == "dlpack":
        source = DLPackArray(shape=(20, 40), strides=(64, 1))
    with imported(install(NESTED, tmp_path)) as kernels:
        kernels.shift(source, target, -2)
    [launch] = driver.launches
    assert launch.grid == (2, 2, 1)
    expected = [
        struct.pack("<Q", ADDRESS), struct.pack("<i", 20), struct.pack("<i", 40), struct.pack("<q", 64), bytes([padding]),
        struct.pack("<Q", ADDRESS + 4096), struct.pack("<i", 20), struct.pack("<i", 48), struct.pack("<q", 48), b"\0",
        struct.pack("<i", -2),
    ]  # fmt: skip
    assert launch.parameters[: len(expected)] == expected
