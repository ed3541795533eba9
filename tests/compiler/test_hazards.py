"""Loops with products, as the scheduler writes them: no barrier and no wait is missing, and none is idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from typing import Any

import pytest

from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.ir import ttg
from teenybuild.compiler.ir.core import Block, Function, Op, walk
from teenybuild.compiler.pipeline import Job, code_target, front, scheduled
from teenybuild.compiler.targets.base import Settings
from teenybuild.targets import parse_target
from teenybuild.types import Assume, parse_type
from tests.kernels.case import SOURCES
from tests.support.hazards import hazards

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
    """A kernel of tests/kernels/sources as it is specialised here, and programs whose loops run more or less often."""

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
    file, _, function = looped.function.partition(".")
    reached = reach(find_function(Library(SOURCES, (SOURCES,), static).module(SOURCES / f"{file}.py"), function))
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
_DESCRIBED = {"a_desc": f"desc<f16[{M}, {K}]>", "b_desc": f"desc<f16[{K}, {N}]>", "c_desc": f"desc<f16[{M}, {N}]>"}


def _products(tiles: int, turns: int, columns: int = N) -> Run:
    """``columns`` of the array behind the descriptor of C: its blocks are stored otherwise where pieces of 16 bytes do not fit."""
    return Run({"M": M * tiles, "N": N, "K": K * turns, "c_desc.shape[0]": M * tiles, "c_desc.shape[1]": columns})


_ONE_TILE = [_products(1, turns) for turns in TURNS]
_MANY_TILES = [_products(*both) for both in NESTED]
_PIECES = [_products(3, 3, N - 3)]
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
def _without(block: Block, op: Op) -> Iterator[None]:
    at = block.ops.index(op)
    del block.ops[at]
    try:
        yield
    finally:
        block.ops.insert(at, op)


@contextmanager
def _with(op: Op, attribute: str, value: object) -> Iterator[None]:
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
    """Every way to wait a little less: its name, and what makes it so for a while."""
    for depth, block in enumerate(_blocks(function.body)):
        for at, op in enumerate(block.ops):
            match op:
                case ttg.Publish():
                    yield f"barrier {depth}.{at}", _without(block, op)
                    if op.products:
                        yield f"fence {depth}.{at}", _with(op, "products", False)
                case ttg.Await():
                    yield f"await {depth}.{at}", _without(block, op)
                case ttg.WaitCopies() | ttg.WaitProducts():
                    yield f"{op.name} {depth}.{at}", _with(op, "pending", op.pending + 1)
                case _:
                    pass


@pytest.mark.parametrize(("name", "target", "stages"), SCHEDULES)
def test_none_is_idle(name: str, target: str, stages: int) -> None:
    function = schedule(name, target, stages)
    idle: list[str] = []
    for what, change in weakened(function):
        with change:
            if next(reports(name, function), None) is None:
                idle.append(what)
    assert idle == []
