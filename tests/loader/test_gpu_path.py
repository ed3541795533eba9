"""Launches on GPUs, as the driver sees them. The driver is a fake; see ``tests/gpu`` for the real one."""

from __future__ import annotations

import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teenybuild.loader import Image, generate, write_package
from tests.runtime.fake_arrays import CudaArray, CupyArray, DLPackArray, Tensor, fake_cupy, fake_torch
from tests.runtime.fake_driver import CUresult, FakeDevice, FakeDriver, real
from tests.support.threads import together

from .manifests import VECTOR_ADD, ZOO
from .packages import built, imported, install

ADDRESS = 0x7F0000000000

Start = Callable[..., tuple[FakeDriver, Any]]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Puts a driver in place and imports a package."""
    with ExitStack() as stack:

        def start(
            *devices: FakeDevice, text: str = VECTOR_ADD, version: int = 12080
        ) -> tuple[FakeDriver, Any]:
            driver = FakeDriver(*devices, version=version)
            monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
            return driver, stack.enter_context(imported(install(text, tmp_path)))

        yield start


def tensors(number: int = 3, **named: Any) -> list[Tensor]:
    return [Tensor(address=ADDRESS + 4096 * n, **named) for n in range(number)]


def test_parameters(start: Start) -> None:
    driver, kernels = start()
    kernels.vector_add(*tensors(), 1000, BLOCK_SIZE=1024)
    [launch] = driver.launches
    assert launch.symbol == "vector_add_entry_point"
    assert launch.integers == [ADDRESS, ADDRESS + 4096, ADDRESS + 8192, 1000, 1, 1, 1, 0]
    assert (launch.grid, launch.block, launch.stream) == ((1, 1, 1), (128, 1, 1), 0)


def test_every_number(start: Start) -> None:
    driver, kernels = start(text=ZOO)
    out = Tensor("float64")
    kernels.scalars(out, True, -1, 255, -2, 65535, -3, 2**32 - 1, -4, 2**64 - 1, 1.5, 1.5, 0.1, 0.1)
    [launch] = driver.launches
    expected = [
        struct.pack("<Q", ADDRESS),
        b"\x01",
        struct.pack("<b", -1),
        struct.pack("<B", 255),
        struct.pack("<h", -2),
        struct.pack("<H", 65535),
        struct.pack("<i", -3),
        struct.pack("<I", 2**32 - 1),
        struct.pack("<q", -4),
        struct.pack("<Q", 2**64 - 1),
        struct.pack("<e", 1.5),
        b"\xc0\x3f",
        struct.pack("<f", 0.1),
        struct.pack("<d", 0.1),
    ]
    assert launch.parameters[: len(expected)] == expected
    assert launch.integers[len(expected) :] == [1, 1, 1, 0]


def test_grid_in_three_dimensions(start: Start) -> None:
    driver, kernels = start(text=ZOO)
    kernels.where_am_i(Tensor("int32"), grid=(3, 4, 5))
    assert driver.launches[0].grid == (3, 4, 5)
    assert driver.launches[0].integers[1:4] == [3, 4, 5]


def test_an_empty_grid_launches_nothing(start: Start) -> None:
    driver, kernels = start()
    empty = Tensor(address=0, elements=0)
    kernels.vector_add(empty, empty, empty, 0)
    assert not driver.launches
    assert "cuModuleLoadDataEx" not in driver.calls


def test_the_second_launch_asks_for_the_context_and_launches(start: Start) -> None:
    driver, kernels = start()
    driver.stack.append(driver.primary(0))
    kernels.vector_add(*tensors(), 1000)
    driver.calls.clear()
    kernels.vector_add(*tensors(), 1000)
    assert driver.calls == ["cuCtxGetCurrent", "cuLaunchKernelEx"]
    assert driver.stack == [driver.primary(0)]


def test_variants(start: Start) -> None:
    """The extra variant where every assumption holds, one module for each."""
    driver, kernels = start()
    args = tensors()
    assert kernels.vector_add.pick(*args, 1024).auto
    assert not kernels.vector_add.pick(*args, 1000).auto
    kernels.vector_add(*args, 1024)
    kernels.vector_add(*args, 1000)
    assert len(driver.modules) == 2


def test_none_has_no_parameter(start: Start) -> None:
    driver, kernels = start(text=ZOO)
    x, bias, out = tensors()
    kernels.affine(x, None, out, 100, 2, False)
    kernels.affine(x, bias, out, 100, 2, False)
    without, with_bias = driver.launches
    assert len(with_bias.parameters) == len(without.parameters) + 1


def test_a_kernel_without_arguments(start: Start) -> None:
    driver, kernels = start(text=ZOO)
    kernels.nothing(target="sm_90a")
    assert driver.launches[0].device == 0
    driver.stack.append(driver.primary(0))
    kernels.nothing(target="sm_90a", stream=5)
    assert driver.launches[1].stream == 5


# Devices and contexts.


def test_tensors_on_a_device_that_is_not_current(start: Start) -> None:
    driver, kernels = start(*[FakeDevice() for _ in range(4)])
    driver.stack.append(driver.primary(0))
    kernels.vector_add(*tensors(device="cuda:3"), 1000)
    assert driver.launches[0].context == driver.primary(3)
    assert driver.stack == [driver.primary(0)]
    kernels.vector_add(*tensors(), 1000)
    assert driver.launches[1].context == driver.primary(0)
    assert driver.stack == [driver.primary(0)]


def test_no_context_is_current(start: Start) -> None:
    driver, kernels = start(FakeDevice(), FakeDevice())
    kernels.vector_add(*tensors(device="cuda:1"), 1000)
    assert driver.launches[0].context == driver.primary(1)
    assert driver.stack == []
    assert driver.retained == {1: 1}


def test_a_context_of_the_users_own_stays_in_use(start: Start) -> None:
    """Its memory belongs to it: launching in the primary context would not see that."""
    driver, kernels = start(FakeDevice(), FakeDevice())
    own = 0xD001
    driver.stack.append(own)
    kernels.vector_add(*tensors(device="cuda:1"), 1000)
    assert driver.launches[0].context == own
    assert driver.stack == [own]


def test_one_module_a_context(start: Start) -> None:
    driver, kernels = start(FakeDevice(), FakeDevice())
    for _ in range(2):
        kernels.vector_add(*tensors(device="cuda:0"), 1000)
        kernels.vector_add(*tensors(device="cuda:1"), 1000)
    assert sorted(module.context for module in driver.modules.values()) == [
        driver.primary(0),
        driver.primary(1),
    ]
    assert [launch.device for launch in driver.launches] == [0, 1, 0, 1]


def test_the_best_image_for_each_device(start: Start) -> None:
    hopper, ampere, blackwell, other = (
        FakeDevice(),
        FakeDevice("A", (8, 0)),
        FakeDevice("B", (10, 0)),
        FakeDevice("C", (8, 6)),
    )
    driver, kernels = start(hopper, ampere, blackwell, other, text=ZOO)
    for number in range(4):
        kernels.only_gpu(Tensor("int32", f"cuda:{number}"))
    targets = [module.text.partition(".target ")[2].partition("\n")[0] for module in driver.modules.values()]
    assert targets == ["sm_90a", "sm_80", "sm_80", "sm_80"]


# Streams.


def test_the_current_stream_of_pytorch(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, kernels = start(FakeDevice(), FakeDevice())
    monkeypatch.setitem(sys.modules, "torch", fake_torch({0: 70, 1: 71}))
    kernels.vector_add(*tensors(device="cuda:1"), 1000)
    assert driver.launches[0].stream == 71


def test_the_current_stream_of_cupy(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, kernels = start()
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy({0: 80}))
    kernels.vector_add(*(CupyArray() for _ in range(3)), 1000)
    assert driver.launches[0].stream == 80


def test_the_stream_that_an_array_names(start: Start) -> None:
    driver, kernels = start()
    driver.pointers[ADDRESS] = 0
    kernels.vector_add(*(CudaArray(stream=90) for _ in range(3)), 1000)
    kernels.vector_add(*(CudaArray() for _ in range(3)), 1000)
    assert [launch.stream for launch in driver.launches] == [90, 0]


def test_a_stream_that_is_passed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, kernels = start()
    monkeypatch.setitem(sys.modules, "torch", fake_torch({0: 70}))
    kernels.vector_add(*tensors(), 1000, stream=0)
    kernels.vector_add(*tensors(), 1000, stream=real.CUstream(5))
    kernels.vector_add.spec().launch((*tensors(), 1000), stream=6)
    assert [launch.stream for launch in driver.launches] == [0, 5, 6]


def test_arrays_of_several_frameworks(start: Start) -> None:
    driver, kernels = start()
    driver.pointers[ADDRESS] = 0
    kernels.vector_add(DLPackArray(), CudaArray(), Tensor(), 1000)
    assert driver.launches[0].integers[:3] == [ADDRESS] * 3


def test_empty_arrays_without_an_address(start: Start) -> None:
    """``__cuda_array_interface__`` gives null for them, which belongs to no device: it is taken for the current one's."""
    driver, kernels = start(FakeDevice(), FakeDevice())
    empty = CudaArray(shape=(0,), data=(0, False))
    driver.stack.append(driver.primary(1))
    kernels.vector_add.spec().launch((empty, empty, empty, 0), (1,))
    assert driver.launches[0].device == 1


