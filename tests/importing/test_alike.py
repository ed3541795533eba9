"""What reading a file says of its names and decorators, importing it says too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from teenybuild.compiler.frontend import tuning
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.imported import Imported
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.values import Function, HostObject, is_constant, same_constant
from teenybuild.diagnostics import Span
from teenybuild.importing import Importer
from teenybuild.types import Assume, parse_type
from tests.support.decorated import HEURISTICS, TUNED, with_heuristics

_NOWHERE = Span("kernels.toml", 1, 1, 1, 2)


def read(directory: Path, text: str) -> Function:
    """The kernel, only read."""
    (directory / "k.py").write_text(text)
    return find_function(Library(directory, (directory,), static).module(directory / "k.py"), "k")


def imported(directory: Path, text: str) -> Function:
    """The kernel, read with what importing its file told."""
    (directory / "k.py").write_text(text)
    data = Importer(directory, [directory]).find(directory / "k.py", _NOWHERE).data
    library = Library(directory, (directory,), static, imported=Imported(data, directory))
    return find_function(library.module(directory / "k.py"), "k")


def plain(configs: tuple[tuning.TunedConfig, ...] | None) -> list[Any]:
    assert configs is not None
    return [(list(c.consts.items()), dict(c.options)) for c in configs]


def told(function: Function) -> list[Any]:
    """The configs that the import told, with nothing taken from reading."""
    library = function.module.library
    assert library.imported is not None
    configs = library.imported.configs(function)
    assert configs is not None
    return plain(tuning._configs(function, configs, function.node))


@pytest.mark.parametrize("name", TUNED)
def test_configs(tmp_path: Path, name: str) -> None:
    configs = plain(tuning.autotune(read(tmp_path, TUNED[name])))
    assert configs
    function = imported(tmp_path, TUNED[name])
    assert told(function) == configs
    assert plain(tuning.autotune(function)) == configs


@pytest.mark.parametrize("name", TUNED)
def test_names(tmp_path: Path, name: str) -> None:
    """Every constant of the file, by name."""
    module = read(tmp_path, TUNED[name]).module
    other = imported(tmp_path, TUNED[name]).module
    assert other.library.imported is not None
    compared = 0
    for each in module.names:
        value = module.lookup(each)
        if is_constant(value):
            assert same_constant(other.library.imported.value(other, each), value), each
            compared += 1
        if not isinstance(value, HostObject):  # an import may tell more, never less
            assert not isinstance(other.lookup(each), HostObject)
    assert compared or name != "constants of the module"


@pytest.mark.parametrize("name", HEURISTICS)
def test_heuristics(tmp_path: Path, name: str) -> None:
    values, types, assume, expected = HEURISTICS[name]
    facts = tuning.Facts(
        {n: parse_type(t) for n, t in ({"x": "*f32", "y": "*f32", "n": "i32"} | types).items()},
        {"BLOCK": 64},
        {"num_warps": 4},
        {n: Assume(kind, value) for n, said in assume.items() for kind, value in said.items()},  # type: ignore[arg-type]
    )
    text = with_heuristics(values)
    function = imported(tmp_path, text)
    assert function.module.library.imported is not None
    [alone] = function.module.library.imported.heuristics(function) or []
    host = tuning.heuristics(function)[0].host
    for heuristics in (
        tuning.heuristics(read(tmp_path, text)),
        tuning.heuristics(function),
        tuple(tuning._named(function, alone, host, function.node)),
    ):
        consts = dict(facts.consts)
        for each in heuristics:
            consts[each.name] = each.value(tuning.Facts(facts.types, consts, facts.options, facts.assume))
        assert consts["EVEN"] == expected
        assert type(consts["EVEN"]) is type(expected)


#: Files that reading cannot settle, what the kernel stores, and what that is.
OPEN = {
    "a module that is not there": ("try:\n    import nowhere_at_all\n    K = 1\nexcept ImportError:\n    K = 2", "K", 2),
    "the environment": ("import os\nK = int(os.environ.get('TEENYBUILD_NOT_SET', '3'))", "K", 3),
    "a loop": ("K = 0\nwhile K < 5:\n    K += 1", "K", 5),
    "a list that grows": ("L = []\nwhile len(L) < 3:\n    L.append(len(L) ** 2)", "L[2]", 4),
    "a function with an effect": ("N = 1\ndef f():\n    global N\n    N += 1\nf()", "N", 2),
    "a helper that depends": (
        "import os\nif os.environ.get('TEENYBUILD_NOT_SET'):\n    @triton.jit\n    def h(x):\n        return x\n"
        "else:\n    @triton.jit\n    def h(x):\n        return x + 7", "h(10)", 17),
    "a function of the language that depends": (
        "import os\nif os.environ.get('TEENYBUILD_NOT_SET'):\n    f = tl.maximum\nelse:\n    f = tl.minimum", "f(10, 3)", 3),
    "a default that depends": ("import os\nA = len(os.environ.get('TEENYBUILD_NOT_SET', 'abc'))\n@triton.jit\ndef h(x, c: tl.constexpr = A):\n    return x + c\nA = 9", "h(10)", None),
    "a default that depends, bound once": ("import os\nA = len(os.environ.get('TEENYBUILD_NOT_SET', 'abc'))\n@triton.jit\ndef h(x, c: tl.constexpr = A):\n    return x + c", "h(10)", 13),
    "a default from before": ("import os\nA = 1\n@triton.jit\ndef h(x, c: tl.constexpr = A):\n    return x + c\nA = len(os.environ)", "h(10)", 11),
    "an attribute of a class": ("import os\nX = len(os.environ.get('TEENYBUILD_NOT_SET', 'abc'))\nclass C:\n    X = len(os.environ)", "C.X", None),
    "a dtype that depends": ("import os\nT = tl.int32 if os.name else tl.float32", "(tl.full((), 3, T) // 2).to(T)", 1),
    "a name from another file": ("from lib import *", "K", 6),
    "a module from another file": ("import lib", "lib.K", 6),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_what_reading_leaves_open(tmp_path: Path, name: str) -> None:
    """The import settles it, but for what a name was before the file ended."""
    from teenybuild.compiler.frontend.kernel import Instance, read_kernel
    from teenybuild.compiler.ir.printer import print_function
    from teenybuild.compiler.passes.simplify import Simplify
    from teenybuild.diagnostics import UserError

    text, expression, value = OPEN[name]
    (tmp_path / "lib.py").write_text(
        "import os\nimport triton\nK = 2 * len(os.environ.get('TEENYBUILD_NOT_SET', 'abc'))\n"
    )
    source = f"import triton\nimport triton.language as tl\n{text}\n@triton.jit\ndef k(o):\n    tl.store(o, {expression})\n"
    instance = Instance({"o": parse_type("*i32")}, {})
    if name != "a default from before":
        with pytest.raises(UserError):
            read_kernel(read(tmp_path, source), instance)
    if value is None:
        with pytest.raises(UserError):
            read_kernel(imported(tmp_path, source), instance)
        return
    function = read_kernel(imported(tmp_path, source), instance)
    Simplify().apply(function)
    assert f"{value} : i32" in print_function(function)
