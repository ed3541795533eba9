"""What fuzzers, and people who tried, have found: sources and manifests that took all time or memory, or ended in an error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from teenybuild.compiler.frontend import statements
from teenybuild.compiler.frontend.source import Source
from teenybuild.diagnostics import UserError, show
from tests.fuzz import kernels, manifests
from tests.fuzz.held import check_said, outcome

_HEAD = "import math\nimport triton\nimport triton.language as tl\n"


def _kernel(body: str, before: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{_HEAD}{before}\n@triton.jit\ndef k(p, n):\n{lines}"


def _known(expression: str, before: str = "") -> str:
    return _kernel("tl.store(p, K)", f"{before}\nK = {expression}\n")


def _doubled(first: str, then: str, last: str = "len(A60)") -> str:
    return _known(
        last, f"A0 = {first}\n" + "".join(f"A{i + 1} = {then.format(f'A{i}')}\n" for i in range(60))
    )


_CALLS = "".join(f"@triton.jit\ndef f{i + 1}(x):\n    return f{i}(x) + f{i}(x)\n" for i in range(50))

#: Kernel files, and what is said of them.
SOURCES = {
    # Turns of an unrolled loop that are all wrong, each in its own way.
    "wrong turns": (_kernel("for i in tl.static_range(10**9):\n    tl.arange(0, i + 3)"), "power of two"),
    "wrong turns of a long body": (
        _kernel("for i in tl.static_range(10**9):\n    if n:\n        x = " + " + ".join(["nothing"] * 300)), "nothing is not defined"
    ),
    "more errors than anybody reads": (_kernel("\n".join(f"tl.arange(0, {4 * i + 3})" for i in range(300))), "100 errors, and the rest"),
    "turns of many operations": (
        _kernel("x = tl.arange(0, 8)\nfor i in tl.static_range(10**9):\n    x = " + " + ".join(["x * n"] * 300)),
        "more than 20,000 steps",
    ),
    "turns with a return": (_kernel("for i in tl.static_range(10**9):\n    if i == n:\n        return"), "more than 20,000 steps"),
    "many turns with a known return": (_kernel("for i in tl.static_range(9000):\n    if i == 9500:\n        return"), "more than 20,000 steps"),
    "calls that double": (_kernel("tl.store(p, f50(n))", "@triton.jit\ndef f0(x):\n    return x\n" + _CALLS), "more than 20,000 steps"),
    # Values that hold themselves twice, sixty times.
    "lists of lists": (_doubled("[0]", "[{0}, {0}]"), "a kernel cannot use K"),
    "tuples of tuples": (_doubled("(0,)", "({0}, {0})", "A60"), "a kernel cannot use K"),
    "dicts of dicts": (_doubled("{}", "dict(a={0}, b={0})"), "a kernel cannot use K"),
    "lists of one list": (_known("[[0] * 10**4] * 10**4"), "a kernel cannot use K"),
    "a list in itself": (_known("len(A)", "A = [1]\nA.append(A)"), "a kernel cannot use K"),
    "tuples in a kernel": (_kernel("a = (n,)\n" + "a = (a, a)\n" * 60 + "for i in range(n):\n    a = a"), "more than 20,000 values"),
    "texts in a kernel": (_kernel("a: tl.constexpr = 'ab'\n" + "a += a\n" * 60 + "tl.static_assert(len(a) > 0)"), "too large"),
    # What Python computes in one go, and nothing can stop.
    "ten to the power of many digits": (_known("round(1, -10**9)"), "a kernel cannot use K"),
    "a product of many long numbers": (_known("math.prod([2**4000] * 20000)"), "a kernel cannot use K"),
    "a multiple of many long numbers": (_known("math.lcm(*[2**4000 + i for i in range(10000)])"), "a kernel cannot use K"),
    "a wide number": (_kernel("tl.static_assert(f'{1:999999999}' == '')"), "wider than any text is"),
    # Names that are looked for along every way.
    "stars that go in a circle": (_known("nothing", "from f0 import *\n" * 500), "k is decorated"),
    # Places that Python counts in bytes.
    "an indent behind what is wide": ("x = 1\n   😀 y = 2", "not Python"),
    "a separator that is not one": ("x =\u2028 1", "not Python"),
}  # fmt: skip


def _said(tmp_path: Path, text: str) -> str:
    path = tmp_path / "f0.py"
    path.write_text(text, encoding="utf-8")
    seed = kernels.MADE
    files = {"f0.py": path.read_bytes()}
    return outcome(tmp_path, lambda: kernels.read(tmp_path, seed, seed.types, "cpu"), files, times=1)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With lower bounds than there are, which are there alike."""
    monkeypatch.setattr(statements, "MOST_STEPS", 20_000)
    monkeypatch.setattr(statements, "MOST_OPERATIONS", 30_000)
    text, message = SOURCES[name]
    said = _said(tmp_path, text)
    assert said.startswith("refused: ")
    assert message in said


