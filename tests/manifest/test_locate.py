"""Positions: right for every way TOML can say a thing."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teenybuild.manifest.locate import DEEPEST, KeyPath, Lines, Positions


def positions(text: str) -> Positions:
    return Positions(Lines("kernels.toml", text))


def cut(text: str, path: KeyPath, part: str) -> str:
    """The characters that a span covers."""
    span = positions(text).span(path, "key" if part == "key" else "value")
    lines = text.split("\n")
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first, last = lines[span.line - 1][span.column - 1 :], lines[span.end_line - 1][: span.end_column - 1]
    return "\n".join([first, *lines[span.line : span.end_line - 1], last])


DOCUMENT = """\
# a comment with [brackets] and key = "value"
top = 1
"quoted key" = 'literal # not a comment'
a.b . "c.d" = { x = [1, { y = "é]}" }], z = 2 } # after
list = [
  "first", # with a comment, ]
  [1, 2],
  1979-05-27 07:32:00Z,
]
text = \"\"\"
several "lines" with ""\\"quotes\"\"\"\"\"
[table.sub]
key = -1_000
[[array]]
n = 1
[[array]]
n = 2
[array.inner]
m = 3
[[array.deep]]
o = 4
[table]
late = true
"""


@pytest.mark.parametrize(
    ("path", "part", "expected"),
    [
        (("top",), "key", "top"),
        (("top",), "value", "1"),
        (("quoted key",), "key", '"quoted key"'),
        (("quoted key",), "value", "'literal # not a comment'"),
        (("a",), "key", "a"),
        (("a", "b"), "key", "b"),
        (("a", "b", "c.d"), "key", '"c.d"'),
        (("a", "b", "c.d"), "value", '{ x = [1, { y = "é]}" }], z = 2 }'),
        (("a", "b", "c.d", "x", 1, "y"), "key", "y"),
        (("a", "b", "c.d", "x", 1, "y"), "value", '"é]}"'),
        (("a", "b", "c.d", "z"), "value", "2"),
        (("list", 0), "value", '"first"'),
        (("list", 1, 1), "value", "2"),
        (("list", 2), "value", "1979-05-27 07:32:00Z"),
        (("text",), "value", '"""\nseveral "lines" with ""\\"quotes"""""'),
        (("table", "sub"), "key", "sub"),
        (("table", "sub", "key"), "value", "-1_000"),
        (("array", 0, "n"), "value", "1"),
        (("array", 1, "n"), "value", "2"),
        (("array", 1, "inner", "m"), "value", "3"),
        (("array", 1, "deep", 0, "o"), "value", "4"),
        (("table", "late"), "value", "true"),
    ],
)
def test_finds(path: KeyPath, part: str, expected: str) -> None:
    tomllib.loads(DOCUMENT)
    assert cut(DOCUMENT, path, part) == expected


def test_a_table_header_comes_before_its_mention_in_another() -> None:
    """`[table]` is where the table is, even where `[table.sub]` came first."""
    assert (
        positions(DOCUMENT).span(("table",)).line == DOCUMENT[: DOCUMENT.index("[table]\n")].count("\n") + 1
    )


def test_what_is_not_written_gives_the_nearest_thing_around_it() -> None:
    found = positions(DOCUMENT)
    assert found.span(("table", "sub", "missing", 3)) == found.span(("table", "sub"))
    assert found.span(("missing",)).line == 1


def test_columns_count_characters_not_bytes() -> None:
    text = '"é" = { "名" = 1 }'
    span = positions(text).span(("é", "名"), "value")
    assert (span.line, span.column) == (1, text.index("1") + 1)


def test_carriage_returns_are_not_part_of_a_line() -> None:
    span = positions("a = 1\r\nb = 2\r\n").span(("b",), "value")
    assert (span.line, span.column, span.text) == (2, 5, "b = 2")


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        ('k = "cdiv(n, B)"', 5, 6, "n"),
        ("k = 'cdiv(n, B)'", 5, 6, "n"),
        ('k = "a"', 1, 1, '"'),  # the end of the string: its closing quote
        ('k = "a\\tb"', 0, 1, '"a\\tb"'),  # escapes: all of it
        ('k = """a b"""', 0, 1, '"""a b"""'),
    ],
)
def test_inside_a_string(text: str, start: int, end: int, expected: str) -> None:
    span = positions(text).span_inside(("k",), start, end)
    assert text[span.column - 1 : max(span.end_column - 1, span.column)] == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a = 1\na = 2", "a"),
        ("[a]\n[b]\n[a]", "a"),
        ("a.b = 1\na.b = 2", "b"),
        ("x = { y = 1, y = 2 }", "y"),
        ("a = 1\n[a]", "a"),
        ("a = [1]\n[[a]]", "a"),
        ("[[a]]\n[a]", "a"),
        ("a = { b = 1 }\na.c = 2", "a"),
    ],
)
def test_a_key_set_twice_is_found(text: str, name: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    clash = positions(text).clash
    assert clash is not None
    assert text[slice(*clash.first)] == text[slice(*clash.second)] == name
    assert clash.first < clash.second


@pytest.mark.parametrize(
    "text", ["[a.b]\n[a]", "[a]\n[a.b]\n[a.c]", "a.b = 1\na.c = 2", "[[a]]\n[a.b]\n[[a]]\n[a.b]"]
)
def test_what_may_be_said_in_parts_is_no_clash(text: str) -> None:
    tomllib.loads(text)
    assert positions(text).clash is None


@pytest.mark.parametrize("text", ["x = " + "[" * 100, "x = " + "{a=" * 100, "a." * 100 + "a = 1"])
def test_depth_is_bounded(text: str) -> None:
    failure = positions(text).failure
    assert failure is not None
    assert failure.deep
    assert failure.at <= 4 + 3 * DEEPEST


# A document in many spellings, and where each value in it is: what the scan finds must be what tomllib read.

_names = st.one_of(
    st.sampled_from(["a", "b", "c", "d-e", "1"]), st.text(st.characters(codec="utf-8"), max_size=4)
)


def _key(name: str, style: int) -> str:
    bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    if bare and style == 0:
        return name
    if style == 1 and "'" not in name and name.isprintable():
        return f"'{name}'"
    return _basic(name)


def _basic(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL and astral characters.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_blanks = st.sampled_from(["", " ", "\t"])
_gaps = st.sampled_from(["", " ", "\n", ' # ] } "\n', "\r\n"])


@st.composite
def _value(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 9 if depth < 3 else 6))
    if kind == 0:
        return str(draw(st.integers(-(10**20), 10**20)))
    if kind == 1:
        return draw(
            st.sampled_from(
                ["true", "false", "inf", "-nan", "1.5e3", "1979-05-27", "1979-05-27 07:32:00.5", "07:32:00"]
            )
        )
    if kind == 2:
        return _basic(draw(st.text(st.characters(codec="utf-8"), max_size=6)))
    if kind == 3:
        return "'" + draw(st.text('ab"#]}[{,=. é', max_size=6)) + "'"
    if kind == 4:
        return (
            '"""'
            + draw(st.sampled_from(["", "a", '"a', '""', "\n]", "x\\\n  y", '\\"""', 'b"', 'b""']))
            + '"""'
        )
    if kind == 5:
        return "'''" + draw(st.sampled_from(["", "a", "'a", "''", "\n}", "\\", "b'", "b''"])) + "'''"
    if kind == 6:
        return draw(st.sampled_from(["0xff", "0b1", "+1", "1_000"]))
    items = draw(st.lists(_value(depth=depth + 1), max_size=3))
    if kind in (7, 8):
        gap = draw(_gaps)
        comma = draw(st.sampled_from(["", ","])) if items else ""
        return f"[{gap}" + f",{gap}".join(items) + f"{gap}{comma}{gap}]"
    names = draw(st.lists(_names, min_size=len(items), max_size=len(items), unique=True))
    blank = draw(_blanks)
    pairs = [
        f"{_key(n, draw(st.integers(0, 2)))}{blank}={blank}{i}" for n, i in zip(names, items, strict=True)
    ]
    return "{" + blank + f"{blank},{blank}".join(pairs) + blank + "}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 8))):
        blank = draw(_blanks)
        parts = [_key(n, draw(st.integers(0, 2))) for n in draw(st.lists(_names, min_size=1, max_size=3))]
        key = f"{blank}.{blank}".join(parts)
        kind = draw(st.integers(0, 5))
        comment = draw(st.sampled_from(["", " # [x] = 'y'", "\t"]))
        if kind == 0:
            lines.append(f"[{blank}{key}{blank}]{comment}")
        elif kind == 1:
            lines.append(f"[[{blank}{key}{blank}]]{comment}")
        else:
            lines.append(f"{blank}{key}{blank}={blank}{draw(_value())}{comment}")
    return draw(st.sampled_from(["\n", "\r\n", "\n\n# c\n"])).join(lines)


