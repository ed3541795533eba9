"""Every kernel of ``tests/kernels`` on a GPU: the same calls as on the host, held to the same references."""

from __future__ import annotations

import device as gpu
import numpy as np
import pytest

from tests.kernels.corpus import KERNELS

from .program import GpuProgram

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel(name: str, device: gpu.Device, target: str) -> None:
    kernel = KERNELS[name]
    seed = np.random.SeedSequence().entropy
    with np.errstate(all="ignore"):
        for number, case in enumerate(kernel.cases(np.random.default_rng(seed))):
            try:
                program = GpuProgram(device, kernel.compile(case, target))
                case.check(program(case.arguments, case.grid), target)
            except Exception as wrong:
                wrong.add_note(f"{name}, call {number}, seed {seed}")
                raise
