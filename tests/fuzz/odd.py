"""Text, numbers and edits of text that a reader may not have thought of."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

#: Strings for names, paths and values: empty, blank, with what shells, ninja, TOML, Python and terminals take for more than text.
STRINGS: Sequence[str] = (
    "", " ", ".", "..", "../..", "/", "/etc/passwd", "a/../../b.py", "~/x", "a b", "$HOME", "$(touch x)", "`touch x`", "; touch x", "a|b", "a:b", "a&b",
    "'", '"', "\\", "\\n", "\n", "\r", "\t", "\x00", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "é", "e\u0301", "ﬁ", "日本", "😀", "%s", "{}", "{0.__class__}",
    "#", "--help", "-", "con", "NUL", "class", "None", "__init__", "self", "print", "x" * 300, "*", "**", "*.toml", "**/*", "[", "?", "a\\b", "C:/x", "1", "0x10", "1e400", "nan",
    "i32", "*f32", "**f32", "*D", "(*f32,)", "(" * 50, "desc<f16[64,64]>", "none", "auto", "autotune", "tl.float16", "tl.exp", "tl.", "tl.extra.libdevice.sin", "cpu", "sm_90a",
    "cdiv(n, 0)", "9" * 400, "n" + " + n" * 200, "-" * 200 + "n", "min()", "next_power_of_2(" * 40,
)  # fmt: skip

#: Integers at the edges of machine words, and past them.
INTEGERS: Sequence[int] = (
    0, 1, -1, 2, 3, 16, 255, 1000, 4096, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30,
)  # fmt: skip

#: Floats with no neighbours, no sign or no value.
FLOATS: Sequence[float] = (
    0.0, -0.0, 0.5, 1e-320, 1e308, 0.1, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def string(r: random.Random) -> str:
    """A strange string, or two of them."""
    one = r.choice(STRINGS)
    return one if r.random() < 0.8 else one + r.choice(STRINGS)


def value(r: random.Random) -> str | int | float | bool:
    """A strange plain value."""
    kinds: list[Callable[[], str | int | float | bool]] = [
        lambda: string(r),
        lambda: r.choice(INTEGERS),
        lambda: r.choice(FLOATS),
        lambda: r.random() < 0.5,
    ]
    return r.choice(kinds)()


# Edits of text, which know nothing of what it says --------------------------------------------------------------


def _stretch(text: str, r: random.Random) -> tuple[int, int]:
    """A part of a text: short mostly, at times long, at times whole lines."""
    start = r.randrange(len(text) + 1)
    end = min(len(text), start + r.choice([0, 1, 1, 2, 5, 20, 100]))
    if r.random() < 0.3:
        start = text.rfind("\n", 0, start) + 1
        end = text.find("\n", end) + 1 or len(text)
    return start, end


def _delete(text: str, r: random.Random) -> str:
    start, end = _stretch(text, r)
    return text[:start] + text[end:]


def _repeat(text: str, r: random.Random) -> str:
    start, end = _stretch(text, r)
    times = r.choice([2, 2, 3, 10, 100, 1000]) if end - start < 40 else 2
    return text[:start] + text[start:end] * times + text[end:]


def _move(text: str, r: random.Random) -> str:
    start, end = _stretch(text, r)
    part, rest = text[start:end], text[:start] + text[end:]
    at = r.randrange(len(rest) + 1)
    return rest[:at] + part + rest[at:]


def _insert(text: str, r: random.Random) -> str:
    at, _ = _stretch(text, r)
    return text[:at] + string(r) + text[at:]


def _replace(text: str, r: random.Random) -> str:
    start, end = _stretch(text, r)
    return text[:start] + string(r) + text[end:]


def _nest(text: str, r: random.Random) -> str:
    """One part between many brackets, or half of them."""
    start, end = _stretch(text, r)
    opening, closing = r.choice(["()", "[]", "{}", '""', "''", "<>", ("-", ""), ("not ", ""), ("x=", "")])
    times = r.choice([1, 2, 50, 1000])
    return text[:start] + opening * times + text[start:end] + closing * r.choice([times, 0]) + text[end:]


def _cut(text: str, r: random.Random) -> str:
    return text[: r.randrange(len(text) + 1)]


EDITS = (_delete, _delete, _repeat, _move, _insert, _insert, _replace, _replace, _nest, _cut)


def edited(text: str, r: random.Random) -> str:
    """The text after one to four edits."""
    for _ in range(r.choice([1, 1, 2, 4])):
        text = r.choice(EDITS)(text, r)
    return text


def bytes_of(text: str, r: random.Random) -> bytes:
    """The text as a file has it, in UTF-8 mostly; at times with bytes exchanged."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if r.random() < 0.08 and data:
        for _ in range(r.choice([1, 3])):
            data[r.randrange(len(data))] = r.randrange(256)
    if r.random() < 0.02:
        return text.encode(r.choice(["utf-16", "utf-8-sig", "utf-32"]), "surrogatepass")
    if r.random() < 0.02:
        data = bytearray(bytes(data).replace(b"\n", r.choice([b"\r\n", b"\r", b"\n\r", b"\n\f"])))
    return bytes(data)
