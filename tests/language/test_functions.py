"""Helpers, constants and what runs at compile time; kernels spread over several files."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest

from teenybuild.api import compile
from tests.support.run import HOST_TARGETS, PREAMBLE, Array, Program, assert_same_bits, run, workspace


def results(
    body: str, *, n: int = 3, count: int = 8, before: str = "", const: dict[str, object] | None = None
) -> list[float]:
    """What the statements of ``body`` leave in eight f32 at ``o``; ``n`` is a run-time argument, ``x`` a tile 0…7."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    head = "".join(f", {name}: tl.constexpr" for name in const or {})
    source = f"{before}\n\n@triton.jit\ndef kernel(o, n{head}):\n    x = tl.arange(0, {count})\n{lines}\n"
    return run(source, {"o": np.zeros(count, np.float32), "n": n}, const)["o"].tolist()


HELPERS = """
@triton.jit
def double(v):
    \"\"\"Twice the value.\"\"\"
    return v * 2


@triton.jit
def affine(v, scale=3, *, shift: tl.constexpr = 1):
    return double(v) * scale + shift


@triton.jit
def both(a, b):
    return a + b, a - b


@triton.jit
def nothing(p, v):
    tl.store(p, v)
"""


def test_helpers() -> None:
    """By position, by name, with defaults; a helper may call a helper and give a tuple."""
    x = np.arange(8)
    assert results("tl.store(o + x, affine(x))", before=HELPERS) == (x * 6 + 1).tolist()
    assert (
        results("tl.store(o + x, affine(x, shift=n, scale=2))".replace("shift=n", "shift=5"), before=HELPERS)
        == (x * 4 + 5).tolist()
    )
    assert results("a, b = both(x, n)\ntl.store(o + x, a * b)", before=HELPERS) == (x * x - 9).tolist()
    assert results("nothing(o + x, affine(v=x, scale=n))", before=HELPERS) == (x * 6 + 1).tolist()
    assert results("nothing(o + x, both(*both(x, 1))[0])", before=HELPERS) == (2 * x).tolist()


def test_a_helper_without_a_decorator() -> None:
    assert results("tl.store(o + x, f(x))", before="def f(v):\n    return v + 1\n") == list(range(1, 9))


def test_a_helper_has_its_own_names() -> None:
    """Names of caller and helper do not meet; assigning a parameter changes nothing outside."""
    before = "@triton.jit\ndef f(v):\n    y = 100\n    v = v + y\n    return v\n"
    assert results("y = 1\nz = f(x)\ntl.store(o + x, z + y + x)", before=before) == [
        101 + 2 * i for i in range(8)
    ]


def test_helpers_with_control_flow() -> None:
    before = """
@triton.jit
def power(v, k):
    r = v * 0 + 1
    for _ in range(k):
        r *= v
    return r


@triton.jit
def sign(v, n):
    if n > 2:
        r = v
    else:
        r = -v
    return r
"""
    x = np.arange(8)
    assert results("tl.store(o + x, power(x, n))", before=before) == (x**3).tolist()
    assert results("tl.store(o + x, sign(power(x, 2), n))", n=1, before=before) == (-(x**2)).tolist()


def test_static_range() -> None:
    """Unrolled: the variable is a constant, usable as one."""
    body = """
t = tl.zeros((8,), tl.int32)
for k in tl.static_range(3):
    t += tl.full((8,), 10**k, tl.int32) * (k + 1)
for k in tl.static_range(6, 0, -2):
    if k == 4:
        t += 1000
for k in tl.static_range(2, 5):
    t += k * 10000
tl.store(o + x, t)
"""
    assert results(body) == [321 + 1000 + 90000] * 8


def test_a_loop_over_a_tuple() -> None:
    body = """
t = x * 0
for k in (1, 10, 100):
    t += k
for f in (x, x * x, n):
    t += f
tl.store(o + x, t)
"""
    assert results(body) == [111 + i + i * i + 3 for i in range(8)]


def test_constexpr_branches() -> None:
    """A constant condition is decided while compiling: the other side is not even looked at."""
    body = """
if MODE == "double" and FLAG:
    y = x * 2
elif MODE is None:
    y = x.not_a_method()
else:
    y = undefined_name
z = y if FLAG else other_undefined
if not FLAG:
    while True:
        pass
tl.store(o + x, z)
"""
    assert results(body, const={"MODE": "double", "FLAG": True}) == [2 * i for i in range(8)]


def test_absent_arguments() -> None:
    """``none``: the kernel sees None and decides by it."""
    source = """
@triton.jit
def kernel(x, bias, scale, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if bias is not None:
        v += tl.load(bias + i)
    if scale is None:
        v = -v
    else:
        v *= scale
    tl.store(o + i, v)
"""
    x = np.arange(4, dtype=np.float32)
    arguments: dict[str, object] = {"x": x, "bias": None, "scale": None, "o": np.zeros_like(x)}
    assert_same_bits(run(source, arguments, {"BLOCK": 4})["o"], 0 - x, "neither")
    arguments |= {"bias": x, "scale": 2.0}
    assert_same_bits(run(source, arguments, {"BLOCK": 4})["o"], x * 4, "both")


