"""How many programs of a streaming kernel run at once on a multiprocessor.

A kernel that reads its share of memory once, works on it and ends is as fast as DRAM.  With too few programs resident, DRAM waits; with
too many, their reads and writes come so mixed that it loses a percent or two.  There is no knob for it but shared memory: under the smallest
carve-out, what a program asks for of it decides how many fit, and the rest of the memory is L1, through which every load goes.

The figures are measured on an H200 (``benchmarks/notes.md``), and only architectures that were measured are held to anything.
"""

from __future__ import annotations

from teenybuild.compiler.ir import scf, tt
from teenybuild.compiler.ir.core import Function, walk
from teenybuild.compiler.ir.types import Tile, dtype_of, numel
from teenybuild.compiler.passes.streams import Streams
from teenybuild.compiler.targets.base import Residency
from teenybuild.targets import Arch

#: Bytes that a multiprocessor should have under way where lanes wait for each other between reading and writing.
_WANTED_MEETING = 64 << 10
#: The same where they do not wait, and at least so much for each of several arrays.
_WANTED, _WANTED_EACH = 48 << 10, 21 << 10
#: The smallest carve-out that is not empty, what of it each block loses, and its grain (CUDA programming guide, compute capability 9.0).
_POOL, _RESERVED, _GRAIN = 8 << 10, 1 << 10, 128
#: As many blocks as fit the pool when each asks for one grain.
_MOST = _POOL // (_RESERVED + _GRAIN)


def residency(arch: Arch, streams: Streams, shared: int) -> Residency | None:
    """What to hold a streaming kernel to; None where there is nothing to gain."""
    wanted = _WANTED_MEETING if streams.meets else max(_WANTED, streams.loads * _WANTED_EACH)
    sizes = tuple(_POOL // n // _GRAIN * _GRAIN - _RESERVED for n in range(1, _MOST + 1))
    # What needs more of it than so many may have can't be held to so many.
    sizes = tuple(size for size in sizes if size >= shared)
    # One program more than can be held is near enough to be held by one less.
    if arch.sm != 90 or -(-wanted // streams.bytes) > len(sizes) + 1:
        return None
    return Residency(streams.bytes, streams.argument, streams.of, wanted, sizes)


#: Threads that a multiprocessor holds; from which size on a block is a large part of those; what a thread of such a block may load
#: (in bytes, packed as it comes) and still be held in its share of 32 registers.
_THREADS, _LARGE, _SLIGHT = 2048, 512, 128


def blocks_wanted(function: Function, threads: int) -> int | None:
    """How many blocks the assembler should see to it that there is room for; None to leave it alone.

    Left alone, it weighs registers by the warp, and takes few where they would do for all warps there can be.  Where blocks are large, a few
    registers more than 32 a thread cost a whole block: for programs that only read, compute and write, and hold little, 32 do.  A loop
    that scans is a chain of shuffles, whose latency more registers hide and more warps do not.
    """
    loops = [op for op in walk(function.body) if isinstance(op, scf.Loop)]
    if any(isinstance(op, tt.Scan) for loop in loops for block in loop.blocks for op in walk(block)):
        return 1
    if threads < _LARGE or loops:
        return None
    held = 0
    for op in walk(function.body):
        if isinstance(
            op, scf.Loop | tt.Dot | tt.Combining | tt.Gather | tt.Histogram | tt.AtomicRmw | tt.AtomicCas
        ):
            return None
        if isinstance(op, tt.Load) and isinstance(op.result.type, Tile):
            held += numel(op.result.type) * dtype_of(op.result.type).size // threads
    return _THREADS // threads if held <= _SLIGHT else None
