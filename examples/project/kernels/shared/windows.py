"""Windows of three elements."""

import teenybuild
import teenybuild.language as tl

from .edges import within
from .weights import CENTRE, SIDE


@teenybuild.jit
def weighted(x_ptr, i, n):
    left = tl.load(x_ptr + within(i - 1, n))
    centre = tl.load(x_ptr + within(i, n))
    right = tl.load(x_ptr + within(i + 1, n))
    return CENTRE * centre + SIDE * (left + right)
