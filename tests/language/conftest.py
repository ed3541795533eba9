"""Tests of the language verify tile IR after every pass, and compute with infinities and NaN on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from teenybuild import api
from teenybuild.compiler.pipeline import Job, Product, compile_job


@pytest.fixture(autouse=True, scope="module")
def verified() -> Iterator[None]:
    def compile_verified(job: Job) -> Product:
        return compile_job(replace(job, verify=True))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "compile_job", compile_verified)
        yield


@pytest.fixture(autouse=True, scope="module")
def quiet_numpy() -> Iterator[None]:
    before = np.seterr(all="ignore")
    yield
    np.seterr(**before)
