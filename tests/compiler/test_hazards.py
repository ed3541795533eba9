"""Loops with products, as the scheduler writes them: no barrier and no wait is missing, and none is idle."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, product
from typing import Any

import pytest

from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.ir import scf, tt, ttg
from teenybuild.compiler.ir.arrays import Argument, Array
from teenybuild.compiler.ir.constant import constant
from teenybuild.compiler.ir.core import Block, Function, Op, Value, walk
from teenybuild.compiler.ir.types import Buffer, Pointer, Tile
from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.pipeline import Job, code_target, front, scheduled
from teenybuild.compiler.targets.base import Settings
from teenybuild.dtypes import DType, f16, i1, i32
from teenybuild.targets import parse_target
from teenybuild.types import Assume, parse_type
from tests.kernels.case import SOURCES
from tests.support.hazards import hazards
from tests.support.run import write_source

TARGETS = ("sm_80", "sm_90", "sm_90a")
STAGES = (1, 2, 3, 4)
TURNS = (7, 5, 3, 2, 1, 0)
#: How often an outer loop runs, and the one in it.
NESTED = ((3, 5), (3, 2), (4, 1), (2, 0), (1, 3), (0, 3))

M, N, K = 64, 64, 32


@dataclass(frozen=True)
class Run:
    """One program: its scalar arguments, its number, and what it finds in memory."""

    arguments: Mapping[str, int]
    program: int = 0
    memory: Mapping[int, int] = field(default_factory=dict[int, int])


@dataclass(frozen=True)
class Looped:
    """A kernel of tests/kernels/sources (or below) as it is specialised here, and programs whose loops run more or less often."""

    function: str
    runs: Sequence[Run]
    const: Mapping[str, Any]
    #: Where it is not f16 that a pointer points to, and not an i32 that is a scalar.
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Arguments that are 1; all others are multiples of 16.
    ones: tuple[str, ...] = ()


def _type(name: str) -> str:
    return "*f16" if name.endswith("_ptr") or name in ("A", "B", "O") else "i32"


@cache
def schedule(name: str, target: str, stages: int) -> Function:
    """A kernel as ``target`` lowers it."""
    looped = KERNELS[name]
    file, _, function = looped.function.rpartition(".")
    path = SOURCES / f"{file}.py" if file else write_source(OTHERS)
    reached = reach(find_function(Library(path.parent, (path.parent,), static).module(path), function))
    names = [p.arg for p in reached.function.parameters if p.arg not in looped.const]
    types = {n: looped.types.get(n) or _type(n) for n in names}
    assume = {n: Assume("div", 16) for n, type_ in types.items() if type_[0] in "*i"}
    assume |= {n: Assume("eq", 1) for n in looped.ones}
    instance = Instance({n: parse_type(t) for n, t in types.items()}, looped.const, assume)
    chosen = parse_target(target)
    assert chosen.arch is not None
    job = Job(reached, instance, Settings(num_stages=stages), chosen, chosen.arch.ptx)
    return scheduled(job, front(job), code_target(chosen, job.settings, job.ptx).policy)[0]


# Kernels --------------------------------------------------------------------------------------------------------

_BLOCKS = {"BLOCK_M": M, "BLOCK_N": N, "BLOCK_K": K, "GROUP_M": 2}
_ONES = ("stride_ak", "stride_bn", "stride_cn")
_DESCRIBED = {
    "a_desc": f"desc<f16[{M}, {K}]>",
    "b_desc": f"desc<f16[{K}, {N}]>",
    "c_desc": f"desc<f16[{M}, {N}]>",
}


def _products(tiles: int, turns: int, columns: int = N) -> Run:
    """``columns`` of the array behind the descriptor of C: its blocks are stored otherwise where pieces of 16 bytes do not fit."""
    return Run(
        {"M": M * tiles, "N": N, "K": K * turns, "c_desc.shape[0]": M * tiles, "c_desc.shape[1]": columns}
    )


_ONE_TILE = [_products(1, turns) for turns in TURNS]
_MANY_TILES = [_products(*both) for both in NESTED]
_PIECES = [_products(3, turns, N - 3) for turns in (0, 3)]
_POINTERS = {"SUM": "tl.float32", **_BLOCKS}
_PERSISTENT = {"PROGRAMS": 1, **_BLOCKS}


def _attention(block: int, causal: bool) -> Iterator[Run]:
    """As many blocks of keys (or of rows, for gradients of keys) as there are turns, and a part of one more; of programs that see some only in part."""
    for turns, program in product(TURNS, (0, 1, 2) if causal else (0,)):
        for more in (0, 16):
            yield Run({"length": block * turns + more, "stride_row": 64}, program)


def _flash(function: str, causal: bool, **const: Any) -> Looped:
    block = const["BLOCK_M" if function == "flash_backward_keys" else "BLOCK_N"]
    return Looped(
        f"flash_attention.{function}", list(_attention(block, causal)), {"HEAD_DIM": 64, "CAUSAL": causal, **const},
        {"scale": "f32", "lse_ptr": "*f32", "delta_ptr": "*f32"},
    )  # fmt: skip


def _grouped(turns: int) -> Run:
    """Groups of one tile, of none, of two."""
    starts = (0, M, M, 3 * M)
    return Run(
        {"N": N, "K": K * turns, "NUM_PROGRAMS": 1, "starts_ptr": 1 << 20},
        memory={(1 << 20) + 4 * i: start for i, start in enumerate(starts)},
    )


#: An inner loop of up to two turns less than there might be, so that some have none; a loop without products, that says how far it runs ahead.
OTHERS = """
@triton.jit
def triangular(a_desc, b_desc, c_desc, tiles, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    for tile in range(0, tiles):
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range((tile % 3) * BLOCK_K, K, BLOCK_K):
            total = tl.dot(a_desc.load([tile * BLOCK_M, k]), b_desc.load([k, 0]), total)
        c_desc.store([tile * BLOCK_M, 0], total.to(c_desc.dtype))


@triton.jit
def now_and_then(a_desc, b_desc, c_desc, d_desc, tiles, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    for tile in range(0, tiles):
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            total = tl.dot(a_desc.load([tile * BLOCK_M, k]), b_desc.load([k, 0]), total)
        c_desc.store([tile * BLOCK_M, 0], total.to(c_desc.dtype))
        if tile % 2 == 1:
            d_desc.store([(tile - 1) * BLOCK_M, 0], total.to(d_desc.dtype))


@triton.jit
def streamed(x_ptr, y_ptr, out_ptr, K, BLOCK_K: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_K,), dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K, num_stages=STAGES):
        total += tl.load(x_ptr + k + at).to(tl.float32) * tl.load(y_ptr + k + at).to(tl.float32)
    tl.store(out_ptr + at, total)
"""


def _triangular(turns: int, columns: int = N) -> Run:
    return Run({**_products(5, turns, columns).arguments, "tiles": 5})


def _now_and_then(turns: int, columns: int) -> Run:
    arguments = _triangular(turns, columns).arguments
    return Run({**arguments, "d_desc.shape[0]": M * 5, "d_desc.shape[1]": columns})


KERNELS: dict[str, Looped] = {
    "pointers": Looped("products.product_pointers", _ONE_TILE, _POINTERS, ones=_ONES),
    "pointers turned": Looped("products.product_pointers", _ONE_TILE, _POINTERS, ones=("stride_am", "stride_bk", "stride_cn")),
    "pointers f32": Looped(
        "products.product_pointers", _ONE_TILE, _POINTERS, {"a_ptr": "*f32", "b_ptr": "*f32", "c_ptr": "*f32"}, _ONES
    ),
    "pointers f8": Looped(
        "products.product_pointers", _ONE_TILE, _POINTERS, {"a_ptr": "*f8e4m3", "b_ptr": "*f8e4m3"}, _ONES
    ),
    "blocks": Looped("products.product_blocks", _ONE_TILE, _BLOCKS, ones=_ONES),
    "described": Looped("products.product_described", _ONE_TILE + _PIECES, _BLOCKS, _DESCRIBED),
    "persistent": Looped("products.product_persistent", _MANY_TILES, _PERSISTENT, ones=_ONES),
    "persistent described": Looped("products.product_persistent_described", _MANY_TILES + _PIECES, _PERSISTENT, _DESCRIBED),
    "triangular": Looped(
        "triangular", [_triangular(turns, columns) for turns in TURNS for columns in (N, N - 3)], {"BLOCK_M": M, "BLOCK_N": N, "BLOCK_K": K}, _DESCRIBED
    ),
    "now and then": Looped(
        "now_and_then", [_now_and_then(turns, columns) for turns in TURNS for columns in (N, N - 3)], {"BLOCK_M": M, "BLOCK_N": N, "BLOCK_K": K},
        _DESCRIBED | {"d_desc": _DESCRIBED["c_desc"]},
    ),
    "streamed": Looped("streamed", [Run({"K": 1024 * turns}) for turns in TURNS], {"BLOCK_K": 1024, "STAGES": 3}),
    "batched": Looped(
        "matmul.batched_matmul", _ONE_TILE, {"TILE_M": M, "TILE_N": N, "TILE_K": K, "DIVISIBLE_K": True},
        ones=("stride_ak", "stride_bn", "stride_on"),
    ),
    "grouped": Looped(
        "matmul.grouped_gemm", [_grouped(turns) for turns in TURNS],
        {"NUM_GROUPS": 3, "BM": M, "BN": N, "BK": K}, {"starts_ptr": "*i32"},
    ),
    "forward": _flash("flash_forward", False, BLOCK_M=64, BLOCK_N=32, RAGGED=False),
    "forward ragged": _flash("flash_forward", False, BLOCK_M=64, BLOCK_N=32, RAGGED=True),
    "forward causal": _flash("flash_forward", True, BLOCK_M=128, BLOCK_N=32, RAGGED=True),
    "keys": _flash("flash_backward_keys", False, BLOCK_M=32, BLOCK_N=64),
    "keys causal": _flash("flash_backward_keys", True, BLOCK_M=32, BLOCK_N=128),
    "queries": _flash("flash_backward_queries", False, BLOCK_M=64, BLOCK_N=32),
    "queries causal": _flash("flash_backward_queries", True, BLOCK_M=128, BLOCK_N=32),
}  # fmt: skip


def reports(name: str, function: Function) -> Iterator[str]:
    """What is wrong with runs of a kernel, run after run."""
    for run in KERNELS[name].runs:
        programs = (run.program, 0, 0)
        yield from map(str, hazards(function, run.arguments, programs, run.memory))


SCHEDULES = list(product(KERNELS, TARGETS, STAGES))


@pytest.mark.parametrize(("name", "target", "stages"), SCHEDULES)
def test_nothing_is_missing(name: str, target: str, stages: int) -> None:
    assert sorted(set(reports(name, schedule(name, target, stages)))) == []


# Without what stands there -------------------------------------------------------------------------------------


@contextmanager
def _without(block: Block, op: Op) -> Generator[None]:
    at = block.ops.index(op)
    del block.ops[at]
    try:
        yield
    finally:
        block.ops.insert(at, op)


@contextmanager
def _with(op: Op, attribute: str, value: object) -> Generator[None]:
    was = getattr(op, attribute)
    setattr(op, attribute, value)
    try:
        yield
    finally:
        setattr(op, attribute, was)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _blocks(inner)


def weakened(function: Function) -> Iterator[tuple[str, AbstractContextManager[None]]]:
    """Every way to wait a little less, or to say a little less of what is under way: its name, and what makes it so for a while."""
    for number, block in enumerate(_blocks(function.body)):
        for op, following in pairwise(list(block.ops)):
            where = "before a loop" if isinstance(following, scf.For) else f"in block {number}"
            match op:
                case ttg.Publish():
                    yield f"barrier {where}", _without(block, op)
                    if op.products:
                        yield f"fence {where}", _with(op, "products", False)
                case ttg.Await() | ttg.CommitCopies() | ttg.CopyBlocks() | ttg.Put() | ttg.WaitStores():
                    yield f"{op.name} {where}", _without(block, op)
                case ttg.StoreBlock() if op.done == "read":
                    yield f"{op.name} {where}", _with(op, "done", "asked")
                case ttg.WaitCopies() | ttg.WaitProducts():
                    yield f"{op.name} {where}", _with(op, "pending", op.pending + 1)
                case _:
                    pass


_HELD = {"barrier before a loop", "fence before a loop"}
#: What may be left out of kernels for sm_90a, and why it stands there.
IDLE = {
    # Tiles that all turns multiply are published before the loop. Its turns publish theirs too before they multiply, but to know that the
    # scheduler would have to look into the loop; this is once a program.
    **dict.fromkeys(("forward", "forward causal", "keys", "keys causal", "queries causal"), _HELD),
    # The keys behind the last whole block are a loop of no more than one turn, as only its bounds' arithmetic tells: what is copied ahead in it
    # never goes where an earlier turn has read.
    "forward ragged": {*_HELD, "barrier in block 4"},
    "queries": {*_HELD, "barrier in block 2"},
}


@pytest.mark.parametrize(("name", "target"), list(product(KERNELS, TARGETS)))
def test_none_is_idle(name: str, target: str) -> None:
    """Whatever is weakened, some program goes wrong."""
    idle: set[str] = set()
    for stages in STAGES:
        function = schedule(name, target, stages)
        for what, change in weakened(function):
            with change:
                if next(reports(name, function), None) is None:
                    idle.add(what)
    assert idle == (IDLE.get(name, set()) if target == "sm_90a" else set())


def test_what_is_looked_at() -> None:
    """All that the scheduler makes is among these schedules, so that the tests above are of something."""
    found = {type(op) for key in SCHEDULES for op in walk(schedule(*key).body)}
    assert found >= MADE


MADE = {
    ttg.Allocate, ttg.Free, ttg.Put, ttg.Get, ttg.CopyAsync, ttg.CommitCopies, ttg.WaitCopies, ttg.OpenSignals, ttg.CloseSignals,
    ttg.CopyBlocks, ttg.Await, ttg.StoreBlock, ttg.WaitStores, ttg.Publish, ttg.GroupMma,
    ttg.WaitProducts,
}  # fmt: skip


# The checker itself ---------------------------------------------------------------------------------------------

TILE = Tile((16, 16), f16)
WARPS = (64, 128)


class Straight:
    """A function without loops, written operation by operation: one buffer of two stages, two signals, tiles."""

    def __init__(self) -> None:
        self.pointers, self.tile, self.sum = Value(Tile((16, 16), Pointer(f16))), Value(TILE), Value(TILE)
        self.held = Value(TILE)
        self.held.layout = Layout((16, 16), (1, 2, 4), (8, 16, 32, 0, 0), WARPS)
        self.ops: list[Op] = []
        self.buffer = self.add(ttg.Allocate(Buffer(2, TILE)))
        self.signals = self.add(ttg.OpenSignals(2))

    def add(self, op: Op) -> Value:
        self.ops.append(op)
        return op.results[0] if op.results else self.tile

    def number(self, value: int, kind: DType = i32) -> Value:
        return self.add(constant(value, kind))

    def do(self, text: str) -> None:
        """One operation: its name, and a number or two."""
        name, *numbers = text.split()
        n = [int(each) for each in numbers] + [0, 0]
        at, yes, pair = self.number(n[0]), self.number(1, i1), (self.buffer, self.number(n[0]))
        match name:
            case "put":
                self.add(ttg.Put(*pair, self.tile))
            case "own":
                self.add(ttg.Put(*pair, self.held))
            case "store":
                self.add(ttg.StoreBlock(self.buffer, (at, at), ARRAY, 1, "asked", WARPS if n[0] else None))
            case "stored":
                self.add(ttg.WaitStores())
            case "get":
                self.add(ttg.Get(*pair))
            case "copy":
                self.add(ttg.CopyAsync(*pair, yes, self.pointers))
            case "commit":
                self.add(ttg.CommitCopies())
            case "landed":
                self.add(ttg.WaitCopies(n[0]))
            case "barrier":
                self.add(ttg.Publish(products=False))
            case "publish":
                self.add(ttg.Publish(products=True))
            case "block":
                self.add(ttg.CopyBlocks((self.buffer,), at, yes, self.signals, (at, at), (ARRAY,), (1,)))
            case "await":
                self.add(ttg.Await(self.signals, at, self.number(n[1])))
            case "multiply":
                self.sum = self.add(ttg.GroupMma(self.tile, self.buffer, self.sum, (at,)))
            case "done":
                self.sum = self.add(ttg.WaitProducts((self.sum,), n[0]))
            case "use":
                self.add(tt.Store(self.pointers, self.sum))
            case "free":
                self.add(ttg.Free(self.buffer))
            case "close":
                self.add(ttg.CloseSignals(self.signals))
            case _:
                raise AssertionError(text)


ARRAY = Array(Argument(0), (16, 16), (16, 1), 0)


def said(text: str) -> list[str]:
    """What is said of operations that stand between semicolons."""
    made = Straight()
    for each in text.split("; "):
        made.do(each)
    body = Block([made.pointers], [*made.ops, tt.Return()])
    return [f"{hazard.op.name}: {hazard.message}" for hazard in hazards(Function("f", ("p",), body), {})]


BLOCK = "block 0; await 0"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # Lanes write and read.
        ("put 0; barrier; get 0; free", ""),
        ("put 0; barrier; get 1", "reads what nobody has written"),
        ("put 0; get 0", "reads what other lanes wrote, without a barrier since"),
        ("put 0; put 1; barrier; get 1; put 0", ""),
        ("put 0; barrier; get 0; put 0", "writes what slower warps may still read"),
        ("put 0; put 0", "writes what slower warps may still write"),
        ("put 0; barrier; get 0; barrier; put 0", ""),
        ("put 0; free; put 0", "uses what has ended"),
        ("put 0; free; free", "uses what has ended"),
        # Lanes copy.
        ("copy 0; commit; landed 0; barrier; get 0; free", ""),
        ("copy 0; commit; barrier; get 0; landed 0", "reads what lanes copy, and that was not waited for"),
        ("copy 0; landed 0; barrier; get 0; commit; landed 0", "reads what lanes copy, and that was not waited for"),
        ("copy 0; commit; landed 0; get 0", "reads what other lanes wrote, without a barrier since"),
        ("copy 0; commit; barrier; landed 0; get 0", "reads what other lanes wrote, without a barrier since"),
        ("copy 0; commit; copy 1; commit; landed 1; barrier; get 0; landed 0", ""),
        ("copy 0; commit; copy 1; commit; landed 1; barrier; get 1; landed 0", "reads what lanes copy, and that was not waited for"),
        ("copy 0; commit; put 0; landed 0", "writes where lanes' copies are under way"),
        ("copy 0; commit; free", "ends while lanes' copies to it are under way"),
        ("copy 0; commit", "ends while lanes' copies to it are under way"),
        # Blocks.
        (f"{BLOCK}; get 0; free; close", ""),
        (f"{BLOCK}; get 0; barrier; block 0; await 0 1; get 0; free; close", ""),
        ("block 0; get 0; await 0", "reads a block whose signal was not waited for"),
        ("block 0; await 0 1; await 0", "waits for another phase than the present one: for ever, or not at all"),
        ("await 0 1", "waits for another phase than the present one: for ever, or not at all"),
        (f"{BLOCK}; block 0; await 0 1", "begins a phase while slower warps may still wait for the last"),
        ("block 0; block 0; await 0 1", "begins a phase before the last was waited for"),
        ("put 0; publish; get 0; block 0; await 0", "writes what slower warps may still read"),
        ("block 0; put 0; await 0", "writes where a block is under way"),
        ("put 0; barrier; block 0; await 0", "writes beside the program where lanes wrote, and that was not published for products"),
        ("block 0; free; await 0", "ends while a block is under way to it"),
        ("block 0; close; free", "ends while something is to arrive at a signal"),
        # Blocks that are stored: by one warp, or (1) by each what is its own.
        ("put 0; publish; store; stored; barrier; put 0; free", ""),
        ("put 0; store; stored; free", "reads what other lanes wrote, without a barrier since"),
        ("put 0; barrier; store; stored; free", "reads beside the program what lanes wrote, and that was not published for products"),
        ("put 0; publish; store; barrier; put 0; stored", "writes where a block is under way from"),
        ("put 0; publish; store; stored; put 0", "writes what slower warps may still read"),
        ("put 0; publish; store; barrier; free; stored", "ends while a block is under way from it"),
        ("own 0; store 1; stored; own 0; store 1; stored; free", ""),
        ("own 0; store; stored; free", "reads what other lanes wrote, without a barrier since"),
        ("own 0; store 1; own 0; stored", "writes where a block is under way from"),
        ("own 0; store 1; stored; put 0", "writes what slower warps may still read"),
        ("own 0; barrier; get 0; own 0", "writes what slower warps may still read"),
        ("put 0; store 1; stored; free", "reads what other lanes wrote, without a barrier since"),
        # Products.
        ("put 0; publish; multiply 0; done 0; use; free", ""),
        ("put 0; barrier; multiply 0; done 0", "reads beside the program what lanes wrote, and that was not published for products"),
        ("put 0; publish; multiply 0; use; done 0", "reads the result of a product that was not waited for"),
        ("put 0; publish; multiply 0; multiply 0; done 1; use; done 0", "reads the result of a product that was not waited for"),
        ("put 0; publish; multiply 0; put 0; done 0", "writes what products under way read"),
        ("put 0; publish; multiply 0; done 0; put 0", "writes what slower warps may still read"),
        ("put 0; publish; multiply 0; done 0; barrier; put 0", ""),
        ("put 0; put 1; publish; multiply 0; multiply 1; done 1; barrier; put 0; done 0", ""),
        ("put 0; put 1; publish; multiply 0; multiply 1; done 1; barrier; put 1; done 0", "writes what products under way read"),
        ("put 0; publish; multiply 0; free; done 0", "ends while products that read it are under way"),
        ("put 0; publish; multiply 0", "ends while products that read it are under way"),
    ],
)  # fmt: skip
def test_what_is_said(text: str, wanted: str) -> None:
    """The first thing; the others follow from it."""
    found = said(text)
    assert (found[0].partition(": ")[2] if found else "") == wanted