_START = 'edition = 1\n[kernel.k]\nsource = "k.py"\n'

#: Manifests, and what is said of them.
MANIFESTS = {
    "ten thousand unknown keys": ("edition = 1\n" + "".join(f"key{i} = 1\n" for i in range(10_000)), "more than 1,000 errors"),
    "ten thousand wrong types": (_START + "[kernel.k.args]\n" + "".join(f'a{i} = "i33"\n' for i in range(10_000)), "more than 1,000 errors"),
    "tuples without end": (_START + f'args = {{ a = "{"(" * 100_000}" }}\n', "nested at most 16 deep"),
    "descriptors without end": (_START + f'args = {{ a = "{"desc<" * 100_000}" }}\n', "expected a dtype"),
    "a side of many digits": (_START + f'args = {{ a = "desc<f32[{"9" * 5000}]>" }}\n', "neither a number nor a const"),
    "directories without end": (f'edition = 1\n[build]\ninclude = ["{"**/" * 5000}x.toml"]\n', "would take too long to match"),
    "all directories in all directories": ('edition = 1\n[build]\ninclude = ["**/a/**/b/**/*.toml"]\n', "would take too long to match"),
    "an end of a line that is none": (_START + "x\u2028y = 1\n", "expected '=' after a key"),
}  # fmt: skip


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text, message = MANIFESTS[name]
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/k.py").write_text("def k(): pass\n")
    (tmp_path / "kernels.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    files = {"kernels.toml": text.encode(), "kernels/k.py": b"def k(): pass\n"}
    said = outcome(tmp_path, manifests.read, files, times=1)
    assert said.startswith("refused: ")
    assert message in said


def test_what_is_shown_moves_no_cursor() -> None:
    """Not even what stands in the name of a file, in a message or in a hint."""
    with pytest.raises(UserError) as caught:
        Source("a\x1b[2J\nb.py", "x = '\x07\u2028\x85".encode())
    shown = show(caught.value.diagnostics[0])
    assert shown.replace("\n", "").isprintable()


def test_a_file_of_a_megabyte_is_the_largest(tmp_path: Path) -> None:
    """What Python's parser is at, nothing stops."""
    text = "x = [" + "[a], " * 400_000 + "]"
    assert "larger than 1 MiB" in _said(tmp_path, text)


def test_places_are_looked_at() -> None:
    """The check that the fuzzers rest on finds what is out of place."""
    with pytest.raises(UserError) as caught:
        Source("a.py", b"x = = 1\n")
    check_said(caught.value, {"a.py": b"x = = 1\n"})
    with pytest.raises(AssertionError, match=r"not in the file|past the end|has not the text"):
        check_said(caught.value, {"a.py": b"x\n"})
    with pytest.raises(AssertionError, match="no file of these"):
        check_said(caught.value, {"b.py": b"x = = 1\n"})
