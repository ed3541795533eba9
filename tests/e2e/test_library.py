"""The main job: kernels.toml, built by ninja through the compiler, loaded through the generated package, launched, and right."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import library
import numpy as np
import pytest


def run(package: ModuleType, case: library.Case, target: str) -> dict[str, np.ndarray]:
    """Results of a case on a target, into fresh poisoned outputs."""
    arguments: dict[str, Any] = dict(case.arguments)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and np.isnan(value.astype(np.float64)).all():
            arguments[name] = value.copy()
    getattr(package, case.kernel)(**arguments, **case.options, target=target)
    return {name: arguments[name] for name in arguments if isinstance(arguments[name], np.ndarray)}


def bits(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint8)


@pytest.mark.parametrize("sizes", [library.small, library.edges], ids=["odd sizes", "edges"])
def test_every_kernel_is_right_on_the_host_and_as_a_gpu_would_do_it(package: ModuleType, sizes: Any) -> None:
    count = 0
    for case in sizes(np.random.default_rng()):
        results = run(package, case, "cpu")
        error = case.error(results)
        assert error <= case.tolerance, f"{case.kernel} {case.label}: error {error}"
        emulated = run(package, case, "cpu:sm_90a")
        again = run(package, case, "cpu")
        for name, value in results.items():
            # The same bits: by another layout, and by another run.
            np.testing.assert_array_equal(
                bits(value), bits(emulated[name]), err_msg=f"{case.kernel} {case.label} {name}"
            )
            np.testing.assert_array_equal(bits(value), bits(again[name]))
        count += 1
    assert count > 70


def test_special_values_come_through(package: ModuleType) -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45, 1.0], np.float32)
    a, b = np.repeat(special, 9), np.tile(special, 9)
    for target in ("cpu", "cpu:sm_90a"):
        out = np.full_like(a, 7)
        with np.errstate(all="ignore"):
            package.vector_add(a, b, out, a.size, target=target)
            np.testing.assert_array_equal(out, a + b)
    x = np.array([[np.inf, 1.0, 2.0], [-np.inf, 1.0, 2.0], [np.nan, 1.0, 2.0]], np.float32)
    for target in ("cpu", "cpu:sm_90a"):
        out = np.full_like(x, 7)
        package.softmax(out, x, 3, 3, grid=(3,), target=target)
        assert np.isnan(out[0, 0])
        np.testing.assert_allclose(out[1], [0.0, 0.26894143, 0.7310586], rtol=1e-6)
        assert np.isnan(out[2]).all()


def test_neighbouring_memory_is_left_alone(package: ModuleType) -> None:
    for target in ("cpu", "cpu:sm_90a"):
        around = np.full(1000 + 2 * 64, 7, np.float32)
        out = around[64:-64]
        package.silu(np.ones(1000, np.float32), out, 1000, target=target)
        assert (around[:64] == 7).all()
        assert (around[-64:] == 7).all()
        assert (out != 7).all()
