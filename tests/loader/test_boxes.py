"""Products that cover a set of combinations."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenybuild.loader.boxes import cover


@pytest.mark.parametrize(
    ("rows", "boxes"),
    [
        ([], []),
        ([()], [()]),
        ([("a",), ("b",)], [(("a", "b"),)]),
        (list(itertools.product("ab", "xyz")), [(("a", "b"), ("x", "y", "z"))]),
        ([("a", "x"), ("b", "y")], [(("a",), ("x",)), (("b",), ("y",))]),
        ([("a", "x"), ("a", "y"), ("b", "y")], [(("a",), ("x", "y")), (("b",), ("y",))]),
        (
            [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("c", "y")],
            [(("a", "c"), ("x", "y")), (("b",), ("x",))],
        ),
    ],
)
def test_covers(rows: list[tuple[str, ...]], boxes: list[tuple[tuple[str, ...], ...]]) -> None:
    assert cover(rows) == boxes


@given(st.lists(st.tuples(*[st.sampled_from("abcd")] * 4), unique=True))
def test_each_combination_is_in_one_product(rows: list[tuple[str, ...]]) -> None:
    found = Counter(itertools.chain.from_iterable(itertools.product(*box) for box in cover(rows)))
    assert found == Counter(rows)


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True), min_size=1, max_size=5))
def test_a_product_is_one(values: list[list[str]]) -> None:
    assert cover(list(itertools.product(*values))) == [tuple(map(tuple, values))]
