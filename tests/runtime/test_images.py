"""Which code runs on which device."""

from __future__ import annotations

import pytest

from teenybuild.runtime.images import runs_on
from teenybuild.targets import ARCHITECTURES

CAPABILITIES = [(7, 5), (8, 0), (8, 6), (8, 7), (8, 9), (9, 0), (10, 0), (10, 3), (11, 0), (12, 0), (12, 1)]


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_architecture_on_every_device(name: str, capability: tuple[int, int]) -> None:
    arch = ARCHITECTURES[name]
    own = divmod(arch.sm, 10)
    if arch.suffix == "a":
        expected = capability == own
    elif arch.suffix == "f":
        expected = capability[0] == own[0] and capability[1] >= own[1]
    else:
        expected = capability >= own
    assert runs_on(name, capability) is expected


@pytest.mark.parametrize("target", ["cpu", "cpu:sm_90a", "sm_9", "sm_90b", "compute_90"])
def test_other_targets_run_on_no_device(target: str) -> None:
    assert not runs_on(target, (9, 0))
