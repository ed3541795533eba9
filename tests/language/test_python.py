"""What of Python kernels use beyond numbers and loops: named tuples, comprehensions, questions about types, functions that run at compile time.

Triton's front end takes every kernel here that has a result, but for parameters by name only, and refuses those that are refused (tests/peer).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.run import PREAMBLE, build, run

HEAD = """
from collections import namedtuple
from typing import NamedTuple

import triton
import triton.language as tl


class Pair(NamedTuple):
    \"\"\"Two values.\"\"\"

    a: tl.tensor
    b: tl.tensor = 5


Three = namedtuple("Three", ["x", "y", "z"])


@triton.jit
def swapped(p):
    return Pair(p.b, p.a)


@triton.jit
def first_at(n, N: tl.constexpr):
    for i in tl.static_range(N):
        if n == i:
            return 10 * i
        if i == 3:
            return n - 100
    return n + 100


@triton.jit
def known_return(n, N: tl.constexpr):
    for i in tl.static_range(N):
        if i == 2:
            return n + i
    return n


@triton.jit
def total(*, values, scale: tl.constexpr = 2):
    result = 0
    for i in tl.static_range(len(values)):
        result += values[i] * scale
    return result


@triton.constexpr_function
def smallest_prime_factor(x):
    table = {k: v for k, v in zip(range(2, x + 1), range(2, x + 1))}
    for candidate in table:
        if x % candidate == 0:
            return candidate
    return max([f(x) for f in [lambda y: y * STEP]])


@triton.constexpr_function
def sides(x):
    return (x, 2 * x)


STEP: tl.constexpr = 3


@triton.jit
def kernel(o, n, C: tl.constexpr, M: tl.constexpr):
    \"\"\"One statement of every kind.\"\"\"
    pass
