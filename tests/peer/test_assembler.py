"""PTX of every kernel of the catalogue and of ``tests/kernels`` goes through NVIDIA's assembler, for old architectures and new."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.corpus import KERNELS
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.peer
nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
pytest.importorskip("cuda.pathfinder").load_nvidia_dynamic_lib("nvJitLink")

#: All kernels go through these; the others see those of one kind each.
MAIN = ("sm_75", "sm_90a", "sm_120")
OTHERS = ("sm_80", "sm_86", "sm_89", "sm_100a")
FEW = (
    "copy_bf16_aligned", "softmax", "dot_bf16_f32_16", "dot_f32_f32_64", "dot_f64_f64_16", "dot_i8_i32_64", "dot_f8e5m2_f32_64", "dot_f8e5m2_f16_64", "dot_f16_f16_64", "tf32x3", "matmul", "operators_bf16", "operators_f64", "casts_f16", "running_reductions",
)  # fmt: skip
CASES = [(name, arch) for name in CATALOGUE for arch in MAIN] + [
    (name, arch) for name in FEW for arch in OTHERS
]


def assemble(ptx: str, arch: str) -> bytes:
    """The cubin. Raises RuntimeError with the assembler's log."""
    handle = nvjitlink.create(1, [f"-arch={arch}"])
    data = ptx.encode()
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin)
    except nvjitlink.nvJitLinkError as wrong:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        raise RuntimeError(f"{wrong}: {log.decode(errors='replace')}") from None
    finally:
        nvjitlink.destroy(handle)


@pytest.mark.parametrize(("name", "arch"), CASES, ids=[f"{name}-{arch}" for name, arch in CASES])
def test_it_assembles(name: str, arch: str) -> None:
    ptx = CATALOGUE[name].compile(arch).ptx
    assert ptx is not None
    cubin = assemble(ptx, arch)
    assert cubin.startswith(b"\x7fELF")
    assert b"kernel_entry_point" in cubin


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_the_public_kind_assemble(name: str) -> None:
    """Each call's specialisation, for the oldest, a middle and the newest architecture in turn."""
    kernel = KERNELS[name]
    with np.errstate(all="ignore"):
        for number, case in enumerate(kernel.cases(np.random.default_rng(1))):
            arch = MAIN[(number + len(name)) % len(MAIN)]
            ptx = kernel.compile(case, arch).ptx
            assert ptx is not None
            assert f"{kernel.function}_entry_point".encode() in assemble(ptx, arch)


def test_the_assembler_refuses_what_is_wrong() -> None:
    """So that the tests above can fail."""
    ptx = CATALOGUE["softmax"].compile("sm_90a").ptx
    assert ptx is not None
    with pytest.raises(RuntimeError):
        assemble(ptx.replace("shfl.sync.bfly.b32", "shfl.sync.butterfly.b32"), "sm_90a")
