"""Binding, against Python's own."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenybuild.runtime.errors import CallError
from teenybuild.runtime.signature import Signature

PARAMETERS = ("a", "b", "c")
NAMED = ("X", "Y")
LAUNCH = ("grid", "stream", "target")

SIGNATURE = Signature("k", PARAMETERS, NAMED, LAUNCH)


def python(
    a: Any,
    b: Any,
    c: Any,
    *,
    X: Any = None,
    Y: Any = None,
    grid: Any = None,
    stream: Any = None,
    target: Any = None,
) -> None:
    """The same as Python has it."""


names = st.sampled_from([*PARAMETERS, *NAMED, *LAUNCH, "d", "gird"])


@given(st.lists(st.integers(), max_size=5), st.dictionaries(names, st.integers(), max_size=6))
def test_binds_as_python_does(args: list[int], named: dict[str, int]) -> None:
    try:
        expected = inspect.signature(python).bind(*args, **named).arguments
    except TypeError:
        with pytest.raises(CallError):
            SIGNATURE.bind(args, named)
        return
    values, given_, launch = SIGNATURE.bind(args, named)
    assert dict(zip(PARAMETERS, values, strict=True)) == {n: expected[n] for n in PARAMETERS}
    assert given_ == {n: v for n, v in expected.items() if n in NAMED}
    assert launch == {n: v for n, v in expected.items() if n in LAUNCH}


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((1, 2), {}, "k: c: missing"),
        ((), {"b": 1}, "k: the arguments do not match\n  a: missing\n  c: missing"),
        (
            (1, 2, 3, 4),
            {},
            "k: expected 3 arguments by position (a, b, c), got 4; consts and options go by name",
        ),
        ((1, 2, 3), {"a": 1}, "k: a: given by position and by name"),
        ((1, 2, 3), {"gird": 1}, "k: gird: there is no such argument; did you mean grid?"),
        (
            (1, 2, 3),
            {"q": 1},
            "k: q: there is no such argument; there are a, b, c, X, Y, grid, stream, target",
        ),
        (
            (1, 2),
            {"d": 1},
            "k: the arguments do not match\n  d: there is no such argument; there are a, b, c, X, Y, grid, stream, target\n  c: missing",
        ),
    ],
)
def test_messages(args: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    with pytest.raises(CallError) as caught:
        SIGNATURE.bind(args, named)
    assert str(caught.value) == message


def test_names_of_the_launch_give_way() -> None:
    signature = Signature("k", ("grid", "x"), ("target",), LAUNCH)
    values, given_, launch = signature.bind(
        (1,), {"x": 2, "target": 3, "grid_": 4, "stream": 5, "target_": 6}
    )
    assert (list(values), given_, launch) == ([1, 2], {"target": 3}, {"grid": 4, "stream": 5, "target": 6})


def test_arrays_are_not_compared() -> None:
    import numpy as np

    values, _, _ = SIGNATURE.bind((np.zeros(3), np.ones(3)), {"c": np.ones(2)})
    assert len(values) == 3