# Loading.


def test_loading_ahead(start: Start) -> None:
    driver, kernels = start(FakeDevice(), FakeDevice())
    spec = kernels.vector_add.spec(D="f32")
    spec.load(device=1)
    assert [module.context for module in driver.modules.values()] == [driver.primary(1)]
    driver.capturing.add(7)
    kernels.vector_add(*tensors(device="cuda:1"), 1000, stream=7)
    assert len(driver.launches) == 1


def test_loading_a_whole_kernel(start: Start) -> None:
    driver, kernels = start()
    kernels.vector_add.load(0)
    assert len(driver.modules) == len(kernels.vector_add.specialisations)
    kernels.vector_add.load(0)
    assert len(driver.modules) == len(kernels.vector_add.specialisations)


def test_a_first_call_in_a_capture(start: Start) -> None:
    driver, kernels = start()
    driver.capturing.add(7)
    with pytest.raises(kernels.LaunchError) as caught:
        kernels.vector_add(*tensors(), 1000, stream=7)
    assert str(caught.value) == (
        "vector_add__f32__128: its code is not loaded, and cannot be while a CUDA graph is captured\n"
        "hint: load(device=0) it before the capture"
    )
    assert not driver.modules
    driver.failing["cuStreamIsCapturing"] = CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    with pytest.raises(kernels.LaunchError, match="while a CUDA graph is captured"):
        kernels.vector_add(*tensors(), 1000)


