"""Which test shows each name of the language, on which target: docs/support.md, made from the tests' own text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from teenybuild.compiler.frontend.builtins import ALIASES, BUILTINS, LATER, METHODS

TESTS = Path(__file__).parent
PAGE = TESTS.parents[1] / "docs" / "support.md"
LIBDEVICE = "tl.extra.libdevice."

#: What only some targets have: (on the host, on a GPU).
SOME = {
    "tl.inline_asm_elementwise": ("an error with its place", "PTX"),
    "tl.extra.cuda.globaltimer": ("an error with its place", "PTX"),
    "tl.extra.cuda.smid": ("an error with its place", "PTX"),
}

#: Kinds of arguments beside numbers and arrays, and the test of each.
ARGUMENTS = {
    "tuples `(*f32, i32)`": "test_tuple_arguments",
    "tensor descriptors `desc<f16[128, 64]>`": "test_descriptor_arguments",
}

_HEAD = """\
# What shows that it works

<!-- Made from the tests by `python -m tests.language.update`; edit tests/language/support_page.py. -->

Every name of [the language](language.md), and the tests whose kernels use it. They run on `cpu` and on `cpu:sm_90a` and demand the same bits of both, beside NumPy's answer; those marked with GPU run on one too (`pytest -m gpu`), and demand the
same bits again, but for functions that a GPU approximates. The `.mlir` of all kernels of the catalogue is read by Triton's own parser, and their PTX is assembled for several architectures
([tests/peer](../tests/peer)). A name without a test fails `tests/language/test_support_page.py`.
[Random programs](../tests/language/test_random_programs.py) put all of them together, but for a few that are listed there with reasons (`python3 dev.py test tests/language/test_random_programs.py --hypothesis-profile=long` tries
thousands more); real Triton runs, reads and type-checks others
of the kind ([tests/peer](../tests/peer/test_random_programs.py)), and a GPU runs 200 ([tests/gpu](../tests/gpu/test_random_programs.py)).

| name | host | GPU | shown by |
| --- | --- | --- | --- |
"""


def kernels(path: Path) -> str:
    """The strings of a test file: kernels are written in them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return "\n".join(
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    )


def on_a_gpu() -> frozenset[str]:
    """Modules that tests/gpu/test_language.py runs again."""
    text = (TESTS.parent / "gpu" / "test_language.py").read_text(encoding="utf-8")
    listed = text.partition("NAMES = (")[2].partition("\n)")[0]
    return frozenset(re.findall(r"test_\w+", listed)) | {"test_debugging", "test_inline_asm"}


def _pattern(name: str) -> re.Pattern[str]:
    bare = name.removeprefix("tl.")
    if name.startswith("tl.tensor_descriptor."):
        return re.compile(rf"\.{name.rpartition('.')[2]}\(|\.\{{name\}}\(\[")
    ways = [rf"\b{re.escape(n)}\b" for n in (name, *(a for a, of in ALIASES.items() if of == name))]
    if bare in METHODS:
        ways.append(rf"\.{bare}\(")
    # Names in lists that kernels are made of.
    ways.append(rf"^(tl\.)?{re.escape(bare)}$")
    return re.compile("|".join(ways), re.MULTILINE)


def shown_by(name: str, texts: Mapping[str, str]) -> list[str]:
    """Test modules with kernels that use a name."""
    pattern = _pattern(name)
    return [module for module, text in texts.items() if pattern.search(text)]


def names() -> list[str]:
    """Every name that has a row: functions of ``tl``, and those of Python and ``math``."""
    return sorted(n for n in BUILTINS if not n.startswith(LIBDEVICE))


def texts() -> dict[str, str]:
    """The kernels of each test module, by name."""
    # No kernels are written in these: the one is about the page, the other has lists of names.
    others = ("test_support_page", "test_random_programs")
    paths = (path for path in sorted(TESTS.glob("test_*.py")) if path.stem not in others)
    return {path.stem: kernels(path) for path in paths}


def _row(name: str, modules: Sequence[str], gpu: frozenset[str]) -> str:
    host, device = SOME.get(name, ("yes", "yes"))
    return f"| `{name}` | {host} | {device} | {_links(modules, gpu)} |\n"


def _links(modules: Sequence[str], gpu: frozenset[str]) -> str:
    return ", ".join(
        f"[{m.removeprefix('test_')}](../tests/language/{m}.py){' (GPU)' if m in gpu else ''}"
        for m in modules
    )


def page() -> str:
    """The text of docs/support.md."""
    found, gpu = texts(), on_a_gpu()
    rows = "".join(_row(name, shown_by(name, found), gpu) for name in names())
    libdevice = sorted(n.removeprefix(LIBDEVICE) for n in BUILTINS if n.startswith(LIBDEVICE))
    arguments = "".join(
        f"| arguments: {kind} | yes | yes | {_links([module], gpu)} |\n" for kind, module in ARGUMENTS.items()
    )
    later = ", ".join(f"`{name}`" for name in sorted(LATER))
    return (
        f"{_HEAD}{arguments}{rows}| `libdevice`: {len(libdevice)} functions | yes | yes | [libdevice](../tests/language/test_libdevice.py) (GPU), "
        f"[math_functions](../tests/language/test_math_functions.py) (GPU), [accuracy](accuracy.md) |\n\nOf `libdevice`: {', '.join(f'`{n}`' for n in libdevice)}.\n\n"
        f"Not there yet, and refused by name: {later}.\n"
    )
