"""Kernels of generated packages on the host, against NumPy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.runtime.fake_arrays import DLPackArray, Tensor

from .manifests import NEIGHBOURS, VECTOR_ADD, ZOO
from .packages import imported, install

Array = np.ndarray[Any, Any]

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float32), np.dtype(np.float16), BF16]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with imported(install(VECTOR_ADD, tmp_path_factory.mktemp("host"))) as kernels:
        yield kernels


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with imported(install(ZOO, tmp_path_factory.mktemp("host"))) as kernels:
        yield kernels


def poisoned(shape: Any, dtype: Any) -> Array:
    """An array in which nothing is what a kernel would write."""
    found = np.empty(shape, dtype)
    found.view(np.uint8)[...] = 0xFF
    return found


def aligned(values: Array, alignment: int, shift: int = 0) -> Array:
    """A copy whose address is ``shift`` bytes after a multiple of ``alignment``."""
    memory = np.zeros(values.nbytes + 2 * alignment, np.uint8)
    start = -memory.ctypes.data % alignment + shift
    found = memory[start : start + values.nbytes].view(values.dtype)
    found[...] = values
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000, 100_003])
@pytest.mark.parametrize("block", [None, 1024])
def test_vector_add(vectors: Any, dtype: np.dtype[Any], n: int, block: int | None) -> None:
    random = np.random.default_rng(n)
    a, b = (aligned(random.standard_normal(n).astype(dtype), 64) for _ in range(2))
    out = poisoned(n + 1, dtype)
    vectors.vector_add(a, b, out[:n], n, **({"BLOCK_SIZE": block} if block else {}))
    assert np.array_equal(out[:n], a + b)
    assert np.isnan(out[n])


def test_what_is_left_out_is_the_first_that_fits(vectors: Any) -> None:
    for dtype, id in zip(DTYPES, ("f32__128", "f16__128", "bf16__1024"), strict=True):
        a = aligned(np.zeros(5, dtype), 64)
        assert vectors.vector_add.pick(a, a, a, 5).id == f"vector_add__{id}"


def test_the_extra_variant_runs_where_all_that_it_assumes_is_so(vectors: Any) -> None:
    n = 1024
    a, b = (aligned(np.arange(n, dtype=np.float32), 64) for _ in range(2))
    assert vectors.vector_add.pick(a, b, a, n).auto
    assert not vectors.vector_add.pick(a, b, a, n - 1).auto
    # b is assumed nothing of, in either.
    shifted = aligned(np.arange(n, dtype=np.float32), 64, 4)
    assert vectors.vector_add.pick(a, shifted, a, n).auto
    out = poisoned(n, np.float32)
    vectors.vector_add(a, shifted, out, n)
    assert np.array_equal(out, a + shifted)


def test_by_name(vectors: Any) -> None:
    a = np.ones(10, np.float32)
    out = poisoned(10, np.float32)
    vectors.vector_add(n_elements=10, out_ptr=out, b_ptr=a, a_ptr=a, BLOCK_SIZE=np.int64(1024))
    assert out.tolist() == [2] * 10


def test_one_specialisation(vectors: Any) -> None:
    a, out = np.ones(300, np.float32), poisoned(300, np.float32)
    spec = vectors.vector_add.spec(D="f32", BLOCK_SIZE=128)
    spec.launch((a, a, out, 300), grid=(2,))
    assert out[:256].tolist() == [2] * 256
    assert np.isnan(out[256:]).all()
    spec.launch([a, a, out, 300])
    assert out.tolist() == [2] * 300


@pytest.mark.parametrize("dtype", [*DTYPES, np.dtype(np.float64)], ids=str)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("negate", [False, np.bool_(True)])
@pytest.mark.parametrize("scale", [2, 1.5, np.float32(1.5), np.int8(-3), ml_dtypes.bfloat16(0.5)], ids=repr)
def test_affine(zoo: Any, dtype: np.dtype[Any], biased: bool, negate: Any, scale: Any) -> None:
    """Arguments that may be absent, and numbers of every kind."""
    n = 1000
    random = np.random.default_rng(n)
    x = random.integers(-8, 8, n).astype(dtype)
    bias = random.integers(-8, 8, n).astype(np.float32) if biased else None
    out = poisoned(n, dtype)
    zoo.affine(x, bias, out, np.int64(n), scale, negate)
    expected = x.astype(np.float64) * float(scale) + (bias if bias is not None else 0)
    assert np.array_equal(out.astype(np.float64), -expected if negate else expected)


def test_the_number_type_that_holds_the_value(zoo: Any) -> None:
    x = np.zeros(1, np.float32)
    assert zoo.affine.pick(x, None, x, 2**31 - 1, 1.0, False).types["n"] == "i32"
    assert zoo.affine.pick(x, None, x, 2**31, 1.0, False).types["n"] == "i64"


@pytest.mark.parametrize("shape", [(1, 1), (16, 32), (33, 65), (100, 7)])
@pytest.mark.parametrize("order", ["C", "F", "gaps"])
@pytest.mark.parametrize("blocks", [(16, 32), (32, 16)])
def test_strides(zoo: Any, shape: tuple[int, int], order: str, blocks: tuple[int, int]) -> None:
    """A kernel that is told strides takes arrays of any layout."""
    rows, columns = shape
    values = np.arange(rows * columns, dtype=np.int32).reshape(shape)
    x = np.asarray(values, order="F") if order == "F" else values
    if order == "gaps":
        x = np.zeros((2 * rows, 3 * columns), np.int32)[::2, ::3]
        x[...] = values
    out = poisoned(shape, np.int32)
    bm, bn = blocks
    zoo.transpose_copy(x, out, rows, columns, *(stride // 4 for stride in x.strides), BM=bm, BN=bn)
    assert np.array_equal(out, values)


def test_every_number(zoo: Any) -> None:
    out = poisoned(13, np.float64)
    values = (
        True,
        -128,
        255,
        -32768,
        65535,
        -(2**31),
        2**32 - 1,
        -(2**63),
        2**64 - 1,
        65504.0,
        3.0e38,
        3.0e38,
        1e300,
    )
    zoo.scalars(out, *values)
    expected = [*values[:10], float(ml_dtypes.bfloat16(3.0e38)), float(np.float32(3.0e38)), 1e300]
    assert out.tolist() == [float(value) for value in expected]


def test_floats_beyond_all_numbers(zoo: Any) -> None:
    out = poisoned(13, np.float64)
    right = {"flag": False, **dict.fromkeys("abcdefgh", 0)}
    zoo.scalars(out, **right, p=float("inf"), q=float("-inf"), r=float("nan"), s=-0.0)
    assert out[9:11].tolist() == [np.inf, -np.inf]
    assert np.isnan(out[11])
    assert np.signbit(out[12])


@pytest.mark.parametrize("grid", [(1,), (7,), (5, 3), (4, 3, 2), (1, 1, 100), (50, 40, 3)])
def test_each_program_once_and_in_its_place(zoo: Any, grid: tuple[int, ...]) -> None:
    x, y, z = (*grid, 1, 1)[:3]
    out = poisoned((z, y, x, 6), np.int32)
    zoo.where_am_i(out, grid=grid)
    k, j, i = np.meshgrid(np.arange(z), np.arange(y), np.arange(x), indexing="ij")
    assert np.array_equal(out[..., 0], i)
    assert np.array_equal(out[..., 1], j)
    assert np.array_equal(out[..., 2], k)
    assert np.array_equal(out[..., 3:].reshape(-1, 3), np.broadcast_to((x, y, z), (x * y * z, 3)))


def test_uneven_programs(zoo: Any) -> None:
    n, most = 500, 7919
    expected = [sum((i * pid) % 7 for i in range((pid * most) % 1009)) for pid in range(n)]
    for _ in range(5):
        out = poisoned(n, np.int32)
        zoo.uneven(out, most, grid=(n,))
        assert out.tolist() == expected


def test_scratch_from_many_threads(zoo: Any) -> None:
    """A tile too large for the stack lives in scratch memory: each thread has its own."""
    rows, columns = 64, 32768
    x = np.random.default_rng(0).integers(0, 4, (rows, columns)).astype(np.float32)
    expected = x.sum(axis=1)
    results = [poisoned(rows, np.float32) for _ in range(8)]

    def run(out: Array) -> None:
        for _ in range(3):
            out[:] = np.nan
            zoo.large_rows(x, out, columns, grid=(rows,))

    threads = [threading.Thread(target=run, args=(out,)) for out in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for out in results:
        assert np.array_equal(out, expected)


def test_what_is_assumed_always(zoo: Any) -> None:
    x, out = np.full((3, 1), 5, np.float32), poisoned(3, np.float32)
    zoo.count_rows(x, out, 1, grid=(3,))
    assert out.tolist() == [5, 5, 5]


def test_names_that_the_loader_has_a_use_for(zoo: Any) -> None:
    out = poisoned(2, np.int32)
    zoo.awkward(4, 2, 3, self=1, out_ptr=out, auto=2, grid_=(1,))
    assert out.tolist() == [4 + 20 + 300 + 1000 + 2 + 3, -1]
    zoo.awkward(4, 2, 3, 1, out)
    assert out.tolist() == [1328] * 2


def test_a_package_with_a_gpus_lowering_only(zoo: Any) -> None:
    out = poisoned(6, np.int32)
    zoo.only_host(out)
    assert out.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_lowering_that_is_asked_for(tmp_path: Path) -> None:
    text = VECTOR_ADD.replace('targets = ["sm_90a", "cpu"]', 'targets = ["cpu:sm_90a", "cpu:sm_80", "cpu"]')
    with imported(install(text, tmp_path)) as kernels:
        a = np.arange(100, dtype=np.float32)
        for target in (None, "cpu", "cpu:sm_90a", "cpu:sm_80"):
            out = poisoned(100, np.float32)
            kernels.vector_add(a, a, out, 100, target=target)
            assert np.array_equal(out, 2 * a)
        loaded = {
            path.name for path in (tmp_path.rglob("*.so")) if str(path) in Path("/proc/self/maps").read_text()
        }
        assert loaded
        assert kernels.__targets__ == ("cpu:sm_90a", "cpu:sm_80", "cpu")


def test_nothing_at_all(zoo: Any) -> None:
    zoo.nothing(target="cpu")


def test_empty_arrays(vectors: Any) -> None:
    """Nothing runs, and nothing is said, whatever their addresses are."""
    empty = Tensor(device="cpu", address=0, elements=0)
    vectors.vector_add(empty, empty, empty, 0)
    odd = Tensor(device="cpu", address=3, elements=0)
    vectors.vector_add(odd, odd, odd, 0)


def test_arrays_of_other_frameworks(vectors: Any) -> None:
    a, b, out = (aligned(np.arange(64, dtype=np.float32), 64) for _ in range(3))
    tensor = Tensor(device="cpu", address=a.ctypes.data, elements=64)
    exported = DLPackArray(device=(1, 0), address=b.ctypes.data, shape=(64,))
    vectors.vector_add(tensor, exported, out, 64)
    assert np.array_equal(out, a + b)


def test_matrices_and_views(vectors: Any) -> None:
    """Any shape will do: what a kernel gets is an address."""
    x = np.arange(64, dtype=np.float32).reshape(2, 4, 8)
    out = poisoned((8, 8), np.float32)
    vectors.vector_add(x, x, out, 64)
    assert np.array_equal(out.ravel(), 2 * x.ravel())
    out = poisoned(64, np.float32)
    vectors.vector_add(np.array(3.0, np.float32), x[1], out, 1)
    assert out[0] == 35


def test_pick_takes_what_a_call_takes(vectors: Any) -> None:
    a, b, out = (np.zeros(1000, np.float32) for _ in range(3))
    picked = vectors.vector_add.pick(a, b, out, 1000, grid=(8,), stream=None, target="cpu")
    assert picked is vectors.vector_add.pick(a, b, out, 1000)


def test_masked_arrays_are_no_arrays(vectors: Any) -> None:
    masked = np.ma.array(np.zeros(1000, np.float32), mask=np.ones(1000, np.bool_))
    with pytest.raises(vectors.LaunchError, match=r"a_ptr.*masked float32"):
        vectors.vector_add(masked, masked, masked, 1000)


def test_programs_that_wait_for_each_other(tmp_path: Path) -> None:
    """One of them may run; several would wait for ever."""
    x = np.random.default_rng().standard_normal(512).astype(np.float32)
    out, total, arrived = poisoned(512, np.float32), poisoned(512, np.float32), np.zeros(1, np.int32)
    with imported(install(NEIGHBOURS, tmp_path)) as kernels:
        with pytest.raises(
            kernels.LaunchError, match=r"with grid \(2, 1, 1\) has programs that may wait for each other"
        ):
            kernels.neighbours(x, out, arrived, total, grid=(2,))
        assert np.isnan(out).all()
        kernels.neighbours(x, out, arrived, total, grid=(1,))
        assert kernels.neighbours.specialisations[0].id == "neighbours__256__coop"
    assert np.array_equal(out[:256], 2 * x[:256])
    assert np.array_equal(total[:256], 4 * x[:256])
    assert arrived[0] == 1