def test_loading_lets_captures_of_other_streams_be(start: Start) -> None:
    driver, kernels = start()
    kernels.vector_add(*tensors(), 1000)
    mode = real.CUstreamCaptureMode
    assert driver.capture_modes == [mode.CU_STREAM_CAPTURE_MODE_RELAXED, mode.CU_STREAM_CAPTURE_MODE_GLOBAL]


def test_unloading(start: Start) -> None:
    driver, kernels = start(FakeDevice(), FakeDevice())
    for device in ("cuda:0", "cuda:1"):
        kernels.vector_add(*tensors(device=device), 1000)
    driver.calls.clear()
    kernels.vector_add.unload()
    assert not driver.modules
    assert not driver.stack
    assert driver.calls.index("cuCtxSynchronize") < driver.calls.index("cuModuleUnload")
    with pytest.raises(kernels.LaunchError, match=r"it was unloaded; load\(\) it to use it again"):
        kernels.vector_add(*tensors(), 1000)
    kernels.vector_add.load(0)
    kernels.vector_add(*tensors(), 1000)
    assert len(driver.launches) == 3


# What the description asks for.


def changed(tmp_path: Path, name: str, **said: Any) -> Path:
    """The package of vector_add with other launch data in its descriptions."""
    found = built(VECTOR_ADD)
    images = {
        target: {
            id: Image(
                {
                    **image.description,
                    **said,
                    "launch": {**image.description["launch"], **said.get("launch", {})},
                },
                image.files,
            )
            for id, image in each.items()
        }
        for target, each in found.images.items()
    }
    write_package(generate(found.plan.manifest, found.plan.specialisations, images), tmp_path / name)
    return tmp_path / name


