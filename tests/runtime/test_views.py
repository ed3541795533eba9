"""What is read of each framework's arrays, and of numbers."""

from __future__ import annotations

import enum
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teenybuild.runtime.views import ELSEWHERE, HOST, READERS, View, is_contiguous

from .fake_arrays import CupyArray, DLPackArray, Tensor, fake_cupy, fake_torch


def view(value: Any) -> View:
    return READERS[type(value)](value)


class Number(enum.IntEnum):
    SEVEN = 7


@pytest.mark.parametrize(
    ("value", "what", "read"),
    [
        (3, "int", 3),
        (-(10**30), "int", -(10**30)),
        (True, "bool", True),
        (2.5, "float", 2.5),
        (None, "none", None),
        (Number.SEVEN, "int", 7),
        (np.int8(-3), "int", -3),
        (np.uint64(2**64 - 1), "int", 2**64 - 1),
        (np.bool_(True), "bool", True),
        (np.float64(2.5), "float", 2.5),
        (np.float16(2.5), "float", 2.5),
        (ml_dtypes.bfloat16(2.5), "float", 2.5),
        (ml_dtypes.float8_e4m3fn(2.5), "float", 2.5),
    ],
)
def test_numbers(value: Any, what: str, read: Any) -> None:
    found = view(value)
    assert (found[0], found[1]) == (what, read)
    assert type(found[1]) in (int, float, bool, type(None))


@pytest.mark.parametrize(
    "value",
    [
        "3",
        b"3",
        3j,
        {},
        object(),
        Decimal(3),
        Fraction(3),
        np.complex64(3),
        np.timedelta64(3),
        np.str_("3"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_neither_number_nor_array(value: Any) -> None:
    assert view(value)[:2] == ("", value)


NUMPY = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "complex64": np.complex64,
    "byte-swapped float32": ">f4",
    "[('a', '<i4')]": [("a", "i4")],
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_dtypes(name: str) -> None:
    array = np.zeros(3, NUMPY[name])
    assert view(array)[:3] == (f"*{name}", array.ctypes.data, HOST)


def test_numpy_layouts() -> None:
    array = np.zeros((4, 6), np.float32)
    assert view(array)[3:6] == (True, True, 24)
    assert view(array.T)[3] is False
    assert view(array[:, ::2])[3] is False
    assert view(array[1:])[1] == array.ctypes.data + 24
    assert view(np.zeros((0, 5)))[5] == 0
    assert view(np.float32(3) * np.ones(()))[5] == 1
    array.flags.writeable = False
    assert view(array)[4] is False


def test_numpy_subclasses(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "x", np.float32, "w+", shape=(8,))
    assert view(mapped)[:3] == ("*f32", mapped.ctypes.data, HOST)


def test_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert view(Tensor("bfloat16", "cuda:3"))[:6] == ("*bf16", 0x7F0000000000, 3, True, True, 1024)
    assert view(Tensor("bool", "cpu"))[0::2][:2] == ("*i1", HOST)
    assert view(Tensor("float32", "meta"))[2] == ELSEWHERE
    assert view(Tensor("complex64"))[0] == "*complex64"
    assert view(Tensor(contiguous=False))[3] is False
    stream = view(Tensor())[6]
    assert stream is not None
    monkeypatch.setitem(__import__("sys").modules, "torch", fake_torch({2: 77}))
    assert stream(2) == 77
    monkeypatch.setitem(__import__("sys").modules, "torch", fake_torch(None))
    assert stream(2) == 0
    monkeypatch.delitem(__import__("sys").modules, "torch")
    assert stream(2) == 0


def test_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = view(CupyArray(np.float16, device=1, address=4096, size=7))
    assert found[:6] == ("*f16", 4096, 1, True, True, 7)
    assert found[6] is not None
    monkeypatch.setitem(__import__("sys").modules, "cupy", fake_cupy({1: 99}))
    assert found[6](1) == 99


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ((6, 8, 1), "i1"),
        ((0, 32, 1), "i32"),
        ((1, 64, 1), "u64"),
        ((2, 16, 1), "f16"),
        ((4, 16, 1), "bf16"),
        ((10, 8, 1), "f8e4m3"),
        ((12, 8, 1), "f8e5m2"),
        ((5, 64, 1), "DLPack type 5, 64 bits × 1"),
        ((2, 32, 4), "DLPack type 2, 32 bits × 4"),
    ],
)
def test_dlpack_dtypes(dtype: tuple[int, int, int], name: str) -> None:
    assert view(DLPackArray(dtype=dtype))[0] == f"*{name}"


@pytest.mark.parametrize("version", [None, (1, 0), (1, 1)])
def test_dlpack_versions(version: tuple[int, int] | None) -> None:
    array = DLPackArray(version=version, shape=(4, 5), address=4096, offset=64, device=(2, 3))
    found = view(array)
    assert found[:6] == ("*f32", 4160, 3, True, True, 20)
    assert found[6] is not None
    assert found[6](3) == 0


def test_dlpack_of_a_version_to_come() -> None:
    with pytest.raises(BufferError, match=r"DLPack 2\.0 is newer than this reader"):
        view(DLPackArray(version=(2, 0)))


@pytest.mark.parametrize(
    ("device", "where"), [((1, 0), HOST), ((2, 5), 5), ((3, 0), HOST), ((13, 1), 1), ((10, 0), ELSEWHERE)]
)
def test_dlpack_devices(device: tuple[int, int], where: int) -> None:
    assert view(DLPackArray(device=device))[2] == where


def test_dlpack_layouts() -> None:
    assert view(DLPackArray(shape=(4, 5), strides=(5, 1)))[3] is True
    assert view(DLPackArray(shape=(4, 5), strides=(1, 4)))[3] is False
    assert view(DLPackArray(read_only=True))[4] is False
    assert view(DLPackArray(shape=(), address=0))[1:6] == (0, 0, True, True, 1)


def test_dlpack_of_a_real_producer() -> None:
    class Wrapped:
        """NumPy's arrays, with nothing but DLPack."""

        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, **named: Any) -> Any:
            return self.array.__dlpack__(**named)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    array = np.arange(24, dtype=np.float32).reshape(4, 6)[1:, ::2]
    assert view(Wrapped(array))[:6] == ("*f32", array.ctypes.data, HOST, False, True, 9)
    array.flags.writeable = False
    assert view(Wrapped(array))[4] is False


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [
        ((), (), True),
        ((3,), (4,), True),
        ((3,), (8,), False),
        ((3,), (-4,), False),
        ((2, 3), (12, 4), True),
        ((2, 3), (4, 8), False),
        ((1, 3), (999, 4), True),
        ((2, 1), (4, 999), True),
        ((0, 3), (999, 999), True),
        ((2, 3), (0, 4), False),
    ],
)
def test_contiguity(shape: tuple[int, ...], strides: tuple[int, ...], dense: bool) -> None:
    assert is_contiguous(shape, strides, 4) is dense
