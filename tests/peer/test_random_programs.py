"""Random programs over the whole language, in real Triton: its interpreter computes what NumPy says, its front end agrees on every dtype and
shape, and its parser reads our ``.mlir``; NVIDIA's assembler takes their PTX.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teenybuild.dtypes import BY_NUMPY
from tests.language import oracle
from tests.support.programs import PROGRAMS, Program, Rules, by_seed
from tests.support.programs.building import compile_program
from tests.support.run import Array, Described, build, type_of, write_source

from .interpret import interpreted
from .test_assembler import MAIN, assemble
from .test_triton_parser import operations, parse

pytestmark = pytest.mark.peer
pytest.importorskip("triton")
pytest.importorskip("torch")

#: What the interpreter (3.6.0) lacks or gets wrong, and the front end does right.
NOT_INTERPRETED = {
    "mapped": "it has no tl.map_elementwise",
    "scaled_products": "it has no tl.dot_scaled",
    "described_atomics": "it has no descriptor reductions",
    "logic": "Python's own not, and, or ask whether a whole tile is true",
    "soft_maxima": "tl.softmax fails in it",
    "normal_numbers": "it holds them in 64 bits under the name of f32, and stores all 64",
    "clamps": "NaN comes out as NaN whatever is asked",
}
#: What Triton's own front end does not take.
NOT_TRITON = {
    "python_functions": "it knows no abs of a tensor; and its interpreter no min or max",
    "not_of_numbers": "it takes not of truth values only",
    "counted_comprehensions": "its comprehensions go through tuples only",
}

#: bf16 it computes as integers, and floats of 8 bits it has no torch tensors for that NumPy could read.
INTERPRETED = Rules(
    frozenset(NOT_INTERPRETED | NOT_TRITON), ("i1", *oracle.INTEGERS, "f16", "f32", "f64"), tame=True
)
READ = Rules(frozenset(NOT_TRITON))
SEEDS = range(250)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What the interpreter leaves in the arguments of every program: one process for all."""
    programs = {str(seed): by_seed(seed, INTERPRETED) for seed in SEEDS}
    jobs = {
        seed: (str(write_source(p.source(checked=False))), p.arguments, (PROGRAMS,), {})
        for seed, p in programs.items()
    }
    return interpreted(jobs, tmp_path_factory.mktemp("interpreter"))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interpreter_agrees(seed: int, results: Mapping[str, Any]) -> None:
    """With NumPy, which our targets agree with: bit for bit, or, where floats are added up or functions near, nearly."""
    program, theirs = by_seed(seed, INTERPRETED), results[str(seed)]
    assert isinstance(theirs, dict), f"{theirs}\n\n{program.source()}"
    for name, wanted in program.expected().items():
        program.compare(
            name, theirs[name].reshape(program.memory[name].shape), wanted, f"interpreted, seed {seed}"
        )


def triton_ir(program: Program, path: Path) -> Any:
    """The module that Triton's front end makes of a program, without a GPU."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    types = {name: triton_type(value) for name, value in program.arguments.items()}
    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return ASTSource(module.kernel, types).make_ir(
        GPUTarget("cuda", 90, 32), options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )  # fmt: skip


def triton_type(value: Any) -> Any:
    """An argument's type, in Triton's own words."""
    if isinstance(value, tuple):
        return tuple(map(triton_type, value))
    if isinstance(value, Described):
        return f"tensordesc<{_named(value.base)}{list(value.block_shape)}>"
    if isinstance(value, np.ndarray):
        return f"*{_named(value)}"
    return "constexpr" if value is None else _TRITON.get(found := type_of(value), found)


def _named(array: Array) -> str:
    return _TRITON.get(found := BY_NUMPY[array.dtype.name].name, found)


_TRITON = {
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "f8e4m3": "fp8e4nv",
    "f8e5m2": "fp8e5",
}


@pytest.mark.filterwarnings("ignore:Logical operators", "ignore:view is deprecated")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_front_end_agrees(seed: int, tmp_path: Path) -> None:
    """On the dtype and shape of every value, which the program asserts; and what we print of it, the parser reads."""
    from triton._C.libtriton import ir

    program = by_seed(seed, READ)
    source = program.source()
    try:
        triton_ir(program, write_source(source))
    except Exception as wrong:
        wrong.add_note(source)
        raise
    with np.errstate(all="ignore"):
        text = build(source, program.arguments, **program.options).artifact.mlir
    context = ir.context()
    ir.load_dialects(context)
    assert operations(str(parse(text, tmp_path / "kernel.mlir", context))) == operations(text)


@pytest.mark.parametrize("seed", SEEDS)
def test_they_assemble(seed: int) -> None:
    """For the oldest, a middle and the newest architecture in turn."""
    program, arch = by_seed(seed), MAIN[seed % len(MAIN)]
    try:
        assemble(str(compile_program(program, arch).ptx), arch)
    except RuntimeError as wrong:
        wrong.add_note(program.source())
        raise
