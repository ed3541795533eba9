"""How many programs of a streaming kernel run at once on a multiprocessor.

A kernel that reads its share of memory once, works on it and ends is as fast as DRAM.  With too few programs resident, DRAM waits; with
too many, their reads and writes come so mixed that it loses a percent or two.  There is no knob for it but shared memory: under the smallest
carve-out, what a program asks for of it decides how many fit, and the rest of the memory is L1, through which every load goes.

The figures are measured on an H200 (``benchmarks/notes.md``), and only architectures that were measured are held to anything.
"""

from __future__ import annotations

from teenybuild.compiler.passes.streams import Streams
from teenybuild.compiler.targets.base import Residency
from teenybuild.targets import Arch

#: Bytes that a multiprocessor should have under way, where lanes wait for each other between reading and writing, and where they do not.
_WANTED_MEETING, _WANTED = 64 << 10, 48 << 10
#: The smallest carve-out that is not empty, what of it each block loses, and its grain (CUDA programming guide, compute capability 9.0).
_POOL, _RESERVED, _GRAIN = 8 << 10, 1 << 10, 128
#: As many blocks as fit the pool when each asks for one grain.
_MOST = _POOL // (_RESERVED + _GRAIN)


def residency(arch: Arch, streams: Streams, shared: int) -> Residency | None:
    """What to hold a streaming kernel to; None where there is nothing to gain."""
    wanted = _WANTED_MEETING if streams.meets else _WANTED
    # One program more than can be held is near enough to be held by one less.
    if arch.sm != 90 or -(-wanted // streams.bytes) > _MOST + 1:
        return None
    sizes = (max(shared, _POOL // n // _GRAIN * _GRAIN - _RESERVED) for n in range(1, _MOST + 1))
    return Residency(streams.bytes, streams.argument, streams.of, wanted, tuple(sizes))