#: As far as the fake looks at them.
PTX, CUBIN = b"PTX with .entry vector_add_entry_point(", b"code with .entry vector_add_entry_point("


@pytest.mark.parametrize(
    ("files", "capability", "loaded"),
    [
        ({"ptx": PTX, "cubin": CUBIN}, (9, 0), CUBIN),
        ({"ptx": PTX, "cubin": CUBIN}, (10, 0), PTX),
        ({"cubin": CUBIN}, (9, 0), CUBIN),
        ({"ptx": PTX}, (9, 0), PTX),
    ],
)
def test_machine_code_goes_before_ptx(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, bytes],
    capability: tuple[int, int],
    loaded: bytes,
) -> None:
    """Where it runs: on its own major version. PTX is for all later ones."""
    driver = FakeDriver(FakeDevice(capability=capability))
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    text = VECTOR_ADD.replace("sm_90a", "sm_90")
    with imported(of_files(tmp_path, text, files)) as kernels:
        kernels.vector_add(*tensors(), 1000)
    assert driver.loaded == [loaded]


def test_machine_code_for_another_device_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver(FakeDevice(capability=(10, 0)))
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    text = VECTOR_ADD.replace("sm_90a", "sm_90")
    package = of_files(tmp_path, text, {"cubin": CUBIN})
    with imported(package) as kernels, pytest.raises(LookupError) as wrong:
        kernels.vector_add(*tensors(), 1000)
    assert "machine code for sm_90, which does not run on CUDA device 0" in str(wrong.value)
    assert 'hint: add sm_100 to the targets of the manifest, or "ptx" to emit' in str(wrong.value)


def of_files(tmp_path: Path, text: str, files: dict[str, bytes]) -> Path:
    """A package whose artifacts for GPUs are these files."""
    found = built(text)
    images = {
        target: {id: Image(image.description, files) for id, image in each.items()}
        for target, each in found.images.items()
        if target != "cpu"
    }
    write_package(generate(found.plan.manifest, found.plan.specialisations, images), tmp_path / "of_files")
    return tmp_path / "of_files"


def test_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    with imported(changed(tmp_path, "shared", launch={"shared_bytes": 49152})) as kernels:
        kernels.vector_add(*tensors(), 1000)
    assert driver.launches[-1].shared == 49152
    assert not driver.attributes
    with imported(changed(tmp_path, "more_shared", launch={"shared_bytes": 49153})) as kernels:
        kernels.vector_add(*tensors(), 1000)
    assert driver.launches[-1].shared == 49153
    asked = real.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert driver.attributes == [(asked, 49153)]


