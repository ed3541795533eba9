"""The canonical print: one text for sources that mean the same, another for every change of meaning, and a fixed point of itself."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from tests.support.catalogue import CATALOGUE
from tests.support.run import PREAMBLE

from .corpus import GOLDEN


def text_of(directory: Path, source: str, function: str = "kernel", **others: str) -> str:
    """The canonical text of a function; ``others`` are files beside its own."""
    directory.mkdir(exist_ok=True)
    for name, text in ({"main": source} | others).items():
        (directory / f"{name}.py").write_text(text, encoding="utf-8")
    library = Library(directory, (directory,), static)
    return reach(find_function(library.module(directory / "main.py"), function)).text


KERNEL = PREAMBLE + textwrap.dedent('''\
    SCALE = 2.5


    @triton.jit
    def helper(v, factor: tl.constexpr = 3):
        return v * factor


    @triton.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr):
        """Doubles."""
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        if BLOCK > 64 and n > 1:
            x = helper(x) * SCALE
        for k in range(0, n, 2):
            x += k
        tl.store(x_ptr + offs, x, mask=offs < n)
    ''')

#: (what is written, what may be written instead): the text stays the same.
SAME = {
    "comment": ("x = tl.load(", "# loads\n    x = tl.load("),
    "comment at the end": ("x += k", "x += k  # counts"),
    "blank lines": ("    if BLOCK", "\n\n    if BLOCK"),
    "layout": ("mask=offs < n, other=0.0)", "\n        mask=(offs\n              < n),\n        other=0.0,\n    )"),
    "parentheses": ("tl.program_id(0) * BLOCK + tl", "(((tl.program_id(0)) * BLOCK)) + tl"),
    "docstring": ('"""Doubles."""', '"""Another."""'),
    "no docstring": ('    """Doubles."""\n', ""),
    "type hints": ("x_ptr, n, BLOCK", "x_ptr: 'tl.tensor', n: int, BLOCK"),
    "a hint on the result": ("BLOCK: tl.constexpr):", "BLOCK: tl.constexpr) -> None:"),
    "a hint as text": ("BLOCK: tl.constexpr", "BLOCK: 'tl.constexpr'"),
    "a hint on a local": ("x = tl.load", "x: 'float' = tl.load"),
    "decorators": ("@triton.jit\ndef kernel", "@triton.autotune(configs=[triton.Config({'BLOCK': 64})], key=['n'])\n@triton.jit\ndef kernel"),
    "no decorator": ("@triton.jit\ndef helper", "def helper"),
    "an alias of the language": ("import triton.language as tl", "import triton.language as tl, triton.language as lang"),
    "the language under another name": ("offs = tl.program_id", "offs = triton.language.program_id"),
    "the alias of a function": ("tl.program_id(0)", "tl.program_id((0))"),
    "quotes and number bases": ("other=0.0", "other=0.00e0"),
    "a number in hexadecimal": ("BLOCK > 64", "BLOCK > 0x40"),
    "an unrelated function": ("@triton.jit\ndef kernel", "def other():\n    return 1\n\n\n@triton.jit\ndef kernel"),
    "an unrelated constant": ("SCALE = 2.5", "SCALE = 2.5\nOTHER = 3"),
    "an unrelated import": ("import triton\n", "import triton\nimport torch\n"),
    "how a constant is computed": ("SCALE = 2.5", "HALF = 0.5\nSCALE = 5 * HALF"),
    "order of definitions": ("SCALE = 2.5\n\n\n", ""),
    "semicolons": ("        x += k", "        x += k;"),
    "a trailing comma": ("BLOCK: tl.constexpr):", "BLOCK: tl.constexpr,):"),
    "tabs": ("    for k in range(0, n, 2):\n        x += k", "    for k in range(0, n, 2):\n    \tx += k"),
}  # fmt: skip


@pytest.mark.parametrize("change", SAME)
def test_what_does_not_matter(change: str, tmp_path: Path) -> None:
    before, after = SAME[change]
    assert before in KERNEL
    changed = KERNEL.replace(before, after)
    if change == "order of definitions":
        changed += "\n\nSCALE = 2.5\n"
    assert changed != KERNEL
    assert text_of(tmp_path / "b", changed) == text_of(tmp_path / "a", KERNEL)


def test_other_imports_of_the_language(tmp_path: Path) -> None:
    wanted = text_of(tmp_path / "a", KERNEL)
    plain = KERNEL.replace("import triton.language as tl", "import teenybuild.language as tl")
    assert text_of(tmp_path / "b", plain) == wanted
    renamed = KERNEL.replace("import triton.language as tl", "from triton import language as L").replace(
        "tl.", "L."
    )
    assert text_of(tmp_path / "c", renamed) == wanted
    named = KERNEL.replace(
        "import triton.language as tl",
        "import triton.language as tl\nfrom triton.language import load as fetch",
    )
    assert text_of(tmp_path / "d", named.replace("tl.load(", "fetch(")) == wanted
    both = (
        KERNEL.replace("tl.program_id(0)", "tl.cdiv(n, 2)"),
        KERNEL.replace("tl.program_id(0)", "triton.cdiv(n, 2)"),
    )
    assert text_of(tmp_path / "e", both[0]) == text_of(tmp_path / "f", both[1])


def test_a_helper_may_live_anywhere(tmp_path: Path) -> None:
    """In the same file or another, under whatever name of the module: the text names functions only."""
    wanted = text_of(tmp_path / "a", KERNEL)
    start, stop = KERNEL.index("@triton.jit\ndef helper"), KERNEL.index("@triton.jit\ndef kernel")
    lib, rest = PREAMBLE + KERNEL[start:stop], KERNEL[:start] + KERNEL[stop:]
    head = "import triton\n"
    assert text_of(tmp_path / "b", rest.replace(head, f"{head}from lib import helper\n"), lib=lib) == wanted
    moved = rest.replace(head, f"{head}import lib as l\n").replace("helper(x)", "l.helper(x)")
    assert text_of(tmp_path / "c", moved, lib=lib) == wanted


#: (what is written, another thing): the text must differ.
OTHER = {
    "an operator": ("x += k", "x -= k"),
    "a number": ("range(0, n, 2)", "range(0, n, 3)"),
    "an integer for a float": ("other=0.0", "other=0"),
    "the sign of zero": ("other=0.0", "other=-0.0"),
    "a name": ("mask=offs < n, other", "mask=offs < k, other"),
    "a local's name": ("offs", "index"),
    "a parameter's name": ("x_ptr", "y_ptr"),
    "a comparison": ("offs < n", "offs <= n"),
    "and for or": (" and n", " or n"),
    "an argument": (", other=0.0", ""),
    "a keyword": ("other=0.0", "cache_modifier=0.0"),
    "a constexpr hint": ("BLOCK: tl.constexpr):", "BLOCK):"),
    "a constant of the module": ("SCALE = 2.5", "SCALE = 2.0"),
    "a constant's type": ("SCALE = 2.5", "SCALE = tl.float32"),
    "the default of a helper": ("constexpr = 3", "constexpr = 4"),
    "the body of a helper": ("v * factor", "v * factor + 1"),
    "grouping": ("helper(x) * SCALE", "helper(x * SCALE)"),
    "a statement": ("        x += k\n", "        x += k\n        x += k\n"),
    "what a loop holds": ("        x += k", "        pass\n    x += k"),
    "an else": ("    for k", "    else:\n        x = -x\n    for k"),
    "a function of the language": ("tl.arange", "tl.zeros"),
    "an axis": ("program_id(0)", "program_id(1)"),
    "True for 1": ("program_id(0)", "program_id(False)"),
    "the shape of an index": ("tl.store(x_ptr + offs, x,", "tl.store(x_ptr + offs, x[:, None],"),
    "power and its base": ("BLOCK > 64", "BLOCK > -2 ** 6"),
}  # fmt: skip


@pytest.mark.parametrize("change", OTHER)
def test_what_matters(change: str, tmp_path: Path) -> None:
    before, after = OTHER[change]
    assert before in KERNEL
    changed = KERNEL.replace(before, after)
    assert text_of(tmp_path / "b", changed) != text_of(tmp_path / "a", KERNEL)


REACHED = {
    "a default that names a constant": (
        "SIZE = 64\n\n\n@triton.jit\ndef kernel(x, SIZE: tl.constexpr = SIZE):\n    pass\n",
        "SIZE = 64", "SIZE = 32",
    ),
    "a default of a helper": (
        "SIZE = 64\n\n\ndef f(v, k=SIZE):\n    return v + k\n\n\n@triton.jit\ndef kernel(x, SIZE):\n    f(x)\n",
        "SIZE = 64", "SIZE = 32",
    ),
    "a constant through a chain": ("A = 1\nB = A + 1\nC = (B, 'x')\n\n\ndef kernel(x):\n    x + C[0]\n", "A = 1", "A = 2"),
    "a constant in a helper of a helper": (
        "K = 3\n\n\ndef f(v):\n    return g(v)\n\n\ndef g(v):\n    return v + K\n\n\ndef kernel(x):\n    f(x)\n", "K = 3", "K = 4",
    ),
    "a constant under an if": ("FAST = True\nif FAST:\n    N = 1\nelse:\n    N = 2\n\n\ndef kernel(x):\n    x + N\n", "FAST = True", "FAST = False"),
    "a constant used in a nested expression": ("K = 3\n\n\ndef kernel(x):\n    f'{K}'\n", "K = 3", "K = 4"),
    "a constant in an index": ("K = 3\n\n\ndef kernel(x):\n    (1, 2, 3, 4)[K:]\n", "K = 3", "K = 2"),
    "nan and inf": ("K = float('inf')\n\n\ndef kernel(x):\n    x + K\n", "'inf'", "'nan'"),
    "the last of several definitions": ("K = 3\nK = 4\n\n\ndef kernel(x):\n    x + K\n", "K = 4", "K = 5"),
}  # fmt: skip


@pytest.mark.parametrize("case", REACHED)
def test_everything_that_is_reached_counts(case: str, tmp_path: Path) -> None:
    source, before, after = REACHED[case]
    assert before in source
    first = text_of(tmp_path / "a", PREAMBLE + source)
    assert text_of(tmp_path / "b", PREAMBLE + source.replace(before, after)) != first


UNREACHED = {
    "what a decorator names": (
        "CONFIGS = (1, 2)\n\n\ndef prune(configs):\n    return configs[:1]\n\n\n"
        "@triton.autotune(configs=CONFIGS, prune_configs_by=prune)\n@triton.jit\ndef kernel(x):\n    pass\n",
        [("(1, 2)", "(3, 4)"), ("configs[:1]", "configs[:2]")],
    ),
    "what an annotation names": (
        "Size = 3\n\n\n@triton.jit\ndef kernel(x: Size) -> Size:\n    y: Size = x\n", [("Size = 3", "Size = 4")],
    ),
    "a constant that a local hides": ("K = 3\n\n\ndef kernel(x):\n    K = x\n    x + K\n", [("K = 3", "K = 4")]),
    "a constant that a parameter hides": ("K = 3\n\n\ndef kernel(x, K):\n    x + K\n", [("K = 3", "K = 4")]),
    "an attribute of a local": ("K = 3\n\n\ndef kernel(x):\n    x.K\n", [("K = 3", "K = 4")]),
    "a keyword": ("K = 3\n\n\ndef kernel(x):\n    tl.load(x, K=1)\n", [("K = 3", "K = 4")]),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREACHED)
def test_nothing_else_counts(case: str, tmp_path: Path) -> None:
    source, changes = UNREACHED[case]
    first = text_of(tmp_path / "a", PREAMBLE + source)
    for n, (before, after) in enumerate(changes):
        assert before in source
        assert text_of(tmp_path / f"b{n}", PREAMBLE + source.replace(before, after)) == first


def test_equal_names_of_different_files(tmp_path: Path) -> None:
    """Two helpers and two constants of one name: both are there, under names of their own."""
    main = f"{PREAMBLE}from lib import twice\nK = 1\n\n\ndef scale(v):\n    return v * K\n\n\ndef kernel(x):\n    scale(x) + twice(x)\n"
    lib = f"{PREAMBLE}K = 2\n\n\ndef scale(v):\n    return v + K\n\n\ndef twice(v):\n    return scale(scale(v))\n"
    text = text_of(tmp_path / "a", main, lib=lib)
    assert "K = 1\n" in text
    assert "K_2 = 2\n" in text
    assert "def scale_2(v):" in text
    assert "return scale_2(scale_2(v))" in text
    ast.parse(text)


STATEMENTS = (GOLDEN / "statements.py").read_text(encoding="utf-8")


def test_every_form_is_a_fixed_point(tmp_path: Path) -> None:
    """Printed, read and printed again: the same text, and Python reads it."""
    once = text_of(tmp_path / "a", STATEMENTS.replace("    lambda x: x\n", ""))
    ast.parse(once)
    assert text_of(tmp_path / "b", once) == once


@pytest.mark.parametrize("name", CATALOGUE)
def test_kernels_are_fixed_points(name: str, tmp_path: Path) -> None:
    """Of the text, of its tile IR, and of its key but for the name of the file."""
    entry = CATALOGUE[name]
    first = entry.compile("cpu")
    (tmp_path / "main.py").write_text(first.source, encoding="utf-8")
    assert text_of(tmp_path, first.source) == first.source


def test_meaning_is_kept(tmp_path: Path) -> None:
    """The AST of the printed expression is the AST of what was written, parentheses and all."""
    lines = [
        line.strip()
        for line in STATEMENTS.split("\n")
        if " = " in line and "def" not in line and ":" not in line.split("=")[0]
    ]
    for line in lines:
        if 'f"' in line or "1e400" in line or "[a, b]" in line or "1j" in line:
            continue
        text = text_of(tmp_path, f"{PREAMBLE}def kernel(a, b, c, d, e, f, g):\n    {line}\n")
        [function] = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
        printed = ast.unparse(function.body)
        assert printed == ast.unparse(ast.parse(line)), line
