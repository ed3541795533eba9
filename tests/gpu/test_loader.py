"""Generated packages on a real GPU, with the arrays of PyTorch and CuPy. ``tests/loader/test_gpu_path.py`` has the rest, on a fake."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teenybuild.targets import ARCHITECTURES
from tests.loader.manifests import NEIGHBOURS, NESTED, VECTOR_ADD, ZOO
from tests.loader.packages import imported, install

pytestmark = pytest.mark.gpu

torch: Any = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def target() -> str:
    """The most specific target of this device."""
    major, minor = torch.cuda.get_device_capability()
    return next(name for name in (f"sm_{major}{minor}a", f"sm_{major}{minor}") if name in ARCHITECTURES)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gpu")


@pytest.fixture(scope="module")
def vectors(directory: Path) -> Iterator[Any]:
    text = VECTOR_ADD.replace('"sm_90a", "cpu"', f'"{target()}", "cpu"')
    with imported(install(text, directory)) as kernels:
        yield kernels


@pytest.fixture(scope="module")
def zoo(directory: Path) -> Iterator[Any]:
    text = ZOO.replace('"sm_90a", "cpu"', f'"{target()}", "cpu"').replace(
        '"sm_90a", "sm_80"', f'"{target()}", "sm_75"'
    )
    with imported(install(text, directory)) as kernels:
        yield kernels


@pytest.fixture(scope="module")
def nested(directory: Path) -> Iterator[Any]:
    text = NESTED.replace('"sm_90a", "cpu"', f'"{target()}", "cpu"')
    with imported(install(text, directory)) as kernels:
        yield kernels


def random(n: int, dtype: Any, device: str = "cuda") -> Any:
    return torch.randn(n, device=device).to(dtype)


def poisoned(shape: Any, dtype: Any, device: str = "cuda") -> Any:
    value = float("nan") if dtype.is_floating_point else -1
    return torch.full(shape if isinstance(shape, tuple) else (shape,), value, dtype=dtype, device=device)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 127, 1000, 1024, 1_000_003])
def test_vector_add(vectors: Any, name: str, n: int) -> None:
    a, b = random(n, DTYPES[name]), random(n, DTYPES[name])
    for const in ({}, {"BLOCK_SIZE": 1024}):
        out = poisoned(n + 1, DTYPES[name])
        vectors.vector_add(a, b, out[:n], n, **const)
        assert torch.equal(out[:n], a + b)
        assert torch.isnan(out[n])


def test_both_variants(vectors: Any) -> None:
    a, b = random(4096, torch.float32), random(4096, torch.float32)
    for n in (4096, 4095):
        out = poisoned(n, torch.float32)
        assert vectors.vector_add.pick(a, b, out, n).auto is (n % 16 == 0)
        vectors.vector_add(a, b, out, n)
        assert torch.equal(out, a[:n] + b[:n])


def test_one_specialisation(vectors: Any) -> None:
    a, out = random(300, torch.float32), poisoned(300, torch.float32)
    vectors.vector_add.spec(D="f32", BLOCK_SIZE=128).launch((a, a, out, 300), grid=(2,))
    assert torch.equal(out[:256], 2 * a[:256])
    assert torch.isnan(out[256:]).all()


@pytest.mark.parametrize("bias", [False, True])
def test_absent_arguments_and_numbers(zoo: Any, bias: bool) -> None:
    x = torch.arange(-500, 500, device="cuda", dtype=torch.float64)
    y = torch.ones(1000, device="cuda") if bias else None
    out = poisoned(1000, torch.float64)
    zoo.affine(x, y, out, 1000, np.float32(1.5), True)
    assert torch.equal(out, -(x * 1.5 + (1 if bias else 0)))


def test_every_number(zoo: Any) -> None:
    """As it arrived on the host, so it arrives here."""
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
    host, out = np.full(13, np.nan), poisoned(13, torch.float64)
    zoo.scalars(host, *values)
    zoo.scalars(out, *values)
    assert out.cpu().numpy().tolist() == host.tolist()


def test_each_program_in_its_place(zoo: Any) -> None:
    host, out = np.full((4, 3, 5, 6), -1, np.int32), poisoned((4, 3, 5, 6), torch.int32)
    zoo.where_am_i(host, grid=(5, 3, 4))
    zoo.where_am_i(out, grid=(5, 3, 4))
    assert np.array_equal(out.cpu().numpy(), host)


def test_strides(zoo: Any) -> None:
    x = torch.arange(33 * 65, dtype=torch.int32, device="cuda").reshape(65, 33).T
    out = poisoned((33, 65), torch.int32)
    zoo.transpose_copy(x, out, 33, 65, *x.stride())
    assert torch.equal(out, x)


def test_the_most_specific_image(zoo: Any) -> None:
    out = poisoned(6, torch.int32)
    zoo.only_gpu(out)
    assert out.tolist() == [0, 0, 0, 1, 1, 1]
    # PTX of an older architecture, translated by the driver.
    out = poisoned(6, torch.int32)
    zoo.only_gpu(out, target="sm_75")
    assert out.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_current_stream(vectors: Any) -> None:
    """What the stream still has to do before the launch is done before it."""
    n = 1 << 20
    a, b, out = (torch.zeros(n, device="cuda") for _ in range(3))
    vectors.vector_add(a, b, out, n)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        a.fill_(1)
        b.fill_(2)
        vectors.vector_add(a, b, out, n)
    side.synchronize()
    assert (out == 3).all()


@pytest.mark.parametrize("kind", ["torch", "address", "bindings"])
def test_a_stream_that_is_passed(vectors: Any, kind: str) -> None:
    n = 1 << 20
    a, b, out = (torch.zeros(n, device="cuda") for _ in range(3))
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        a.fill_(1)
    stream: Any = side
    if kind == "address":
        stream = side.cuda_stream
    elif kind == "bindings":
        from cuda.bindings import driver

        stream = driver.CUstream(side.cuda_stream)
    vectors.vector_add(a, b, out, n, stream=stream)
    side.synchronize()
    assert (out == 1).all()


def test_in_a_graph(vectors: Any) -> None:
    """Loaded ahead, a kernel is captured; not loaded, it says so and leaves the capture as it was."""
    n = 1024
    # Small integers, which f16 adds exactly however often.
    a = torch.arange(n, device="cuda").remainder(64).to(torch.float16)
    b, out = random(n, torch.float16), poisoned(n, torch.float16)
    spec = vectors.vector_add.pick(a, b, out, n, BLOCK_SIZE=1024)
    spec.unload()
    spec.load(device=torch.cuda.current_device())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        a.add_(1)
        spec.launch((a, b, out, n))
    assert torch.isnan(out).all()
    before = a.clone()
    for turn in range(1, 4):
        graph.replay()
        assert torch.equal(a, before + turn)
        assert torch.equal(out, a + b)

    other = vectors.vector_add.spec(D="f16", BLOCK_SIZE=128)
    other.unload()
    other.load()  # on the host, which does not count
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        a.add_(1)
        with pytest.raises(vectors.LaunchError, match="cannot be while a CUDA graph is captured"):
            other.launch((a, b, out, n))
    before = a.clone()
    graph.replay()
    assert torch.equal(a, before + 1)


def test_loading_while_another_thread_captures(vectors: Any) -> None:
    """Loading is work that a capture forbids to every thread, unless they say otherwise, as we do."""
    spec = vectors.vector_add.spec(D="bf16")
    spec.unload()
    x = torch.zeros(8, device="cuda")
    wrong: list[BaseException] = []

    def load() -> None:
        try:
            spec.load(device=0)
        except BaseException as error:
            wrong.append(error)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.add_(1)
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()
        x.add_(1)
    graph.replay()
    assert not wrong
    assert (x == 2).all()


def test_a_thread_without_a_context(vectors: Any) -> None:
    a, out = random(1000, torch.float32), poisoned(1000, torch.float32)
    torch.cuda.synchronize()
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            vectors.vector_add(a, a, out, 1000, stream=0)
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    torch.cuda.synchronize()
    assert not wrong
    assert torch.equal(out, 2 * a)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
def test_a_device_that_is_not_current(vectors: Any) -> None:
    last = torch.cuda.device_count() - 1
    for device in (last, 0, last):
        a = random(1000, torch.float32, f"cuda:{device}")
        out = poisoned(1000, torch.float32, f"cuda:{device}")
        vectors.vector_add(a, a, out, 1000)
        assert torch.equal(out, 2 * a)
        assert torch.cuda.current_device() == 0


def test_unloading(vectors: Any) -> None:
    spec = vectors.vector_add.spec(D="f32", BLOCK_SIZE=1024)
    a, out = random(1000, torch.float32), poisoned(1000, torch.float32)
    spec.launch((a, a, out, 1000))
    spec.unload()
    assert torch.equal(out, 2 * a)
    with pytest.raises(vectors.LaunchError, match="it was unloaded"):
        spec.launch((a, a, out, 1000))
    spec.load(device=0)
    spec.launch((a, a, out, 1000))


class OnlyDLPack:
    """A tensor seen through DLPack alone."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack__(self, **named: Any) -> Any:
        return self.tensor.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


