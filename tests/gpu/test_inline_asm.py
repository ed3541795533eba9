"""Inline assembly on a GPU: which elements it is given, and where what it gives goes."""

from __future__ import annotations

import device as gpu
import numpy as np
import pytest

from teenybuild import compile
from tests.gpu.program import GpuProgram
from tests.language.test_inline_asm import KERNEL, TYPES
from tests.support.run import workspace, write_source

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
def test_every_element_is_its_own(device: gpu.Device, target: str, num_warps: int) -> None:
    rng = np.random.default_rng()
    x = rng.integers(-(2**31), 2**31, 256).astype(np.int32)
    y = rng.integers(-128, 128, 256).astype(np.int8)
    arguments = {"x": x, "y": y, "o": np.zeros(256, np.int32), "p": np.zeros(256, np.int8), "n": 41}
    path = write_source(KERNEL)
    options = {"num_warps": num_warps, "cache_dir": workspace() / "cache"}
    found = GpuProgram(device, compile(f"{path}:kernel", target, TYPES, **options))(arguments)
    wide = x.view(np.uint32).astype(np.uint64)
    # A funnel shift of the pair (7, x) to the left by 3: its upper half.
    shifted = ((np.uint64(7) << np.uint64(3)) | (wide >> np.uint64(29))).astype(np.uint32)
    expected = (shifted + x.view(np.uint32) + np.uint32(42)).view(np.int32)
    assert found["o"].tolist() == expected.tolist()
    assert found["p"].tolist() == (y & 0x0F).tolist()
