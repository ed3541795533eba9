"""Everything that the canonical print has a form for; never run."""

import triton
import triton.language as tl
import math

LIMIT = 1e400
BIG = 1 << 100
TABLE = (1, (2.5, "a"), tl.float16, None, True, -0.0, math.nan)
NAME = "it's \u00e9"


@triton.jit
def helper(v, k=LIMIT, *, w: tl.constexpr = TABLE):
    """Not printed."""
    return v * BIG + k if w else NAME


@triton.jit
def kernel(a, /, b, c: tl.constexpr = 3, *, d=(1,), e: tl.constexpr = -2.5):
    a, (b, c) = d, (e, 1)
    [a, b] = c
    x = y = a
    a += 1; b **= 2; c //= 3; d <<= 1; e @= f
    x: tl.constexpr = 3
    y: int = 4
    z: int
    t = ()
    u = (a,)
    v = [a, *b]
    w = a if b else c if d else e
    w = (a if b else c) if d else e
    w = (a, b)[0]
    p = a[b], a[:, None], a[1:2:3], a[::2], a[b, c, :], a[()], a[(b,)], a[:][...]
    q = -a ** -b, (-a) ** b, a ** b ** c, (a ** b) ** c, ~-+a, not a, not (a and b), -(a + b)
    r = a - (b - c), (a - b) - c, a / (b * c), a % b % c, a << b >> c, a & b | c ^ d, (a | b) & c
    s = a < b, a < b < c, (a < b) < c, a is not None, a not in b, not a in b, a == (b == c)
    t = a and b or c, a and (b or c), (a and b) and c, a and (b and c)
    u = f(a, *b, c=d, **e), f()(g)[0].h, (1).real, 1.5.real, -1 .real, "a".b, (a + b).c
    v = f"{a} and {b!r:>{c}} {{}} {'x'}", f"", "it's", 'quo"te', "\n\t\\", "é😀", b"bytes"
    w = 0x10, 1_000, 1e400, 1e-5, 10**30, 123456789012345678901234567890, True, None, ..., 1j
    if a:
        pass
    elif b:
        pass
    else:
        if c:
            pass
    if a:
        pass
    else:
        if b:
            pass
        x = 1
    for i in range(3):
        break
    else:
        continue
    while a:
        pass
    assert a, "message"
    assert b
    lambda x: x
    helper(a)
    return a, b
