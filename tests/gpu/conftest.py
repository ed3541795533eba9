"""What every test on a GPU needs: the first device, and the library built for it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import device as gpu
import pytest

from teenybuild.targets import ARCHITECTURES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def device() -> gpu.Device:
    """The first GPU. Whoever asks for these tests has one: none is a failure, not a skip."""
    found = gpu.find()
    assert found is not None, "no GPU, no driver, or cuda-bindings is not installed"
    return found


@pytest.fixture(scope="session")
def target(device: gpu.Device) -> str:
    """The most specific target of the device."""
    from cuda.bindings import driver

    attributes: Any = driver.CUdevice_attribute
    handle = device.call("cuDeviceGet", 0)
    major, minor = (
        device.call("cuDeviceGetAttribute", attribute, handle)
        for attribute in (
            attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    return next(name for name in (f"sm_{major}{minor}a", f"sm_{major}{minor}") if name in ARCHITECTURES)


@pytest.fixture(scope="session")
def library_package(tmp_path_factory: pytest.TempPathFactory, target: str) -> Iterator[ModuleType]:
    """The repository's kernels.toml, built for the device and the host, imported."""
    directory = tmp_path_factory.mktemp("library")
    command = [
        sys.executable, "-m", "teenybuild", "build", "-q", "-m", str(ROOT / "kernels.toml"),
        "--build-dir", str(directory / "build"), "--cache-dir", str(directory / "cache"), "--loader-dir", str(directory),
        "--target", target, "--target", "cpu",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    sys.path.insert(0, str(directory))
    try:
        yield importlib.import_module("teeny_kernels")
    finally:
        sys.path.remove(str(directory))