def _leaves(value: Any, path: KeyPath) -> list[tuple[KeyPath, Any]]:
    if isinstance(value, dict):
        inner = [leaf for key, entry in value.items() for leaf in _leaves(entry, (*path, key))]
    elif isinstance(value, list):
        inner = [leaf for index, entry in enumerate(value) for leaf in _leaves(entry, (*path, index))]
    else:
        inner = []
    return [(path, value), *inner] if path else inner


@settings(max_examples=500, deadline=None)
@given(documents())
def test_the_scan_agrees_with_tomllib(text: str) -> None:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        positions(text)  # whatever it finds, it does not fall over
        return
    found = positions(text)
    assert found.failure is None
    assert found.clash is None
    for path, value in _leaves(data, ()):
        if isinstance(path[-1], str):
            raw = cut(text, path, "key")
            assert tomllib.loads(f"{raw} = 1") == {path[-1]: 1}
        if not isinstance(value, dict | list):
            raw = cut(text, path, "value")
            assert repr(tomllib.loads(f"v = {raw}")["v"]) == repr(value)


@settings(max_examples=300, deadline=None)
@given(st.text("ab=[]{}.,'\"#\n\\ 1-", max_size=60))
def test_the_scan_never_falls_over(text: str) -> None:
    found = positions(text)
    found.span(("a", 0, "b"), "value")