def test_blocks_that_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared memory and carve-out follow what a launch reads; the carve-out is set only when it has to change."""
    driver = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    carveout = real.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    said = {
        "bytes": 4000,
        "argument": "n_elements",
        "of": 1000,
        "wanted": 16000,
        "shared": [700, 600, 500, 400, 300],
    }
    with imported(changed(tmp_path, "resident", launch={"residency": said, "shared_bytes": 32})) as kernels:
        seen: list[tuple[int, int]] = []
        for n in (1000, 999, 500, 667, 666, 667, 1, 0):
            # A block reads 4 n bytes, so 16000 / (4 n) of them are wanted; five can be held, and six are near enough.
            a, b, out = tensors()
            kernels.vector_add(a, b, out, n, grid=(1,))
            seen.append((n, driver.launches[-1].shared))
    assert seen == [(1000, 400), (999, 300), (500, 32), (667, 300), (666, 32), (667, 300), (1, 32), (0, 32)]
    assert driver.attributes == [(carveout, value) for value in (0, -1, 0, -1, 0, -1)]


def test_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    with imported(changed(tmp_path, "scratch", scratch_bytes=1000)) as kernels:
        kernels.vector_add(*tensors(), 1000, stream=3)
        sizes: list[int] = []
        monkeypatch.setattr(
            driver,
            "cuMemFreeAsync",
            lambda memory, stream: sizes.append(driver.memory.pop(int(memory))) or (CUresult.CUDA_SUCCESS,),
        )
        kernels.vector_add(*tensors(), 1000, stream=3)
        assert sizes == [8 * 1000]
        assert driver.launches[-1].integers[-1] != 0
        driver.failing["cuLaunchKernelEx"] = CUresult.CUDA_ERROR_LAUNCH_FAILED
        with pytest.raises(kernels.LaunchError):
            kernels.vector_add(*tensors(), 1000, stream=3)
    assert not driver.memory


def test_clusters_and_cooperative_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    with imported(
        changed(tmp_path, "cluster", launch={"cluster": [2, 8, 1], "cooperative": True})
    ) as kernels:
        kernels.vector_add(*tensors(), 1000, grid=(4, 8), stream=9)
    [launch] = driver.launches
    assert (launch.grid, launch.block, launch.stream) == ((4, 8, 1), (128, 1, 1), 9)
    cluster, cooperative, early = launch.attributes
    size = cluster.value.clusterDim
    assert (size.x, size.y, size.z) == (2, 8, 1)
    assert cooperative.value.cooperative == 1
    assert early.value.programmaticStreamSerializationAllowed == 1
    allowed = real.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    assert driver.attributes == [(allowed, 1)]


def test_code_that_does_not_wait_is_launched_when_it_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = FakeDriver()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    with imported(changed(tmp_path, "plain", launch={"programmatic": False})) as kernels:
        kernels.vector_add(*tensors(), 1000, stream=9)
    [launch] = driver.launches
    assert (launch.grid, launch.block, launch.stream) == ((8, 1, 1), (128, 1, 1), 9)
    assert launch.attributes == []
    assert "cuLaunchKernel" in driver.calls


# What the driver refuses.


@pytest.mark.parametrize(
    "function",
    [
        "cuInit",
        "cuDeviceGet",
        "cuDeviceGetAttribute",
        "cuDeviceGetName",
        "cuDevicePrimaryCtxRetain",
        "cuCtxGetCurrent",
        "cuCtxPushCurrent",
        "cuStreamIsCapturing",
        "cuThreadExchangeStreamCaptureMode",
        "cuModuleLoadDataEx",
        "cuModuleGetFunction",
        "cuDriverGetVersion",
        "cuFuncLoad",
        "cuLaunchKernelEx",
    ],
)
def test_every_refusal_is_told(start: Start, function: str) -> None:
    driver, kernels = start()
    driver.failing[function] = CUresult.CUDA_ERROR_UNKNOWN
    if function == "cuStreamIsCapturing":
        # Not known to be captured is no reason not to load: that would say so itself.
        kernels.vector_add(*tensors(), 1000)
        return
    with pytest.raises(kernels.LaunchError, match=r"cannot .*CUDA_ERROR_UNKNOWN \(words for 999\)") as caught:
        kernels.vector_add(*tensors(), 1000)
    assert caught.value.code == "CUDA_ERROR_UNKNOWN"
    assert not driver.launches
    assert driver.stack == []


def test_a_refused_launch_says_with_what(start: Start) -> None:
    driver, kernels = start()
    driver.failing["cuLaunchKernelEx"] = CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    with pytest.raises(kernels.LaunchError) as caught:
        kernels.vector_add(*tensors(), 1000)
    assert str(caught.value) == (
        "vector_add__f32__128: cannot launch on CUDA device 0: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (words for 701) "
        "with grid (8, 1, 1), 128 threads and 0 bytes of shared memory\n"
        "hint: the device has too few registers or too little shared memory for this specialisation"
    )
    driver.failing.clear()
    kernels.vector_add(*tensors(), 1000)
    assert len(driver.launches) == 1


@pytest.mark.parametrize(
    ("version", "said", "wanted"),
    [
        (11080, "the driver, for CUDA 11.8, reads PTX up to 7.8", "7.8"),
        (12040, "the driver, for CUDA 12.4, reads PTX up to 8.4", "8.4"),
        (99010, "the driver, for CUDA 99.1, does not read it", "an older version"),
    ],
)
def test_ptx_that_is_too_new(start: Start, version: int, said: str, wanted: str) -> None:
    driver, kernels = start(version=version)
    driver.failing["cuModuleLoadDataEx"] = CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    with pytest.raises(kernels.LaunchError) as caught:
        kernels.vector_add(*tensors(), 1000)
    text = str(caught.value)
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" in text
    assert "vector_add__f32__128.ptx" in text
    assert f"it is PTX 8.0, and {said}\n" in text
    assert f'build with ptx = "{wanted}" under [build] (or TEENYBUILD_PTX_VERSION={wanted})' in text


def test_the_log_of_the_translation(start: Start) -> None:
    driver, kernels = start()
    driver.failing["cuModuleLoadDataEx"] = CUresult.CUDA_ERROR_INVALID_PTX
    driver.jit_log = b"ptxas fatal: something on line 12\0"
    with pytest.raises(
        kernels.LaunchError, match=r"CUDA_ERROR_INVALID_PTX .*\nptxas fatal: something on line 12$"
    ):
        kernels.vector_add(*tensors(), 1000)


def test_a_process_forked_after_cuda_was_used(start: Start) -> None:
    driver, kernels = start()
    driver.stack.append(driver.primary(0))
    kernels.vector_add(*tensors(), 1000)
    driver.failing["cuCtxGetCurrent"] = CUresult.CUDA_ERROR_NOT_INITIALIZED
    with pytest.raises(
        kernels.LaunchError, match="a process that was forked after CUDA was used cannot use it"
    ):
        kernels.vector_add(*tensors(), 1000)


def test_an_artifact_that_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", FakeDriver())
    directory = install(VECTOR_ADD, tmp_path)
    path = directory / "_artifacts" / "sm_90a" / "vector_add__f32__128.ptx"
    path.write_bytes(path.read_bytes() + b"\n")
    with imported(directory) as kernels, pytest.raises(kernels.LaunchError) as caught:
        kernels.vector_add(*tensors(), 1000)
    assert str(caught.value) == (
        f"vector_add__f32__128: {path} has changed since it was generated; build the package again"
    )


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("bindings", "cuda-bindings, which cannot be imported"),
        ("library", "the CUDA driver cannot be loaded: no libcuda"),
    ],
)
def test_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, message: str) -> None:
    driver: Any = None
    if missing == "library":

        class NoLibrary(FakeDriver):
            def cuInit(self, flags: int) -> Any:
                raise RuntimeError("no libcuda")

        driver = NoLibrary()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    with imported(install(VECTOR_ADD, tmp_path)) as kernels:
        with pytest.raises(kernels.LaunchError, match=message):
            kernels.vector_add(*tensors(), 1000)
        # The host needs none of it.
        out = np.zeros(4, np.float32)
        kernels.vector_add(np.ones(4, np.float32), np.ones(4, np.float32), out, 4)
        assert out.tolist() == [2] * 4


# Threads.


def test_many_threads_launch_at_once(start: Start) -> None:
    """Parameters are packed into memory that launches use again: no thread may see another's."""
    driver, kernels = start()
    spec = kernels.vector_add.spec()

    def launches(thread: int) -> None:
        driver.stack.append(driver.primary(0))
        for turn in range(200):
            a, b, out = (Tensor(address=ADDRESS + 65536 * thread + 4096 * n) for n in range(3))
            spec.launch((a, b, out, 1000 * thread + turn), (thread + 1, turn + 1))

    assert not together(launches)
    assert len(driver.launches) == 1600
    assert len(driver.modules) == 1
    for launch in driver.launches:
        a, b, out, n, x, y, z, scratch = launch.integers
        thread, turn = divmod(n, 1000)
        base = ADDRESS + 65536 * thread
        assert (a, b, out) == (base, base + 4096, base + 8192)
        assert (x, y, z, scratch) == (thread + 1, turn + 1, 1, 0)
        assert launch.grid == (x, y, z)


def test_importing_and_the_host_load_no_driver(tmp_path: Path) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    program = f"""
        import sys
        sys.path.insert(0, {str(directory.parent)!r})
        import {directory.name} as kernels
        kernels.vector_add
        loaded = {{name.partition(".")[0] for name in sys.modules}}
        assert not loaded & {{"numpy", "cuda", "ml_dtypes", "teenybuild", "ctypes", "json"}}, loaded
        import numpy as np
        out = np.zeros(4, np.float32)
        kernels.vector_add(np.ones(4, np.float32), np.ones(4, np.float32), out, 4)
        assert out.tolist() == [2] * 4
        assert "cuda" not in sys.modules
    """
    subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", textwrap.dedent(program)], check=True, timeout=60
    )
