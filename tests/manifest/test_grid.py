"""The grid language: what it reads, what it refuses, and that its values are Python's."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from teenybuild.manifest import grid
from teenybuild.manifest.grid import Binary, Call, Expr, GridError, Name, Negate, Number

_SCOPE = {
    "cdiv": grid.cdiv,
    "next_power_of_2": grid.next_power_of_2,
    "min": min,
    "max": max,
    "__builtins__": {},
}


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("1", {}, 1),
        ("cdiv(n, B)", {"n": 1000, "B": 128}, 8),
        ("cdiv(n,B)*cdiv( m , B )", {"n": 1, "m": 257, "B": 128}, 3),
        ("2 + 3 * 4 - 5", {}, 9),
        ("(2 + 3) * 4", {}, 20),
        ("10 - 4 - 3", {}, 3),
        ("100 // 7 % 4", {}, 2),
        ("-n // 2", {"n": 3}, -2),
        ("-n % 4", {"n": 1}, 3),
        ("--n", {"n": 5}, 5),
        ("7 // -2", {}, -4),
        ("min(n, 4, 9) + max(n, 4)", {"n": 7}, 11),
        ("min(n)", {"n": 7}, 7),
        ("next_power_of_2(n)", {"n": 5}, 8),
        ("next_power_of_2(n)", {"n": 8}, 8),
        ("next_power_of_2(n)", {"n": 0}, 1),
        ("next_power_of_2(-n)", {"n": 9}, 1),
        ("cdiv(-7, 2)", {}, -3),
        ("min", {"min": 3}, 3),
        ("9223372036854775807", {}, 2**63 - 1),
        ("\n n\t", {"n": 1}, 1),
    ],
)
def test_values(text: str, values: dict[str, int], expected: int) -> None:
    expr = grid.parse(text)
    assert grid.evaluate(expr, values) == expected
    assert eval(grid.to_python(expr), _SCOPE, dict(values)) == expected


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("n // m", {"n": 1, "m": 0}, "division by zero"),
        ("n % m", {"n": 1, "m": 0}, "division by zero"),
        ("cdiv(n, m)", {"n": 1, "m": 0}, "division by zero"),
        ("n * n", {"n": 2**32}, "does not fit"),
        ("n + 1", {"n": 2**63 - 1}, "does not fit"),
        ("n * n - n * n", {"n": 2**32}, "does not fit"),
        ("-n - 2", {"n": 2**63 - 1}, "does not fit"),
        ("next_power_of_2(n)", {"n": 2**62 + 1}, "does not fit"),
        ("n", {}, "has no value"),
        ("n", {"n": 2**63}, "does not fit"),
    ],
)
def test_what_has_no_value(text: str, values: dict[str, int], message: str) -> None:
    with pytest.raises(GridError, match=message):
        grid.evaluate(grid.parse(text), values)


def test_the_tree_and_its_places() -> None:
    text = "cdiv(n, 4) - -m"
    expr = grid.parse(text)
    assert expr == Binary("-", Call("cdiv", (Name("n"), Number(4))), Negate(Name("m")))
    assert {text[node.start : node.end] for node in grid.walk(expr)} == {
        text,
        "cdiv(n, 4)",
        "n",
        "4",
        "-m",
        "m",
    }
    assert grid.names(expr) == ("n", "m")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "1 +",
        "* 2",
        "n n",
        "(n",
        "n)",
        "cdiv(n",
        "cdiv(n,)",
        "cdiv(,n)",
        "min()",
        "n ** 2",
        "n / 2",
        "n @ m",
        "n.x",
        "n[i]",
        "n[0",
        "n[0].size",
        "a.shape",
        "lambda: 1",
        "n if m else k",
        "1.5",
        "0x10",
        "1_000",
        "007",
        "'n'",
        "é",
        "n == 1",
        "a := 1",
        "+n",
        "~n",
        "f(n)",
        "__import__('os')",
        "n()",
        "cdiv(n, 2)(3)",
        "9223372036854775808",
        "1" * 30,
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(GridError) as caught:
        grid.parse(text)
    assert 0 <= caught.value.start <= caught.value.end <= len(text)


@pytest.mark.parametrize(
    "text", ["(" * 400 + "n" + ")" * 400, "-" * 900 + "n", "+".join("n" * 400), "min(" * 240, "n" * 1001]
)
def test_hostile_length_and_depth_are_refused(text: str) -> None:
    with pytest.raises(GridError):
        grid.parse(text)


def test_names_can_be_renamed_in_python() -> None:
    assert (
        grid.to_python(grid.parse("cdiv(n, B) * -(a - b)"), lambda name: f"_{name}")
        == "cdiv(_n, _B) * -(_a - _b)"
    )


_names = st.sampled_from(["a", "b", "c"])
_leaves: st.SearchStrategy[Expr] = st.one_of(st.integers(0, 2**40).map(Number), _names.map(Name))


def _branches(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    operators = st.sampled_from(["+", "-", "*", "//", "%"])
    return st.one_of(
        st.builds(Negate, inner),
        st.builds(Binary, operators, inner, inner),
        st.builds(Call, st.just("cdiv"), st.tuples(inner, inner)),
        st.builds(Call, st.just("next_power_of_2"), st.tuples(inner)),
        st.builds(Call, st.sampled_from(["min", "max"]), st.lists(inner, min_size=1, max_size=3).map(tuple)),
    )


_expressions = st.recursive(_leaves, _branches, max_leaves=12)
_integers = st.integers(-(2**31), 2**31)


@given(_expressions, st.fixed_dictionaries({"a": _integers, "b": _integers, "c": _integers}))
def test_python_gives_the_same_value(expr: Expr, values: dict[str, int]) -> None:
    try:
        value = grid.evaluate(expr, values)
    except GridError as error:
        assume("does not fit" not in error.message)
        with pytest.raises(ZeroDivisionError):
            eval(grid.to_python(expr), _SCOPE, dict(values))
        return
    assert eval(grid.to_python(expr), _SCOPE, dict(values)) == value


@given(_expressions)
def test_what_python_reads_we_read(expr: Expr) -> None:
    """The text for Python is in the language, and means the same: but for min(a), which is a."""
    text = grid.to_python(expr)
    assert grid.to_python(grid.parse(text)) == text


@given(st.text("ab1+-*/%(), cdivmn", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    refused: GridError | None = None
    try:
        grid.parse(text)
    except GridError as error:
        refused = error
    assert refused is None or 0 <= refused.start <= refused.end <= len(text)