class OnlyInterface:
    """A tensor seen through ``__cuda_array_interface__`` alone."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.tensor.__cuda_array_interface__


@pytest.mark.parametrize("seen", [OnlyDLPack, OnlyInterface])
def test_other_protocols(vectors: Any, seen: Any) -> None:
    a, b, out = random(1000, torch.float32), random(1000, torch.float32), poisoned(1000, torch.float32)
    vectors.vector_add(seen(a), seen(b), seen(out), 1000)
    assert torch.equal(out, a + b)


def test_cupy(vectors: Any) -> None:
    cupy: Any = pytest.importorskip("cupy")
    a, b = cupy.random.rand(1000).astype("f"), cupy.random.rand(1000).astype("f")
    out = cupy.full(1000, cupy.nan, "f")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.wait_event(cupy.cuda.get_current_stream().record())
        vectors.vector_add(a, b, out, 1000)
        stream.synchronize()
    assert bool((out == a + b).all())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"a_ptr": lambda t: t.cpu()},
            "b_ptr: expected an array on the host, where a_ptr is, got one on CUDA device 0",
        ),
        (
            {"b_ptr": lambda t: t.cpu()},
            "b_ptr: expected an array on CUDA device 0, where a_ptr is, got one on the host",
        ),
        ({"a_ptr": lambda t: t[1:]}, "a_ptr: expected an address that is a multiple of 16"),
        ({"a_ptr": lambda t: t[::2]}, "a_ptr: expected a contiguous array"),
        (
            {"out_ptr": lambda t: t.double()},
            "out_ptr: expected an array of f32, f16 or bf16, got an array of f64 (torch.Tensor)",
        ),
    ],
)
def test_wrong_tensors(vectors: Any, change: Any, message: str) -> None:
    args = {name: random(1000, torch.float32) for name in ("a_ptr", "b_ptr", "out_ptr")}
    args |= {name: function(args[name]) for name, function in change.items()}
    with pytest.raises(vectors.LaunchError) as caught:
        vectors.vector_add(**args, n_elements=10)
    assert message in str(caught.value)
    torch.cuda.synchronize()


def test_parameters_of_torch_modules(vectors: Any) -> None:
    a = torch.nn.Parameter(random(64, torch.float32))
    out = poisoned(64, torch.float32)
    vectors.vector_add(a, a, out, 64)
    assert torch.equal(out, 2 * a.detach())


@pytest.mark.parametrize("widths", [(5, 9), (70, 1, 130)])
def test_tuples(nested: Any, widths: tuple[int, ...]) -> None:
    inputs = tuple(torch.randint(-9, 9, (4, w), device="cuda", dtype=torch.int32) for w in widths)
    out = poisoned((4, sum(widths)), torch.int32)
    nested.concat(inputs, widths, (4, sum(widths)), out)
    assert torch.equal(out, torch.cat(inputs, dim=1))


@pytest.mark.parametrize("bias", [False, True])
def test_tuples_in_tuples(nested: Any, bias: bool) -> None:
    x, out = random(1000, torch.float16), poisoned(1000, torch.float16)
    more = random(1000, torch.float32) if bias else None
    nested.affine_of(((x, out), more, 2.0), 1000)
    assert torch.equal(out, (x.float() * 2 + (more if more is not None else 0)).half())


@pytest.mark.parametrize("block", [(16, 32), (8, 16)])
def test_descriptors(nested: Any, block: tuple[int, int]) -> None:
    """Triton's own, and arrays with and without gaps."""
    whole = random(37 * 128, torch.float16).view(37, 128)
    x = whole[:, 8:96]
    expected = torch.zeros(37, 88, device="cuda", dtype=torch.float16)
    expected[:34] = x[3:]
    out = poisoned((37, 88), torch.float16)
    nested.shift(x, out, 3, BM=block[0], BN=block[1])
    assert torch.equal(out, expected)
    made: Any = pytest.importorskip("triton.tools.tensor_descriptor").TensorDescriptor
    expected[34:] = torch.nan
    nested.shift(made.from_tensor(x, list(block), "nan"), made.from_tensor(out, list(block)), 3)
    assert torch.equal(out.isnan(), expected.isnan())
    assert torch.equal(out[:34], expected[:34])


def test_programs_that_wait_for_each_other(directory: Path) -> None:
    """As many as fit run at once; more are refused before any of them begins."""
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    x = random(256 * programs, torch.float32)
    out, total = poisoned(len(x), torch.float32), poisoned(len(x), torch.float32)
    arrived = torch.zeros(1, dtype=torch.int32, device="cuda")
    with imported(install(NEIGHBOURS.replace('"sm_90a"', f'"{target()}"'), directory)) as kernels:
        kernels.neighbours(x, out, arrived, total, grid=(programs,))
        torch.cuda.synchronize()
        assert torch.equal(out, 2 * x)
        assert torch.equal(total, out + out.roll(-256))
        assert arrived.item() == programs
        with pytest.raises(kernels.LaunchError, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
            kernels.neighbours(x, out, arrived, total, grid=(100 * programs,))
