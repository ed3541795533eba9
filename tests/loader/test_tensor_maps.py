"""Tensor maps of launches, as a fake driver is asked for them: ``cuTensorMapEncodeTiled`` is a callback that writes down its arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from teenybuild.runtime.driver import driver
from teenybuild.runtime.index import TensorMap
from teenybuild.runtime.tensor_maps import TensorMaps
from tests.runtime.fake_arrays import Tensor
from tests.runtime.fake_driver import CUresult, Encoded, FakeDevice, FakeDriver, real
from tests.support.threads import together

from .packages import imported, install

MULTIPLY = """
[build]
targets = ["sm_90a"]

[kernel.multiply]
source = "blocks.py"
args = { a = "desc<D[BM, BK]>", b = "desc<D[BK, BN]>", c = "desc<D[BM, BN]>" }
dtypes = { D = ["bf16"] }
const = { BM = 64, BN = 64, BK = 32 }
grid = ["cdiv(c.shape[0], BM)", "cdiv(c.shape[1], BN)"]
outputs = ["c"]
"""

ADDRESS = 0x7F0000000000
NAMES = ("x", "m", "k", "s", "pad")


class Matrix(Tensor):
    """A matrix in bf16 whose rows follow each other."""

    def __init__(self, rows: int, columns: int, address: int = ADDRESS, **named: Any) -> None:
        super().__init__("bfloat16", address=address, elements=rows * columns, **named)
        self.shape = rows, columns

    def stride(self) -> tuple[int, int]:
        return self.shape[1], 1


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    found = FakeDriver(FakeDevice(), FakeDevice())
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", found)
    driver.cache_clear()
    yield found
    driver.cache_clear()


def maps(cuda: FakeDriver, dtype: str = "f16", **said: Any) -> TensorMaps:
    """Those of a kernel with one array [m, k] whose rows are ``s`` elements apart."""
    each = TensorMap("x", dtype, ("k", "m"), ("s",), "pad", (32, 64), 64)._replace(**said)
    return TensorMaps(cuda, [each], NAMES, "multiply")


def made(cuda: FakeDriver, array: TensorMaps, *values: int) -> Encoded:
    [map_] = array.made(values)
    [found] = [each for each in cuda.encoded if each.map == map_.address][-1:]
    return found


@pytest.mark.parametrize(
    ("dtype", "kind", "size"),
    [
        ("f16", "FLOAT16", 2), ("bf16", "BFLOAT16", 2), ("f32", "FLOAT32", 4), ("f64", "FLOAT64", 8),
        ("i8", "UINT8", 1), ("f8e4m3", "UINT8", 1), ("f8e5m2", "UINT8", 1), ("i16", "UINT16", 2),
        ("u32", "UINT32", 4), ("i64", "UINT64", 8),
    ],
)  # fmt: skip
def test_what_the_driver_is_told(cuda: FakeDriver, dtype: str, kind: str, size: int) -> None:
    found = made(cuda, maps(cuda, dtype), ADDRESS, 100, 72, 80, 0)
    names, swizzles = real.CUtensorMapDataType, real.CUtensorMapSwizzle
    assert found.dtype == getattr(names, f"CU_TENSOR_MAP_DATA_TYPE_{kind}")
    assert (found.rank, found.base, found.shape, found.strides) == (2, ADDRESS, [72, 100], [80 * size])
    assert (found.box, found.steps, found.interleave, found.fill) == ([32, 64], [1, 1], 0, 0)
    assert found.swizzle == swizzles.CU_TENSOR_MAP_SWIZZLE_64B


def test_numbers_that_are_known(cuda: FakeDriver) -> None:
    array = maps(cuda, shape=(64, "m", 3), strides=(64, "s"), padding=1, box=(32, 64, 1))
    found = made(cuda, array, ADDRESS, 100, 0, 6400, 0)
    assert (found.rank, found.shape, found.strides, found.fill) == (3, [64, 100, 3], [128, 12800], 1)


def test_the_same_arrays_have_the_same_map(cuda: FakeDriver) -> None:
    array = maps(cuda)
    assert array.made((ADDRESS, 4, 8, 8, 0)) == array.made((ADDRESS, 4, 8, 8, False))
    assert len(cuda.encoded) == 1


@pytest.mark.parametrize("place", range(5))
def test_whatever_differs_makes_another_map(cuda: FakeDriver, place: int) -> None:
    """An address may be that of an array that is gone, and now lies there in another shape."""
    array, values = maps(cuda), [ADDRESS, 64, 32, 32, 0]
    [first] = array.made(values)
    values[place] += 1 if place == 4 else 16
    [second] = array.made(values)
    assert first is not second
    assert cuda.encoded[0].map == first.address
    assert cuda.encoded[1].map == second.address


def test_thousands_of_arrays(cuda: FakeDriver) -> None:
    """Maps that are in use stay what they are; not all are kept."""
    array = maps(cuda)
    held = [array.made((ADDRESS + 16 * i, 64, 32, 32, 0))[0] for i in range(3000)]
    assert len({each.address for each in held}) == 3000
    kept: dict[Any, Any] = array._arrays[0]._kept  # type: ignore[attr-defined]
    assert len(kept) <= 256
    assert [each.base for each in cuda.encoded] == [ADDRESS + 16 * i for i in range(3000)]


@pytest.mark.parametrize("shape", [(0, 32), (64, 0), (0, 0), (-1, 32)])
@pytest.mark.parametrize("nan", [0, 1])
def test_empty_arrays(cuda: FakeDriver, shape: tuple[int, int], nan: int) -> None:
    """The driver makes no map of nothing: it is one element, which is what stands outside."""
    found = made(cuda, maps(cuda), 0, *shape, 0, nan)
    assert (found.shape, found.strides, found.fill) == ([1, 1], [16], nan)
    assert found.base % 16 == 0
    assert cuda.filled[found.base] == (b"\xff" if nan else b"\0") * 16


def test_empty_arrays_share_what_they_have(cuda: FakeDriver) -> None:
    array = maps(cuda)
    for m in range(20):
        array.made((ADDRESS + 16 * m, m, 0, 32, m % 2))
    assert list(cuda.memory.values()) == [32]
    array.release()
    array.release()
    assert not cuda.memory


def test_empty_arrays_in_captures(cuda: FakeDriver) -> None:
    """Allocating would spoil a capture, of whatever stream: it has nothing to do with those, and is no work for their graphs."""
    cuda.capturing.add(7)
    made(cuda, maps(cuda), 0, 0, 32, 32, 0)
    mode = real.CUstreamCaptureMode
    assert cuda.capture_modes == [mode.CU_STREAM_CAPTURE_MODE_RELAXED, mode.CU_STREAM_CAPTURE_MODE_GLOBAL]


def refused(cuda: FakeDriver, array: TensorMaps, values: Sequence[int]) -> str:
    cuda.encode_status = 1
    with pytest.raises(RuntimeError) as caught:
        array.made(values)
    cuda.encode_status = 0
    return str(caught.value)


@pytest.mark.parametrize(
    ("dtype", "values", "said"),
    [
        (
            "f16", (ADDRESS, 64, 32, -32, 0),
            "s: expected a multiple of 8 from 0 up to 549755813887 elements, got -32\nhint: pass a copy that lies in memory like that",
        ),
        (
            "f32", (ADDRESS, 64, 32, 33, 0),
            "s: expected a multiple of 4 from 0 up to 274877906943 elements, got 33\nhint: pass a copy that lies in memory like that",
        ),
        (
            "i8", (ADDRESS + 8, 64, 32, 32, 0),
            "x: expected an address that is a multiple of 16, got 0x7f0000000008\nhint: pass a copy that lies in memory like that",
        ),
        (
            "f64", (ADDRESS, 64, 1 << 33, 32, 0),
            "k: expected up to 4294967296, got 8589934592\nhint: pass a copy that lies in memory like that",
        ),
        (
            "f8e4m3", (ADDRESS, 64, 32, 32, 1),
            "pad: expected zeros outside, as hardware knows NaN outside of floats of 16 bits and more only, got NaN\n"
            "hint: pass padding 'zero'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_have_a_map(cuda: FakeDriver, dtype: str, values: tuple[int, ...], said: str) -> None:
    base, m, k, s, nan = values
    assert refused(cuda, maps(cuda, dtype), values) == (
        f"multiply: cannot make a tensor map of x, {dtype} at {base:#x} with shape [{m}, {k}] and strides [{s}, 1], "
        f"{'NaN' if nan else 'zeros'} outside: CUDA_ERROR_INVALID_VALUE (words for 1)\n{said}"
    )


def test_a_refusal_without_a_reason(cuda: FakeDriver) -> None:
    said = refused(cuda, maps(cuda), (ADDRESS, 64, 32, 32, 0))
    assert said.endswith("zeros outside: CUDA_ERROR_INVALID_VALUE (words for 1)")
    # Nothing of it is kept.
    assert made(cuda, maps(cuda), ADDRESS, 64, 32, 32, 0).base == ADDRESS


def test_a_status_that_the_bindings_do_not_know(cuda: FakeDriver) -> None:
    array = maps(cuda)
    cuda.encode_status = 123456
    with pytest.raises(RuntimeError, match="CUDA_ERROR_UNKNOWN"):
        array.made((ADDRESS, 64, 32, 32, 0))


@pytest.mark.parametrize("more", [(), (0,), (0, 0)])
def test_bindings_that_say_more_or_less(cuda: FakeDriver, more: tuple[Any, ...]) -> None:
    cuda.found_more = more
    assert made(cuda, maps(cuda), ADDRESS, 64, 32, 32, 0).base == ADDRESS


@pytest.mark.parametrize("status", [CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_NOT_FOUND])
def test_a_driver_without_tensor_maps(cuda: FakeDriver, status: Any) -> None:
    cuda.version = 11080
    if status:
        cuda.failing["cuGetProcAddress"] = status
    with pytest.raises(RuntimeError) as caught:
        maps(cuda)
    assert str(caught.value) == (
        "multiply: cannot find cuTensorMapEncodeTiled: the driver, for CUDA 11.8, makes no tensor maps\n"
        "hint: update it to one for CUDA 12.0 or newer, or build for sm_80"
    )


def test_threads_make_maps_at_once(cuda: FakeDriver) -> None:
    """The same and others, empty ones too: each gets what it asked for."""
    array = maps(cuda)
    got: list[tuple[tuple[int, ...], Any]] = []

    def launches(thread: int) -> None:
        for turn in range(200):
            values = (ADDRESS + 16 * (turn if turn % 2 else 1000 * thread + turn), turn % 3, 32, 32, 0)
            got.append((values, array.made(values)[0]))

    assert not together(launches)
    assert len(got) == 1600
    assert len(cuda.memory) == 1
    told = {each.map: each for each in cuda.encoded}
    for (base, m, *_), map_ in got:
        found = told[map_.address]
        assert found.shape == ([32, m] if m else [1, 1])
        assert found.base == base if m else found.base in cuda.filled


# Launches.


@pytest.fixture
def kernels(cuda: FakeDriver, tmp_path: Path) -> Iterator[Any]:
    with imported(install(MULTIPLY, tmp_path)) as found:
        yield found


def matrices(
    device: str = "cuda:0", shape: tuple[int, int, int] = (100, 64, 96), address: int = ADDRESS
) -> list[Matrix]:
    m, n, k = shape
    sides = ((m, k), (k, n), (m, n))
    return [Matrix(*side, address + (i << 20), device=device) for i, side in enumerate(sides)]


def test_maps_are_passed_by_value_behind_everything_else(cuda: FakeDriver, kernels: Any) -> None:
    for _ in range(2):
        kernels.multiply(*matrices())
    assert [each.base for each in cuda.encoded] == [ADDRESS + (i << 20) for i in range(3)]
    for launch in cuda.launches:
        numbers = [each[:4] for each in launch.parameters[-3:]]
        assert [len(each) for each in launch.parameters[-3:]] == [128] * 3
        assert [int.from_bytes(each, "little") for each in numbers] == [1, 2, 3]


def test_every_context_has_elements_of_its_own(cuda: FakeDriver, kernels: Any) -> None:
    for device in ("cuda:0", "cuda:1", "cuda:0"):
        kernels.multiply(*matrices(device, (100, 64, 0)))
    assert len(cuda.memory) == 2
    bases = [each.base for each in cuda.encoded if each.shape == [1, 1]]
    assert len(set(bases)) == 2
    kernels.multiply.unload()
    assert not cuda.memory


def test_a_launch_of_empty_arrays_is_captured(cuda: FakeDriver, kernels: Any) -> None:
    kernels.multiply.load(0)
    cuda.capturing.add(7)
    kernels.multiply(*matrices(shape=(100, 64, 0)), stream=7)
    assert len(cuda.launches) == 1


def test_after_a_refusal_launches_go_on(cuda: FakeDriver, kernels: Any) -> None:
    cuda.encode_status = 1
    with pytest.raises(kernels.LaunchError, match=r"cannot make a tensor map of a, bf16 at 0x7f0000000000"):
        kernels.multiply(*matrices())
    cuda.encode_status = 0
    kernels.multiply(*matrices())
    assert len(cuda.launches) == 1
