"""``teenybuild doctor``: what this machine has for building and running kernels."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from teenybuild.cache import default_directory
from teenybuild.diagnostics import UserError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``ok`` is False only for what a build needs."""

    what: str
    ok: bool
    text: str

    def json(self) -> dict[str, object]:
        """As plain data."""
        return {"what": self.what, "ok": self.ok, "text": self.text}


def examine(manifest: str) -> list[Finding]:
    """Everything worth knowing before asking why a build does not work."""
    return [
        Finding("python", sys.version_info >= (3, 11), f"{platform.python_version()} at {sys.executable}"),
        *(
            _package(name)
            for name in (
                "llvmlite",
                "ninja",
                "tomlkit",
                "numpy",
                "ml-dtypes",
                "rich",
                "platformdirs",
                "cuda-bindings",
            )
        ),
        _ninja(),
        _llvm(),
        _assembler(),
        _host(),
        _cache(),
        _manifest(manifest),
        _gpu(),
    ]


def _assembler() -> Finding:
    """What makes cubins: only who wants those needs one."""
    from teenybuild.assembler import find_assembler

    try:
        return Finding("nvJitLink", True, find_assembler("nvjitlink").identity)
    except UserError as wrong:
        return Finding("nvJitLink", True, f"none, so no cubins: {wrong.diagnostics[0].hint}")


def _package(name: str) -> Finding:
    try:
        return Finding(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, False, "not installed")


def _ninja() -> Finding:
    from teenybuild.build import ninja_binary

    path = ninja_binary()
    return Finding("ninja binary", os.access(path, os.X_OK), path)


def _llvm() -> Finding:
    from teenybuild.compiler import emit

    try:
        return Finding("LLVM", True, emit.llvm_version())
    except (OSError, RuntimeError) as wrong:
        return Finding("LLVM", False, str(wrong))


def _host() -> Finding:
    machine = platform.machine()
    ok = machine in ("x86_64", "AMD64")
    return Finding(
        "host target", True, f"{machine}{'' if ok else ' (cpu artifacts are built for x86-64 only)'}"
    )


def _cache() -> Finding:
    said = os.environ.get("TEENYBUILD_CACHE_DIR")
    directory = Path(said) if said else default_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=directory):
            pass
    except OSError as wrong:
        return Finding("cache", False, f"{directory}: {wrong.strerror}")
    return Finding("cache", True, str(directory))


def _manifest(manifest: str) -> Finding:
    return Finding(
        "manifest",
        True,
        manifest if Path(manifest).is_file() else f"no {manifest} here (teenybuild init makes one)",
    )


_HOST_ONLY = "kernels are built for GPUs all the same, and run on the host"


def _gpu() -> Finding:
    """The driver and its devices, if any: nothing needs them to build."""
    try:
        cuda: Any = import_module("cuda.bindings.driver")  # has no types
    except ImportError:
        return Finding("GPU", True, f"cuda-bindings is not installed: {_HOST_ONLY}")
    try:
        (status,) = cuda.cuInit(0)
    except RuntimeError:
        return Finding("GPU", True, f"none: there is no NVIDIA driver; {_HOST_ONLY}")
    if int(status) != 0:
        return Finding("GPU", True, f"no GPU that can be used (cuInit gives {int(status)})")
    version, count = int(cuda.cuDriverGetVersion()[1]), int(cuda.cuDeviceGetCount()[1])
    attribute = cuda.CUdevice_attribute
    names: list[str] = []
    for i in range(count):
        name = cuda.cuDeviceGetName(128, i)[1].split(bytes(1))[0].decode()
        major = cuda.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i)[1]
        minor = cuda.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i)[1]
        names.append(f"{name} (sm_{major}{minor})")
    return Finding(
        "GPU", True, f"driver {version // 1000}.{version % 1000 // 10}; {', '.join(names) or 'no device'}"
    )