"""

Case = tuple[str, Callable[[int], list[int]]]

#: Statements that store at o + 0, 1, …, and what they store for n; C is 6 and M "relu".
CASES: dict[str, Case] = {
    "named tuples": ("p = Pair(n, 7)\ntl.store(o, p.a - p[1])\na, b = swapped(p)\ntl.store(o + 1, a * b + p.b)", lambda n: [n - 7, 7 * n + 7]),
    "defaults and names": ("p = Pair(n)\nt = Three(z=n, x=1, y=p.b)\ntl.store(o, t.x + t.y * t.z)", lambda n: [1 + 5 * n]),
    "a named tuple in a loop": (
        "p = Pair(n, n + 1)\nfor i in range(0, n):\n    p = Pair(p.b, p.a + i)\ntl.store(o, p.a)\ntl.store(o + 1, p.b)", lambda n: [*_fold(n)],
    ),
    "a named tuple after an if": ("p = Pair(n, n)\nif n > 3:\n    p = Pair(n + 7, n)\ntl.store(o, p.a - p.b)", lambda n: [7 if n > 3 else 0]),
    "comprehensions": (
        "xs = [n + i for i in (1, 2, 3)]\nys = tl.tuple([2 * x for x in xs])\ntl.store(o, xs[0] + ys[2])\ntl.store(o + 1, len(ys))", lambda n: [3 * n + 7, 3],
    ),
    "comprehensions of comprehensions": ("xs = [[i * j + n for j in (1, 2)] for i in (3, 4)]\ntl.store(o, xs[1][1])", lambda n: [8 + n]),
    "a return in an unrolled loop": ("tl.store(o, first_at(n, 3))\ntl.store(o + 1, first_at(n, 5))\ntl.store(o + 2, known_return(n, 4))", lambda n: [_first(n, 3), _first(n, 5), n + 2]),
    "no turn that returns": ("tl.store(o, known_return(n, 2))", lambda n: [n]),
    "questions": (
        "tl.static_assert(isinstance(n, tl.tensor) and isinstance(o, tl.tensor) and not isinstance(C, tl.tensor))\n"
        "tl.static_assert(isinstance(C, int) and not isinstance(C, float) and isinstance(n.dtype, tl.dtype))\n"
        "tl.static_assert(isinstance((n, 1), tl.tuple) and not isinstance(n, tl.tuple))\n"
        "tl.static_assert(hasattr(n, 'dtype') and not hasattr(n, 'dtipe') and hasattr(tl, 'maximum'))\n"
        "x = tl.zeros((4, 8), tl.int32)\ntl.store(o, getattr(x, 'shape')[1] + getattr(x, 'nothing', 3))",
        lambda n: [11],
    ),
    "texts": (
        "if M.startswith('re') and M[0] == 'r' and M.upper() == 'RELU':\n    tl.store(o, C.bit_length())\n"
        "tl.static_assert(C == 6, f'C is {C:>4} or {C!r}')",
        lambda n: [3],
    ),
    "functions at compile time": (
        "K: tl.constexpr = smallest_prime_factor(35)\ntl.store(o, n + K)\nS: tl.constexpr = sides(K - 1)\nx = tl.zeros(S, tl.int32) + n\n"
        "tl.store(o + 1, tl.sum(tl.sum(x, 1), 0))\ntl.store(o + 2, smallest_prime_factor(1))",
        lambda n: [n + 5, 32 * n, 3],
    ),
    "names only": ("tl.store(o, total(values=(n, 3, C)))\ntl.store(o + 1, total(values=(n,), scale=3))", lambda n: [2 * (n + 9), 3 * n]),
    "nested unpacking": ("(a, b), c = (n, n + 1), 3\na, b = b, a\nc += 1\ntl.store(o, a * 100 + b * 10 + c)", lambda n: [110 * n + 104]),
    "tuples of tuples": ("t = ((n, 1), (2, 3))\nu = t[0] + t[-1][::-1] + (4,) * 2\ntl.store(o, u[0] * u[2] + u[-1] + len(u))", lambda n: [3 * n + 10]),
    "warps": ("tl.store(o, tl.extra.cuda.num_warps() * 1000 + tl.extra.cuda.num_threads())", lambda n: [4128]),
    "constant arithmetic": (
        "A: tl.constexpr = C * 2 + 1\nB: tl.constexpr = A // 3 if A > 4 else A ** 2\nD: tl.constexpr = min(A, B) + max(1, 2)\n"
        "tl.store(o, D - (~A) + (A & 3) + (A << 1) + tl.cdiv(C, 4) + triton.next_power_of_2(C) - (not C) + int(C / 4))",
        lambda n: [6 + 14 + 1 + 26 + 2 + 8 + 1],
    ),
    "operators by name": (
        "i = 0\nwhile tl.condition(i < n):\n    i = tl.add(i, 2)\ntl.store(o, tl.sub(tl.mul(i, 3), n, sanitize_overflow=False))", lambda n: [3 * (n + n % 2) - n],
    ),
    "dtypes": (
        "T: tl.constexpr = o.dtype.element_ty\ntl.static_assert(T == tl.int32 and T.primitive_bitwidth == 32 and T.is_int() and not T.is_floating())\n"
        "tl.static_assert(o.type.element_ty is tl.int32 and o.dtype.is_ptr() and not T.is_fp16() and T.is_int_signed())\n"
        "tl.store(o, (n.to(tl.float32) * 1.5).to(T))",
        lambda n: [int(n * 1.5)],
    ),
}  # fmt: skip


def _fold(n: int) -> tuple[int, int]:
    a, b = n, n + 1
    for i in range(n):
        a, b = b, a + i
    return a, b


def _first(n: int, turns: int) -> int:
    for i in range(turns):
        if n == i:
            return 10 * i
        if i == 3:
            return n - 100
    return n + 100


def source(statements: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in statements.splitlines())


CONST = {"C": 6, "M": "relu"}


@pytest.mark.parametrize("n", [0, 2, 9])
@pytest.mark.parametrize("name", CASES)
def test_what_kernels_may_say(name: str, n: int) -> None:
    statements, expected = CASES[name]
    found = run(source(statements), {"o": np.zeros(4, np.int32), "n": n}, CONST)
    wanted = expected(n)
    assert found["o"].tolist() == [*wanted, *[0] * (4 - len(wanted))]


#: What Triton refuses too, or gives no meaning: (statements, what is said).
REFUSED = [
    ("if (y := n + 1) > 3:\n    tl.store(o, y)", "the walrus operator"),
    ("if 0 < n < 10:\n    tl.store(o, 1)", "a chain of comparisons"),
    ("t = (n, 1)\nt[0] += 1", "only names can be assigned"),
    ("def f(x):\n    return x\ntl.store(o, f(n))", "a function inside a kernel"),
    ("f = lambda x: x + 1", "a lambda"),
    ("tl.store(o, tl.reduce(tl.arange(0, 16), 0, lambda a, b: a + b))", "a lambda"),
    ("i = 0\nwhile i < n:\n    i += 1\n    if i == 5:\n        break", "break is not part"),
    ("for i in range(0, n):\n    continue", "continue is not part"),
    ("for i in range(0, n):\n    return", "return inside a loop"),
    ("for i in range(0, n):\n    for j in tl.static_range(2):\n        return", "return inside a loop"),
    ("a, *b = (n, 1)", "a starred name"),
    ("d = {'y': 3}", "a dict is not part"),
    ("total(**{'values': (n,)})", r"\*\*arguments"),
    ("del n", "del is not part"),
    ("with tl.foo():\n    pass", "with is not part"),
    ("try:\n    pass\nexcept Exception:\n    pass", "try is not part"),
    ("import math", "an import inside a kernel"),
    ("match C:\n    case 1:\n        pass", "match is not part"),
    ("x = tl.arange(0, 16)\ny = x[0]", "indexed with : and None"),
    ("for i in range(0, n):\n    pass\ntl.store(o, i)", "the variable of a loop ends with the loop"),
    ("x = [i for i in range(0, n)]", "goes through a tuple or tl.static_range, got a range"),
    ("x = [i for i, j in ((1, 2),)]", "the variable of a comprehension is one name"),
    ("x = [i + j for i in (1, 2) for j in (3, 4)]", "a comprehension goes through one tuple"),
    ("x = [i for i in (1, 2) if n > i]", "neither true nor false"),
    ("tl.static_assert(isinstance(n, 3))", "isinstance asks for a class"),
    ("getattr(n, 'dtipe')", "has no attribute dtipe"),
    ("getattr(n, 3)", "the name of an attribute is a string"),
    ("M.startswith(n)", "works on values known at compile time"),
    ("M.middle(3)", "has no attribute middle"),
    ("tl.static_assert(C == 7, f'{C:q}')", "cannot write the constant 6 so"),
    ("p = Pair(n, n, n)", "Pair has 2 fields, got 3"),
    ("p = Pair(n, c=1)", "Pair has no field c"),
    ("p = Pair(n, a=1)", "Pair gets a twice"),
    ("p = Three(n, 1)", "Three misses z"),
    ("p = Pair(n)\np.c", "has no attribute c"),
    ("smallest_prime_factor(n)", "computes with values known at compile time"),
    ("smallest_prime_factor('a')", "cannot compute|fails"),
    ("tl.tuple(n)", "tl.tuple takes a tuple"),
    ("triton.constexpr_function(total)", "is a decorator"),
]


@pytest.mark.parametrize(("statements", "message"), REFUSED)
def test_what_kernels_may_not_say(statements: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        build(source(statements), {"o": np.zeros(1, np.int32), "n": 1}, CONST)
    assert all(d.span is not None for d in caught.value.diagnostics)


def test_named_tuples_that_do_more() -> None:
    """Methods would have to run."""
    head = "from typing import NamedTuple\n\nclass P(NamedTuple):\n    a: int\n\n    def twice(self):\n        return 2 * self.a\n\n"
    with pytest.raises(UserError, match="the class P"):
        build(f"{PREAMBLE}{head}@triton.jit\ndef kernel(n):\n    p = P(n)\n", {"n": 1})


def test_clocks_and_multiprocessors_are_of_gpus() -> None:
    for call in ("tl.extra.cuda.globaltimer()", "tl.extra.cuda.smid()"):
        text = f"@triton.jit\ndef kernel(o):\n    tl.store(o, {call}.to(tl.int64))\n"
        with pytest.raises(UserError, match="GPU"):
            build(text, {"o": np.zeros(1, np.int64)})
        made = build(text, {"o": np.zeros(1, np.int64)}, target="sm_90a")
        assert f"%{call.rpartition('.')[2][:-2]};" in str(made.artifact.ptx)
