"""Tests of the language compute with infinities and NaN on purpose: NumPy need not warn of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True, scope="module")
def quiet_numpy() -> Iterator[None]:
    before = np.seterr(all="ignore")
    yield
    np.seterr(**before)
