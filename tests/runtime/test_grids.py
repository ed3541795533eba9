"""Grids: what is let through, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenybuild.manifest import grid as build
from teenybuild.runtime.arithmetic import cdiv, next_power_of_2
from teenybuild.runtime.errors import GridError
from teenybuild.runtime.grids import GPU_LIMITS, HOST_LIMITS, Grids, RowGrid
from teenybuild.runtime.views import READERS

NO_EXPRESSIONS = RowGrid(Grids("k", None, (), ()), {}, ("n",))


def computed(function: Any, names: tuple[str, ...], text: str, values: dict[str, Any], **consts: Any) -> Any:
    grids = Grids("k", function, names, (text,))
    views = [READERS[type(value)](value) for value in values.values()]
    return RowGrid(grids, consts, tuple(values)).computed(views, GPU_LIMITS)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1).filter(bool))
def test_functions_are_those_of_the_manifest(a: int, b: int) -> None:
    assert cdiv(a, b) == build.cdiv(a, b)
    assert next_power_of_2(a) == build.next_power_of_2(a)


@pytest.mark.parametrize(
    ("grid", "extents"),
    [
        ((5,), (5, 1, 1)),
        ((5, 6), (5, 6, 1)),
        ((5, 6, 7), (5, 6, 7)),
        ([5, 6], (5, 6, 1)),
        ((np.int64(5), np.uint8(6)), (5, 6, 1)),
        ((2**31 - 1, 65535, 65535), (2**31 - 1, 65535, 65535)),
    ],
)
def test_given(grid: Any, extents: tuple[int, int, int]) -> None:
    assert NO_EXPRESSIONS.given(grid, GPU_LIMITS) == extents


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (5, "grid: expected a tuple of 1 to 3 integers, got 5; write (5,)"),
        (True, "grid: expected a tuple of 1 to 3 integers, got True"),
        ("abc", "grid: expected a tuple of 1 to 3 integers, got 'abc'"),
        (np.ones(2, int), "grid: expected a tuple of 1 to 3 integers, got array([1, 1])"),
        ((), "grid: expected 1 to 3 extents, got 0"),
        ((1, 1, 1, 1), "grid: expected 1 to 3 extents, got 4"),
        ((0,), "grid x: expected 1 to 2147483647, got 0"),
        ((-1,), "grid x: expected 1 to 2147483647, got -1"),
        ((1, 0), "grid y: expected 1 to 65535, got 0"),
        ((1, 1, -2), "grid z: expected 1 to 65535, got -2"),
        ((2**31,), "grid x: expected 1 to 2147483647, got 2147483648"),
        ((1, 65536), "grid y: expected 1 to 65535, got 65536"),
        ((1, 1, 65536), "grid z: expected 1 to 65535, got 65536"),
        ((10**5000,), "grid x: expected 1 to 2147483647, got an integer of 16610 bits"),
        ((True,), "grid x: expected an integer, got True"),
        ((1, 2.0), "grid y: expected an integer, got 2.0"),
        ((1, None), "grid y: expected an integer, got None"),
        ((np.ones((), int),), "grid x: expected an integer, got array(1)"),
        ((np.True_,), "grid x: expected an integer, got np.True_"),
    ],
)
def test_given_and_wrong(grid: Any, message: str) -> None:
    with pytest.raises(GridError) as caught:
        NO_EXPRESSIONS.given(grid, GPU_LIMITS)
    assert str(caught.value) == f"k: {message}"
    assert (caught.value.kernel, caught.value.argument) == ("k", "grid")


def test_the_host_has_wider_limits() -> None:
    assert NO_EXPRESSIONS.given((1, 70000, 70000), HOST_LIMITS) == (1, 70000, 70000)
    with pytest.raises(
        GridError, match=r"2147483647 × 2147483647 × 2147483647 programs are more than 2\^63 - 1"
    ):
        NO_EXPRESSIONS.given((2**31 - 1,) * 3, HOST_LIMITS)


def test_computed() -> None:
    assert computed(lambda n, b: (cdiv(n, b),), ("n", "B"), "cdiv(n, B)", {"n": 1000}, B=128) == (8, 1, 1)
    assert computed(lambda b, n: (b, n), ("B", "n"), "", {"m": 1, "n": 7}, B=2) == (2, 7, 1)
    # NumPy's integers are taken by value: their own arithmetic would overflow.
    assert computed(lambda n: (n * 4 // 4,), ("n",), "", {"n": np.int32(2**30)}) == (2**30, 1, 1)


def test_nothing_to_do() -> None:
    assert computed(lambda n: (cdiv(n, 128),), ("n",), "", {"n": 0}) == (0, 1, 1)


@pytest.mark.parametrize(
    ("function", "value", "message"),
    [
        (lambda n: (n,), -1, "grid x: expected 0 to 2147483647, got -1"),
        (lambda n: (1, n), 65536, "grid y: expected 0 to 65535, got 65536"),
        (lambda n: (4 // n,), 0, "grid: the text divides by zero with n = 0"),
        (lambda n: (cdiv(n, 4),), None, "grid: the text needs n, which is None here; pass grid="),
    ],
)
def test_computed_and_wrong(function: Any, value: Any, message: str) -> None:
    with pytest.raises(GridError) as caught:
        computed(function, ("n",), "the text", {"n": value})
    assert str(caught.value) == f"k: {message}"


def test_missing() -> None:
    with pytest.raises(GridError, match="k: grid: missing; the manifest has no grid for this kernel"):
        NO_EXPRESSIONS.computed([], GPU_LIMITS)
