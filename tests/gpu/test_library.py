"""The main job on a GPU: kernels.toml, built, loaded, launched, and right; the host's bits where nothing is approximated."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import device as gpu
import library
import numpy as np
import pytest

pytestmark = pytest.mark.gpu

#: Nothing in these is approximated by the hardware: additions, multiply-adds, comparisons, conversions. (Tensor cores sum in their own way.)
EXACT = {"vector_add", "row_sum", "column_sum"}
EXACT_ACTIVATIONS = {"none", "relu"}


def exact(case: library.Case) -> bool:
    return case.kernel in EXACT or (
        case.kernel == "matmul"
        and case.options["ACTIVATION"] in EXACT_ACTIVATIONS
        and all(v.dtype == np.float32 for v in case.arguments.values() if isinstance(v, np.ndarray))
    )


def outputs(case: library.Case) -> list[str]:
    """Arrays that are all NaN are outputs that wait for values."""
    return [
        name
        for name, value in case.arguments.items()
        if isinstance(value, np.ndarray) and np.isnan(value.astype(np.float64)).all()
    ]


def run(package: ModuleType, device: gpu.Device, case: library.Case) -> dict[str, np.ndarray]:
    """Results of a case on the GPU, out of fresh poisoned outputs."""
    arrays = {n: device.array(v) for n, v in case.arguments.items() if isinstance(v, np.ndarray)}
    getattr(package, case.kernel)(**{**case.arguments, **arrays}, **case.options)
    device.wait()
    return {name: arrays[name].numpy() for name in outputs(case)}


def on_host(package: ModuleType, case: library.Case) -> dict[str, np.ndarray]:
    """Results of a case on the host."""
    fresh = {name: case.arguments[name].copy() for name in outputs(case)}
    getattr(package, case.kernel)(**{**case.arguments, **fresh}, **case.options, target="cpu")
    return fresh


def cases(rng: np.random.Generator) -> Iterator[library.Case]:
    yield from library.small(rng)
    yield from library.edges(rng)


def test_every_kernel_is_right_and_repeats_and_agrees_with_the_host(
    library_package: ModuleType, device: gpu.Device
) -> None:
    count, compared = 0, set[str]()
    for case in cases(np.random.default_rng()):
        results = run(library_package, device, case)
        error = case.error(results)
        assert error <= case.tolerance, f"{case.kernel} {case.label}: error {error}"
        again = run(library_package, device, case)
        host = on_host(library_package, case) if exact(case) else {}
        for name, value in results.items():
            where = f"{case.kernel} {case.label}: {name}"
            np.testing.assert_array_equal(value.view(np.uint8), again[name].view(np.uint8), err_msg=where)
            if host:
                np.testing.assert_array_equal(value.view(np.uint8), host[name].view(np.uint8), err_msg=where)
                compared.add(case.kernel)
        count += 1
    assert count > 300
    assert compared == EXACT | {"matmul"}


def test_special_values_come_through(library_package: ModuleType, device: gpu.Device) -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45, 1.0], np.float32)
    a, b = np.repeat(special, 9), np.tile(special, 9)
    out = device.array(np.full_like(a, 7))
    library_package.vector_add(device.array(a), device.array(b), out, a.size)
    device.wait()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out.numpy(), a + b)
    x = np.array([[np.inf, 1.0, 2.0], [-np.inf, 1.0, 2.0], [np.nan, 1.0, 2.0]], np.float32)
    out = device.array(np.full_like(x, 7))
    library_package.softmax(out, device.array(x), 3, 3, grid=(3,))
    device.wait()
    got = out.numpy()
    assert np.isnan(got[0, 0])
    np.testing.assert_allclose(got[1], [0.0, 0.26894143, 0.7310586], rtol=1e-6)
    assert np.isnan(got[2]).all()


def test_neighbouring_memory_is_left_alone(library_package: ModuleType, device: gpu.Device) -> None:
    for n in (1, 1000, 1023, 4097):
        around: Any = np.full(n + 128, 7, np.float32)
        memory = device.array(around)
        out = gpu.View(memory, 64, n)
        library_package.silu(device.array(np.ones(n, np.float32)), out, n)
        device.wait()
        got = memory.numpy()
        assert (got[:64] == 7).all()
        assert (got[64 + n :] == 7).all()
        assert (got[64 : 64 + n] != 7).all()
