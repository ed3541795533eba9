"""What stands beyond the ends of an array: its first and its last element, again."""

import teenybuild
import teenybuild.language as tl


@teenybuild.jit
def within(i, n):
    return tl.minimum(tl.maximum(i, 0), n - 1)
