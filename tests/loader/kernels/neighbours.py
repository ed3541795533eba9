"""Programs that wait for each other."""

import triton
import triton.language as tl


@triton.jit
def neighbours(x_ptr, out_ptr, arrived_ptr, sum_ptr, BLOCK: tl.constexpr):
    """Each program writes twice its part of x, and then, when all have, the sum of its own and the next one's."""
    programs = tl.num_programs(0)
    own = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    following = (tl.program_id(0) + 1) % programs * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + own, 2 * tl.load(x_ptr + own))
    tl.debug_barrier()
    tl.atomic_add(arrived_ptr, 1, sem="release")
    while tl.atomic_add(arrived_ptr, 0, sem="acquire") < programs:
        pass
    tl.debug_barrier()
    tl.store(sum_ptr + own, tl.load(out_ptr + own) + tl.load(out_ptr + following, cache_modifier=".cg"))
