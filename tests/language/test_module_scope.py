"""Module-level names mean what Python, running the file, would give them: every snippet is run by both."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from teenybuild.api import Artifact, compile
from teenybuild.diagnostics import UserError
from tests.support.run import Program, run, workspace, write_source

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
    "an augmented assignment": ("K = 3\nK += 4\nK *= 2", "K"),
    "an augmented list": ("L = [1]\nL += [2, 3]", "L[0] + 10 * L[2] + 100 * len(L)"),
    "arithmetic": ("A = 7\nK = (A // 2) ** 2 + A % 4 - (A << 2 | 1) + int(A > 3) + (-A) // 2", "K"),
    "a constexpr": ("K = tl.constexpr(3)\nL: tl.constexpr = 4", "K + L"),
    "arithmetic on a constexpr": ("A = tl.constexpr(3)\nK = A * 2 + 1", "K"),
    "a dict": ("D = {'a': 3, 2: 4, **{'b': 5}}\nK = D['a'] + 10 * D[2] + 100 * D.get('b') + 1000 * D.get('c', 6)", "K"),
    "a dict in the kernel": ("D = {'a': 3, (1, 2): 4}", "D['a'] + 10 * D[(1, 2)] + len(D)"),
    "lists in a list": ("L = [1, [2, 3], (4, [5])]", "L[1][1] + 10 * L[2][1][0] + 100 * L[-1][0]"),
    "a slice": ("L = list(range(10))[2:8:3]", "L[0] + 10 * L[1]"),
    "comprehensions": ("L = [a * b for a in (1, 2) for b in range(3) if b]\nD = {k: v for v, k in enumerate(['x', 'y'])}", "L[3] + 10 * D['y']"),
    "the version of Python": ("import sys\nif sys.version_info >= (3, 8) and sys.version_info[0] == 3:\n    K = 1\nelse:\n    K = 2", "K"),
    "an older Python": ("import sys\nif sys.version_info[:2] < (3, 9):\n    K = 1\nelif sys.version_info.major > 2:\n    K = 2", "K"),
    "a chain of comparisons": ("A = 3\nK = 1 if 1 < A <= 3 != 4 else 2", "K"),
    "triton's arithmetic": ("K = triton.next_power_of_2(100) + triton.cdiv(7, 2)", "K"),
    "mathematics": ("import math\nK = math.ceil(math.log2(100)) + math.prod([2, 3]) + math.gcd(8, 12)", "K"),
    "python's functions": ("K = sum(map(abs, [-1, 2])) + max(3, 4) * min([5, 6]) + len(sorted({3, 1}))", "K"),
    "a function": ("def f(a, b=2, *c, d=4):\n    return a + 10 * b + 100 * len(c) + 1000 * d\nK = f(1) + f(1, 3, 5, 6, d=7)", "K"),
    "a function with a body": (
        "def f(n):\n    'It counts.'\n    out = []\n    for i in range(n):\n        if i == 1:\n            continue\n"
        "        if i > 4:\n            break\n        out.append(i)\n    out[0] += 0 if False else 0\n    return out\nK = f(9)[1] + 10 * len(f(9))"
        .replace("    out[0] += 0 if False else 0\n", "    out[0] = 7\n"), "K"),
    "a function that sees what is there": ("A = 1\ndef f():\n    return A\nA = 2\nK = f()\nA = 3", "K"),
    "a recursion": ("def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nK = f(5)", "K"),
    "a lambda": ("f = lambda a, b=2: a * b\nK = (lambda x: x + 1)(4)", "K"),
    "functions that are values": ("def f(x):\n    return lambda y: x + y\nK = f(3)(4) + sorted([1, 2, 3], key=lambda x: -x)[0]", "K"),
    "a list in two places": ("def f():\n    a = b = []\n    a.append(1)\n    b += [2]\n    return len(a)\nK = f()", "K"),
    "a cached function": ("import functools\n@functools.lru_cache(maxsize=None)\ndef f():\n    return 5\nK = f()", "K"),
    "a class of constants": ("class C:\n    A = 3\n    B = A + 1\n    def f(self):\n        return 0", "C.A + 10 * C.B"),
    "an enum of integers": ("import enum\nclass C(enum.IntEnum):\n    A = 3\n    B = 4", "C.A + 10 * C.B.value"),
    "the value of an enum": ("from enum import Enum\nclass C(Enum):\n    A = 3\n    B = (4, 5)", "C.A.value + 10 * C.B.value[1]"),
    "text": ("K = len('a,b'.split(',')) + int('12'.replace('1', '3')) + len(f'{3:>4}{True!r}' + '-'.join(['x', 'y']))", "K"),
    "products": ("import itertools\nL = list(itertools.product([1, 2], (3, 4)))", "L[2][0] + 10 * L[3][1]"),
    "a list made longer": ("A = [1, 2]\nL = A + [x + 1 for x in A]", "L[3] + 10 * len(L)"),
    "a list that grows": ("L = [1]\nL.append(2)\nL.insert(0, 3)", "L[0] + 10 * L[2] + 100 * len(L)"),
    "a list that grows in a loop": (
        "L = [1]\nfor i in range(3):\n    for j in 'ab':\n        if i != 1:\n            L.append(i * len(j))\nK = L[4] + 10 * len(L)", "K"),
    "a list of lists that grows": ("L = [[1], [2]]\nL[0].append(5)\nL[1][0] = 7", "len(L[0]) + 10 * L[1][0] + 100 * L[0][1]"),
    "a list that a helper changes": ("def fill(l):\n    l.append(5)\n    return len(l)\nL = [1]\nN = fill(L)", "L[1] + 10 * len(L)"),
    "a dict that changes": ("D = {'a': 1}\nD.update(a=2)\nD['b'] = 3\nfor k in ('x', 'y'):\n    D[k] = len(D)", "D['a'] + 10 * D['b'] + 100 * D['y']"),
    "a list that a helper fills": ("def fill(l, n):\n    for i in range(n):\n        l.append(i)\nL = []\nfill(L, 4)\nK = L[3] + 10 * len(L)", "K"),
    "the machine": (
        "def is_cuda():\n    return triton.runtime.driver.active.get_current_target().backend == 'cuda'\nK = 3 if is_cuda() else 4", "K"),
    "a list against a tuple": ("L = [1]\nK = 1 if L == (1,) else 2 if L == [1] and L + [3] == [1, 3] else 3", "K"),
    "names inside functions": ("K = 1\ndef f():\n    K = 2\nclass C:\n    K = 3\ng = lambda K: K", "K"),
}  # fmt: skip

KERNEL = "\n\n@triton.jit\ndef kernel(o):\n    tl.store(o, {expression})\n"


def python_value(text: str, expression: str) -> Any:
    """What Python gives, with a ``triton`` that does nothing."""
    triton, language = ModuleType("triton"), ModuleType("triton.language")
    triton.jit = lambda f: f  # type: ignore[attr-defined]
    triton.language = language  # type: ignore[attr-defined]
    language.constexpr = int  # type: ignore[attr-defined]
    target = SimpleNamespace(get_current_target=lambda: SimpleNamespace(backend="cuda"))
    triton.runtime = SimpleNamespace(driver=SimpleNamespace(active=target))  # type: ignore[attr-defined]
    triton.cdiv = lambda a, b: -(-a // b)  # type: ignore[attr-defined]
    triton.next_power_of_2 = lambda n: 1 << (n - 1).bit_length()  # type: ignore[attr-defined]
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
    "the environment": "import os\nK = int(os.environ.get('K', '3'))",
    "the version of later Pythons": "import sys\nK = 1 if sys.version_info >= (3, 12) else 2",
    "a list that is asked for in between": "L = [1]\nL.append(2)\nK = len(L)\nL.append(3)",
    "a list that grows by what is not known": "import os\nL = [1]\nL.append(len(os.environ))\nK = L[0]",
    "a list that grows in a function too": "L = [1]\nL.append(2)\ndef f():\n    L.append(3)\nK = L[0]",
    "a list that grows under a condition": "import os\nL = [1]\nif os.environ:\n    L.append(2)\nK = L[0]",
    "a list that grows as it is asked for": "L = [1]\ndef f():\n    return len(L)\nfor i in range(2):\n    L.append(f())\nK = L[1]",
    "a list that is shuffled": "import random\nL = [1, 2]\nrandom.shuffle(L)\nK = L[0]",
    "a list that a function changes": "L = [1]\ndef f():\n    L[0] = 2\nf()\nK = L[0]",
    "elements that are changed": "L = [[1], [2]]\nfor x in L:\n    x.append(7)\nK = len(L[0])",
    "an element with a name": "L = [[1], [2]]\nx = L[0]\nx.append(7)\nK = len(L[0])",
    "a list that a function knows by another name": "L = [1]\ndef f():\n    m = L\n    m.append(2)\nf()\nK = len(L)",
    "a list that is changed in what is passed": "L = [1]\ndef f(m):\n    m += [2]\n    return 3\nK = f(L) + len(L)",
    "a list that is passed on": "L = [1]\nsomething(L)\nK = L[0]",
    "another name for a list that grows": "L = [1]\nM = L\nM.append(2)\nK = len(L)",
    "another name for a list that is added to": "L = [1]\nM = L\nM += [2]\nK = len(L)",
    "a class that changes": "class C:\n    A = 1\nC.A = 2\nK = C.A",
    "a class with a base": "class B:\n    pass\nclass C(B):\n    A = 1\nK = C.A",
    "a decorated class": "import dataclasses\n@dataclasses.dataclass\nclass C:\n    A: int = 1\nK = C.A",
    "a member that is numbered": "import enum\nclass C(enum.Enum):\n    A = enum.auto()\nK = C.A.value",
    "the order of a set": "K = list({3, 1, 2})[0]",
    "a function with an effect": "N = 1\ndef f():\n    global N\n    N += 1\n    return N\nK = f()",
    "a decorated function": "import contextlib\n@contextlib.contextmanager\ndef f():\n    return 3\nK = f()",
    "a function that never ends": "def f(n):\n    return f(n + 1)\nK = f(0)",
    "a function that takes too long": "def f():\n    n = 0\n    for i in range(3000):\n        for j in range(3000):\n            n += 1\n    return n\nK = f()",
    "a while loop": "def f():\n    n = 0\n    while n < 3:\n        n += 1\n    return n\nK = f()",
    "a list too long": "K = len([0] * 10**9)",
    "a list that doubles": "def f():\n    l = [1]\n    for i in range(60):\n        l.extend(l)\n    return len(l)\nK = f()",
    "lists of lists": "def f():\n    return len([list(range(9999)) for i in range(9999)])\nK = f()",
    "a text that doubles": "def f():\n    s = 'a'\n    for i in range(60):\n        s = s + s\n    return len(s)\nK = f()",
    "a text that is filled": "K = len(f'{1:>1000000000000}')",
    "a number that grows": "import math\nK = math.prod([2**4000] * 9) % 7",
    "a division by zero": "K = 1 // 0",
    "a key that is not there": "K = {'a': 1}['b']",
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


FILES = {
    "pack/__init__.py": "from .one import A, helper as renamed\nfrom .deep import *\nfrom . import two\n__version__ = '1'\n",
    "pack/one.py": "import triton\nfrom .two import B as A\n@triton.jit\ndef helper(x):\n    return x + A\n",
    "pack/two.py": "B = 2\n_HIDDEN = 9\n",
    "pack/deep/__init__.py": "from .inner import C, D\n__all__ = ['C']\n",
    "pack/deep/inner.py": "from ..two import B\nfrom ...top import T\nC, D = B + T, 8\n",
    "top.py": "T = 100\n",
}


@pytest.mark.parametrize(
    ("imports", "expression", "value"),
    [
        ("from pack import renamed, A", "renamed(10) + A", 14),
        ("import pack", "pack.renamed(10) + pack.A + pack.two.B", 16),
        ("from pack import *", "renamed(10) + A + C", 116),
        ("from pack.deep.inner import C as K, D", "K + D", 110),
        ("import pack.deep.inner as i, top", "i.C + top.T", 202),
        ("from pack import two as t\nimport top as pack", "t.B + pack.T", 102),
        ("try:\n    from pack.one import A\nexcept ImportError:\n    A = 5", "A", 2),
        (
            "try:\n    import pack.two as p\n    HAS = True\nexcept ImportError:\n    HAS = False\nK = p.B if HAS else 0",
            "K",
            2,
        ),
    ],
)
def test_imports_through_packages(tmp_path: Path, imports: str, expression: str, value: int) -> None:
    """The same by reading and as Python imports it."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    # A file of its own package above: three dots lead from pack.deep to what lies beside pack.
    outer = tmp_path / "outer"
    if "pack" not in sys.modules:
        outer.mkdir()
    source = f"import triton\nimport triton.language as tl\n{imports}" + KERNEL.format(expression=expression)
    (tmp_path / "k.py").write_text(source)
    mlir = compile(f"{tmp_path}/k.py:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace()).mlir
    assert f"{value} : i32" in mlir


def test_a_name_with_an_underscore_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text("B = 2\n_HIDDEN = 9\n")
    (tmp_path / "k.py").write_text(
        "import triton\nimport triton.language as tl\nfrom two import *" + KERNEL.format(expression="_HIDDEN")
    )
    with pytest.raises(UserError, match="_HIDDEN is not defined"):
        compile(f"{tmp_path}/k.py:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace())


def test_the_value_in_a_dict_is_in_the_key() -> None:
    texts: set[str] = set()
    for value in (3, 4):
        source = f"import triton\nimport triton.language as tl\nD = {{'a': {value}}}" + KERNEL.format(
            expression="D['a']"
        )
        artifact = compile(f"{write_source(source)}:kernel", "cpu", {"o": "*i32"}, cache_dir=workspace())
        assert f"D = {{'a': {value}}}" in artifact.source
        texts.add(artifact.source)
    assert len(texts) == 2


def test_messages_of_assertions_are_made_of_constants() -> None:
    body = "\n\n@triton.jit\ndef kernel(o, N: tl.constexpr):\n    tl.static_assert(N % 16 == 0, f'N={N} of {NAMES[0]} in {LIMITS[\"n\"]}')\n"
    source = f"import triton\nimport triton.language as tl\nNAMES = ['x']\nLIMITS = {{'n': 64}}{body}"
    path = write_source(source)
    with pytest.raises(UserError, match="static_assert failed: N=8 of x in 64"):
        compile(f"{path}:kernel", "cpu", {"o": "*i32"}, {"N": 8}, cache_dir=workspace())
    compile(f"{path}:kernel", "cpu", {"o": "*i32"}, {"N": 32}, cache_dir=workspace())


def test_a_function_from_whichever_module_of_the_language_has_it() -> None:
    """Where another package's idea of Triton's version decides, either is meant."""
    source = """
import operator
import triton
import triton.language as tl
from some_project.utils import compare_version, is_npu_available

if compare_version("triton", operator.ge, "3.0.0") and not is_npu_available():
    try:
        from triton.language.math import exp2
    except ModuleNotFoundError:
        from triton.language.extra.cuda.libdevice import exp2
else:
    from triton.language import exp2


@triton.jit
def kernel(o):
    tl.store(o, exp2(3.0))
"""
    assert run(source, {"o": np.zeros(1, np.float32)})["o"].tolist() == [8.0]


def test_functions_and_dtypes_given_for_names() -> None:
    source = """
import os
import triton
import triton.language as tl

if os.environ.get("FAST", "0") == "1":
    power, kind = tl.exp, tl.float16
else:
    power, kind = tl.exp2, tl.bfloat16


@triton.jit
def kernel(o):
    tl.static_assert(kind == tl.float32)
    tl.store(o, power(3.0).to(kind))
"""
    path = write_source(source)
    with pytest.raises(UserError, match="sets under a condition"):
        run(source, {"o": np.zeros(1, np.float32)})
    given = {"power": "tl.math.exp2", "kind": "tl.float32"}
    made = compile(f"{path}:kernel", "cpu", {"o": "*f32"}, globals=given, cache_dir=workspace() / "cache")
    assert Program(made)({"o": np.zeros(1, np.float32)})["o"].tolist() == [8.0]