def test_module_constants() -> None:
    before = """
import math

SIZE = 8
HALF = SIZE // 2
NAMES = ("a", "b")
TABLE = (1.5, 2.5, (3, 4))
BIG: tl.constexpr = tl.constexpr(1 << 20)
DTYPE = tl.float32
NEGATIVE = -math.inf
LN2 = math.log(2.0)
LIMIT = float("1e3")
"""
    body = """
t = tl.full((SIZE,), TABLE[1], DTYPE) + HALF + BIG * 2
if NAMES[1] == "b" and len(NAMES) == 2:
    t += TABLE[2][0] + TABLE[-1][1]
t = tl.maximum(t, NEGATIVE) + LIMIT + min(SIZE, 3) + max(1, HALF) + abs(-2)
tl.store(o + x, t)
"""
    assert results(body, before=before) == [2.5 + 4 + (1 << 21) + 7 + 1000 + 3 + 4 + 2] * 8


def test_compile_time_functions() -> None:
    body = """
tl.static_assert(tl.cdiv(17, 4) == 5, "cdiv")
tl.static_assert(triton.next_power_of_2(33) == 64)
assert x.shape[0] == 8 and x.numel == 8
s: tl.constexpr = x.shape[0] // 2
k = tl.constexpr(3)
name = f"{k}_{s}"
tl.static_assert(name == "3_4" and name in ("1", "3_4"))
tl.static_assert(x.dtype == tl.int32 and x.dtype.primitive_bitwidth == 32 and o.dtype.element_ty == tl.float32)
tl.static_assert(o.type.element_ty == tl.float32 and o.type.scalar.element_ty == tl.float32 and n.type == tl.int32)
tl.static_assert(x.type.element_ty == tl.int32 and x.type.scalar == tl.int32)
tl.store(o + x, tl.cdiv(x, k) + int(2.9) + float(s) + bool(k))
"""
    assert results(body) == [-(-i // 3) + 2 + 4 + 1 for i in range(8)]


def test_chained_and_augmented_assignments() -> None:
    body = """
a = b = x + 1
a += 1
a *= 2
a -= b
b //= 2
b <<= 3
b |= 1
c: int = a
(d, [e, f]) = (1, (2, 3))
tl.store(o + x, a * 1000 + b + c * 0 + d * e * f * 0)
"""
    x = np.arange(8)
    assert results(body) == ((((x + 2) * 2) - (x + 1)) * 1000 + (((x + 1) // 2 << 3) | 1)).tolist()


def test_tuple_operations() -> None:
    body = """
t = (x, 2) + (n, 4.5)
u = t[1:3]
tl.static_assert(len(t) == 4 and len(t[::2]) == 2)
tl.store(o + x, t[0] + t[-1] + u[0] + u[1])
"""
    assert results(body) == [i + 4.5 + 2 + 3 for i in range(8)]


def test_a_constant_that_is_a_dtype() -> None:
    body = """
tl.static_assert(KIND == tl.float16 and NAME == "float16" and KIND.primitive_bitwidth == 16)
tl.store(o + x, (x + 2049).to(KIND) + tl.zeros((8,), KIND))
"""
    wanted = np.arange(2049, 2057).astype(np.float16).tolist()
    assert results(body, const={"KIND": "tl.float16", "NAME": "float16"}) == wanted


OTHER_FILE = """
import triton
import triton.language as tl

SCALE = 7
_HIDDEN = 3


@triton.jit
def scaled(v):
    return v * SCALE + _offset()


@triton.jit
def _offset():
    return _HIDDEN
"""


def project(files: dict[str, str], main: str = "main.py") -> list[float]:
    """Compiles ``kernel`` of ``main`` in a directory of its own and runs it on a tile 0…7."""
    directory = workspace() / f"project{hashlib.sha256(repr(files).encode()).hexdigest()[:16]}"
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = [run_file(directory / main, target) for target in HOST_TARGETS]
    assert_same_bits(found[1], found[0], main)
    return found[0].tolist()


def run_file(path: Path, target: str) -> Array:
    artifact = compile(f"{path}:kernel", target, {"o": "*f32"}, cache_dir=workspace() / "cache")
    return Program(artifact)({"o": np.zeros(8, np.float32)})["o"]


MAIN = """
@triton.jit
def kernel(o):
    x = tl.arange(0, 8)
    tl.store(o + x, {call})
"""

IMPORTS = [
    ("from lib import scaled", "scaled(x)"),
    ("from lib import scaled as s, SCALE", "s(x) + SCALE - 7"),
    ("import lib", "lib.scaled(x) + lib.SCALE - 7"),
    ("import lib as l", "l.scaled(x)"),
    ("from pkg.deep.ops import scaled", "scaled(x)"),
    ("from pkg import scaled", "scaled(x)"),
    ("import pkg", "pkg.scaled(x)"),
    ("from pkg import deep", "deep.ops.scaled(x)"),
    ("import pkg.deep.ops", "pkg.deep.ops.scaled(x)"),
    ("import pkg.deep.ops as ops", "ops.scaled(x)"),
    ("from lib import *", "scaled(x) + SCALE - 7"),
    ("from pkg import *\nfrom lib import *", "deep.ops.scaled(x)"),
    ("from circle import *", "scaled(x)"),
    ("try:\n    import missing_package as lib\nexcept ImportError:\n    import lib", "lib.scaled(x)"),
    ("try:\n    from lib import scaled\nexcept ImportError:\n    scaled = None", "scaled(x)"),
    ("FAST = True\nif FAST:\n    from lib import scaled\nelse:\n    scaled = None", "scaled(x)"),
]


@pytest.mark.parametrize(("line", "call"), IMPORTS, ids=[line.replace("\n", ";") for line, _ in IMPORTS])
def test_imports_between_files(line: str, call: str) -> None:
    files = {
        "lib.py": OTHER_FILE,
        "circle.py": "from circle2 import *\n",
        "circle2.py": "from circle import *\nfrom lib import *\n",
        "pkg/__init__.py": "from .deep.ops import scaled\nfrom . import deep\n",
        "pkg/deep/__init__.py": "from . import ops\n",
        "pkg/deep/ops.py": "from ...lib import scaled\n",
        "main.py": f"{PREAMBLE.strip()}\n{line}\n{MAIN.format(call=call)}",
    }
    assert project(files) == [i * 7 + 3 for i in range(8)]


def test_a_helper_sees_the_globals_of_its_own_file() -> None:
    files = {
        "lib.py": OTHER_FILE,
        "main.py": f"{PREAMBLE}from lib import scaled\n\nSCALE = 1000\n_HIDDEN = 5\n{MAIN.format(call='scaled(x) + SCALE')}",
    }
    assert project(files) == [i * 7 + 3 + 1000 for i in range(8)]


def test_host_code_in_a_kernel_file_is_left_alone() -> None:
    """What surrounds kernels is not run: it may need anything."""
    text = f"""
import os
import sys
import torch  # not installed here
{PREAMBLE}
CONFIGS = [triton.Config({{"BLOCK": b}}) for b in (1, 2)]
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if len(sys.argv) > 1:
    print(os.environ["HOME"])
LIMIT = 4


class Model(torch.nn.Module):
    def forward(self, x):
        return kernel[(1,)](x)


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def kernel(o):
    x = tl.arange(0, 8)
    tl.store(o + x, x + LIMIT)


def main():
    with open("/dev/null") as file:
        kernel[(1,)](file)


if __name__ == "__main__":
    main()
"""
    assert project({"main.py": text}) == [i + 4 for i in range(8)]


def test_pythons_math_works_on_constants() -> None:
    source = """
import math


@triton.jit
def kernel(o, N: tl.constexpr):
    tl.store(o, math.exp(0.5) + math.sqrt(N))
    tl.store(o + 1, math.log(N) + math.log2(N))
    tl.store(o + 2, math.ceil(N / 7) + math.floor(N / 7))
"""
    found = run(PREAMBLE + source, {"o": np.zeros(3)}, {"N": 10})["o"]
    wanted = [math.exp(0.5) + math.sqrt(10), math.log(10) + math.log2(10), 3]
    assert found.tolist() == np.array(wanted, np.float32).astype(np.float64).tolist()


def test_a_helper_takes_run_time_values_for_what_it_calls_constexpr() -> None:
    """Triton's own example of attention does it."""
    before = """
@triton.jit
def moved(v, places: tl.constexpr, by: tl.constexpr, STEP: tl.constexpr):
    for _ in range(2):
        places += by
    tl.static_assert(STEP == 2)
    return v + places * STEP
"""
    wanted = [i + (i + 2 * 3) * 2 for i in range(8)]
    assert results("tl.store(o + x, moved(x, x, n, 2))", before=before) == wanted


def test_what_is_asked_of_dtypes() -> None:
    body = """
h = x.to(tl.bfloat16).dtype
tl.static_assert(h.is_bf16() and h.is_floating() and h.is_standard_floating() and not h.is_fp8() and not h.is_int())
tl.static_assert(x.dtype.is_int32() and x.dtype.is_int() and x.dtype.is_int_signed() and not x.dtype.is_int_unsigned())
tl.static_assert((x > 1).dtype.is_int1() and (x > 1).dtype.is_bool() and (x > 1).dtype.is_int_unsigned())
tl.static_assert(o.dtype.is_ptr() and not o.dtype.element_ty.is_ptr() and not x.dtype.is_block())
tl.static_assert(x.dtype.name == "int32" and h.name == "bf16" and h is tl.bfloat16 and h is not tl.float16)
tl.store(o + x, x)
"""
    assert results(body) == list(range(8))
