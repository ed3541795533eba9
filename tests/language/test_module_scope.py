"""Module-level names mean what Python, running the file, would give them: every snippet is run by both."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from teenybuild.api import Artifact, compile
from teenybuild.diagnostics import UserError
from tests.support.run import run, workspace, write_source

#: Module level, and what the kernel stores (helpers h are called with 10).
SNIPPETS = {
    "the last assignment": ("K = 1\nK = 2", "K"),
    "before a change": ("A = 128\nK = A // 2\nA = 256", "K"),
    "through its own value": ("K = 3\nK = K + 4\nK = K * 2", "K"),
    "a tuple": ("K, (A, B) = 3, (4, 5)", "K + 10 * A + 100 * B"),
    "two targets": ("K = A = 7", "K + A"),
    "an annotation is no assignment": ("K = 5\nK: int", "K"),
    "an if": ("A = 2\nif A > 1:\n    B = 10\n    K = B + A\nelse:\n    K = 1", "K"),
    "an if that leaves it": ("K = 4\nif K > 5:\n    K = 9", "K"),
    "both sides agree": ("import sys\nif len(sys.argv) > 1000:\n    K = 6\nelse:\n    K = 6", "K"),
    "a try that succeeds": ("try:\n    import math\n    K = 3\nexcept ImportError:\n    K = 4", "K"),
    "a try with else": ("try:\n    A = 3\nexcept ValueError:\n    K = 4\nelse:\n    K = A + 1", "K"),
    "a try with finally": ("try:\n    import nowhere_at_all\nexcept ImportError:\n    pass\nfinally:\n    K = 8", "K"),
    "every way agrees": ("try:\n    import nowhere_at_all\n    K = 5\nexcept ImportError:\n    K = 5", "K"),
    "a default from before": ("A = 1\n@triton.jit\ndef h(x, c: tl.constexpr = A):\n    return x + c + A\nA = 5", "h(10)"),
    "a default in a branch": ("A = 1\nif A:\n    @triton.jit\n    def h(x, c=A):\n        return x + c\nA = 5", "h(10)"),
    "the last function": ("def h(x):\n    return x\ndef h(x):\n    return x + 1", "h(10)"),
    "a function of a branch": ("if 1 > 2:\n    def h(x):\n        return x\nelse:\n    def h(x):\n        return x + 2", "h(10)"),
    "another name for a function": ("def g(x):\n    return x + 3\nh = triton.jit(g)", "h(10)"),
    "a function bound anew": ("def h(x):\n    return x + 3\nh = triton.jit(h)", "h(10)"),
    "a default in finally": ("try:\n    A = 1\nfinally:\n    B = 2\n    @triton.jit\n    def h(x, c=B):\n        return x + c\nB = 3", "h(10)"),
    "a default in a handler": ("B = 1\ntry:\n    B = 2\n    import nowhere_at_all\nexcept ImportError:\n    @triton.jit\n    def h(x, c=B):\n        return x + c", "h(10)"),
    "the sign of zero": ("import sys\nif len(sys.argv) < 1000:\n    K = 0.0\nelse:\n    K = 0.0", "K"),
    "only for type checkers": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    K = 1\nelse:\n    K = 2", "K"),
    "names of comprehensions": ("K = 1\nL = tuple([K for K in range(3)])", "K"),
    "names inside functions": ("K = 1\ndef f():\n    K = 2\nclass C:\n    K = 3\ng = lambda K: K", "K"),
}  # fmt: skip

KERNEL = "\n\n@triton.jit\ndef kernel(o):\n    tl.store(o, {expression})\n"


def python_value(text: str, expression: str) -> Any:
    """What Python gives, with a ``triton`` that does nothing."""
    triton, language = ModuleType("triton"), ModuleType("triton.language")
    triton.jit = lambda f: f  # type: ignore[attr-defined]
    triton.language = language  # type: ignore[attr-defined]
    language.constexpr = int  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "triton", triton)
        patch.setitem(sys.modules, "triton.language", language)
        scope: dict[str, Any] = {"__name__": "snippet"}
        exec(f"import triton\nimport triton.language as tl\n{text}", scope)
        return eval(expression, scope)


@pytest.mark.parametrize("name", SNIPPETS)
def test_as_python_gives_it(name: str) -> None:
    text, expression = SNIPPETS[name]
    source = f"import triton\nimport triton.language as tl\n\n{text}" + KERNEL.format(expression=expression)
    found = run(source, {"o": np.zeros(1, np.int32)})["o"]
    assert found[0] == python_value(text, expression)


#: What running the file decides: refused by name, with the way out.
OPEN = {
    "an import that may fail": "try:\n    import nowhere_at_all\n    K = 1\nexcept ImportError:\n    K = 2",
    "an import that may fail, after a default": "K = 1\ntry:\n    import nowhere_at_all\n    K = 2\nexcept ImportError:\n    pass",
    "finally, after an import that may fail": "try:\n    import nowhere_at_all\n    A = 1\nexcept ImportError:\n    A = 2\nfinally:\n    K = A",
    "two zeros": "import os\nif os.environ:\n    K = 0.0\nelse:\n    K = -0.0",
    "a condition": "import os\nK = 1\nif os.environ:\n    K = 2",
    "a loop": "K = 1\nfor K in (1, 2):\n    pass",
    "a loop's body": "K = 1\nwhile K < 3:\n    K += 1",
    "a star of another module": "K = 1\nfrom nowhere_at_all import *",
    "a change in a function": "K = 1\ndef f():\n    global K\n    K = 2\nf()",
}


@pytest.mark.parametrize("name", OPEN)
def test_what_running_decides(name: str) -> None:
    source = f"import triton\nimport triton.language as tl\n\n{OPEN[name]}" + KERNEL.format(expression="K")
    path = write_source(source)
    with pytest.raises(UserError, match=r"cannot use K, which .*\n(.*\n)*.*give K a value under globals"):
        compile(f"{path}:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace())


def test_constants_of_one_name_have_different_keys() -> None:
    """The value at the definition and the value at the end are two constants of the canonical text."""
    template = "A = {first}\n@triton.jit\ndef h(x, c: tl.constexpr = A):\n    return x + c * A\nA = {last}"
    texts: set[str] = set()
    for first, last in ((1, 5), (2, 5), (1, 6)):
        source = f"{template.format(first=first, last=last)}" + KERNEL.format(expression="h(10)")
        artifact = compile(f"{write_source(source)}:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace())
        assert artifact.source is not None
        texts.add(artifact.source)
        assert run(source, {"o": np.zeros(1, np.int32)})["o"][0] == 10 + first * last
    assert len(texts) == 3


@pytest.mark.parametrize(
    ("helpers", "text", "value"),
    [
        ("__all__ = ['f']\nK = 64\ndef f(): pass", "K = 128\nfrom {helpers} import *", 128),
        ("__all__ = ['K']\nK = 64", "K = 128\nfrom {helpers} import *", 64),
        ("__all__ = ['_K']\n_K = 64", "from {helpers} import *\nK = _K", 64),
        ("_K = 64", "_K = 1\nfrom {helpers} import *\nK = _K", 1),
    ],
)
def test_what_a_star_gives(helpers: str, text: str, value: int) -> None:
    name = write_source(f"import triton\n{helpers}\n").stem
    source = f"import triton\nimport triton.language as tl\n\n{text.format(helpers=name)}" + KERNEL.format(
        expression="K"
    )
    assert run(source, {"o": np.zeros(1, np.int32)})["o"][0] == value


def test_a_computed_all_may_give_anything() -> None:
    name = write_source("import triton\nK = 64\n__all__ = [n for n in dir()]\n").stem
    source = f"import triton\nimport triton.language as tl\n\nK = 1\nfrom {name} import *" + KERNEL.format(
        expression="K"
    )
    with pytest.raises(UserError, match="may take from"):
        compile(f"{write_source(source)}:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace())


def test_packages_and_values_given_for_their_names(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("import triton\nA = 1\n")
    (tmp_path / "pack" / "inner.py").write_text("import triton\nB = 2\ndef f(x):\n    return x + B\n")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "inner.py").write_text("import triton\nB = 2\n")
    kernel = tmp_path / "k.py"

    def build(imports: str, expression: str, **options: Any) -> Artifact:
        kernel.write_text(
            f"import triton\nimport triton.language as tl\n{imports}" + KERNEL.format(expression=expression)
        )
        return compile(f"{kernel}:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace(), **options)

    assert "13 : i32" in build("import pack.inner", "pack.inner.f(10) + pack.A").mlir
    assert "7 : i32" in build("import pack.inner as inner", "inner.B", globals={"B": 7}).mlir
    assert "7 : i32" in build("from pack.inner import B as Other", "Other", globals={"B": 7}).mlir
    with pytest.raises(UserError, match=r"write import bare\.inner as inner"):
        build("import bare.inner", "bare.inner.B")
