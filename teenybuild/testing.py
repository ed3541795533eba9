"""For people who test their own kernels: run one on this machine, check it against a reference, no GPU needed.

from teenybuild.testing import check

def test_scale():
    x = np.random.rand(1003).astype(np.float32)
    check("kernels/scale.py:scale", lambda x_ptr, **_: {"out_ptr": 2 * x_ptr},
          {"x_ptr": x, "out_ptr": np.empty_like(x), "n": x.size}, const={"BLOCK": 128}, grid=(8,))
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from teenybuild import api
from teenybuild.diagnostics import did_you_mean, error
from teenybuild.dtypes import BY_NUMPY, DType
from teenybuild.runtime import index
from teenybuild.runtime.errors import LaunchError
from teenybuild.runtime.explain import argument_problems, raise_problems, read_views
from teenybuild.runtime.flatten import flatten
from teenybuild.runtime.host import HostProgram
from teenybuild.runtime.layout import Layout
from teenybuild.runtime.reports import LaunchedArray
from teenybuild.runtime.views import HOST
from teenybuild.types import Value, said_of, spell_descriptor, spell_tuple

Array = NDArray[Any]

#: The host as such, and a GPU's layouts, shuffles and shared memory run on it.
HOST_TARGETS = ("cpu", "cpu:sm_90a")

#: How far a result may lie from the reference, relative to the reference's largest value: a few roundings of the dtype.
TOLERANCES = {"f64": 1e-14, "f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2, "f8e4m3": 0.13, "f8e5m2": 0.25}


def run(
    kernel: str | Callable[..., Any],
    args: Mapping[str, Any],
    *,
    grid: int | Sequence[int],
    const: Mapping[str, Value] | None = None,
    target: str = "cpu",
    types: Mapping[str, str] | None = None,
    cache_dir: str | Path | None = None,
    **options: Any,
) -> api.Artifact:
    """Compiles a kernel for the host and runs it on NumPy arrays, which it changes in place.

    ``args`` gives every run-time parameter a value: an array, a number, None, a tuple of such, or a tensor descriptor (an object with ``base``,
    ``shape``, ``strides`` and ``block_shape``); types follow from them (``int`` is i32, ``float`` f32) unless ``types`` says otherwise: an
    array is a descriptor where that says ``desc<f32[64, 64]>``.  ``grid`` has one to three extents.  ``options`` are those of :func:`teenybuild.compile`
    (``num_warps``, ``assume``, …).  Raises :class:`teenybuild.UserError` for what is wrong with the kernel or the arguments.
    """
    spelled = {name: _type_of(name, value) for name, value in args.items()} | dict(types or {})
    with tempfile.TemporaryDirectory() as scratch:
        artifact = api.compile(kernel, target, spelled, const, cache_dir=cache_dir or scratch, **options)
        _launch(artifact, args, _extents(grid), Path(scratch))
    return artifact


def check(
    kernel: str | Callable[..., Any],
    reference: Callable[..., Mapping[str, Any]],
    args: Mapping[str, Any],
    *,
    grid: int | Sequence[int],
    const: Mapping[str, Value] | None = None,
    tolerance: float | Mapping[str, float] | None = None,
    targets: Sequence[str] = HOST_TARGETS,
    types: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Runs a kernel on copies of ``args`` and compares what it wrote with ``reference``, for each target.

    ``reference`` is called with the arguments by name, floats widened to float64 (of a descriptor its ``base``), and gives the arrays the
    kernel should write, by name: for a tuple all of them, or ``"ptrs[1]"`` alone.
    Arrays that are only written start as NaN (integers: a pattern), so that what is not written shows.  ``tolerance`` is relative to the
    largest value of each array, by name or for all; left out, it is a few roundings of the array's dtype, and 0 for integers.

    Raises AssertionError that says where the worst element is, or :class:`teenybuild.UserError`.
    """
    wanted = reference(**{name: _widened(value) for name, value in args.items()})
    if not isinstance(wanted, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # tests are not always typed
        raise error(
            f"the reference gives a {type(wanted).__name__}; it gives arrays by the names of the arguments",
            hint='return {"out_ptr": array}',
        )
    spelled = {name: _type_of(name, value) for name, value in args.items()} | dict(types or {})
    for target in targets:
        copies: dict[str, Any] = {n: _copied(v) for n, v in args.items()}
        with tempfile.TemporaryDirectory() as scratch:
            keywords: dict[str, Any] = {"cache_dir": scratch, **options}
            artifact = api.compile(kernel, target, spelled, const, **keywords)
            poisoned = _poison(artifact, copies)
            _launch(artifact, copies, _extents(grid), Path(scratch))
        expected = dict(_entries(wanted, args))
        _check_names(artifact, expected)
        for name, array in expected.items():
            allowed = _tolerance(tolerance, name)
            compare(
                name, target, _array_of(copies, name), np.asarray(array), allowed, poisoned=name in poisoned
            )


def _tolerance(tolerance: float | Mapping[str, float] | None, name: str) -> float | None:
    """What is said for one array, or for the tuple that it is in."""
    if not isinstance(tolerance, Mapping):
        return tolerance
    said = said_of(name, tolerance)
    return tolerance[said] if said is not None else None


def _entries(values: Mapping[str, Any], args: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Values by name, those for tuples among the arguments each with its own: ``ptrs[1]``."""
    for name, value in values.items():
        if isinstance(args.get(name), tuple | list) and isinstance(value, tuple | list):
            both = cast("tuple[Sequence[Any], Sequence[Any]]", (value, args[name]))
            inner = [{f"{name}[{place}]": each for place, each in enumerate(entries)} for entries in both]
            yield from _entries(*inner)
        else:
            yield name, value


def _copied(value: Any) -> Any:
    """An argument whose arrays are copies."""
    if _is_array(value):
        return value.copy()
    if isinstance(value, tuple | list):
        return tuple(map(_copied, cast("Sequence[Any]", value)))
    if hasattr(value, "block_shape"):
        parts = {n: getattr(value, n) for n in ("shape", "strides", "block_shape")}
        return SimpleNamespace(
            base=_memory_of(value.base), padding=getattr(value, "padding", "zero"), **parts
        )
    return value


def _memory_of(array: Array) -> Array:
    """A copy of an array with the gaps that it has: what a descriptor says of its strides stays true."""
    if array.flags.c_contiguous or min(array.strides) < 0:
        return array.copy()
    items = [
        stride // array.itemsize * (side - 1) for side, stride in zip(array.shape, array.strides, strict=True)
    ]
    flat = np.lib.stride_tricks.as_strided(array, (sum(items) + 1,), (array.itemsize,))
    return np.lib.stride_tricks.as_strided(flat.copy(), array.shape, array.strides)


def _array_of(args: Mapping[str, Any], name: str) -> Array:
    """The array that an argument of that name is, or is a descriptor of."""
    value = dict(_entries(args, args))[name]
    return value if _is_array(value) else value.base


def _extents(grid: int | Sequence[int]) -> tuple[int, ...]:
    return (grid,) if isinstance(grid, int) else tuple(grid)


def _check_names(artifact: api.Artifact, wanted: Mapping[str, Any]) -> None:
    """The reference gives every array that the kernel writes, and nothing else but arguments."""
    access = {a["name"]: a["access"] for a in artifact.abi["arguments"] if a["kind"] == "pointer"}
    for name in wanted:
        if name not in access:
            raise error(
                f"the reference gives {name}, which is no array of the kernel",
                hint=did_you_mean(str(name), access) or f"it has {', '.join(access)}",
            )
    missing = [name for name, how in access.items() if "write" in how and name not in wanted]
    if missing:
        raise error(f"the kernel writes {', '.join(missing)}, which the reference does not give")


def _is_array(value: Any) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)


def _dtype_of(name: str, array: Array) -> DType:
    found = BY_NUMPY.get(array.dtype.name)
    if found is None:
        raise error(f"the array {name} has the dtype {array.dtype}, which kernels do not have")
    return found


def _type_of(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if _is_array(value):
        return f"*{_dtype_of(name, value)}"
    numpy_dtype = getattr(value, "dtype", None)
    if numpy_dtype is not None and numpy_dtype.name in BY_NUMPY:
        return BY_NUMPY[numpy_dtype.name].name
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32"
    if isinstance(value, float):
        return "f32"
    if isinstance(value, tuple | list):
        entries = cast("Sequence[Any]", value)
        return spell_tuple([_type_of(f"{name}[{i}]", each) for i, each in enumerate(entries)])
    if hasattr(value, "block_shape"):
        return spell_descriptor(_dtype_of(name, value.base), value.block_shape)
    raise error(f"the argument {name} is {value!r}, which is no array, number or None")


def _launch(artifact: api.Artifact, args: Mapping[str, Any], grid: tuple[int, ...], scratch: Path) -> None:
    """Runs an artifact of the host on arrays and numbers by name."""
    abi = artifact.abi
    target, _, isa = str(abi["target"]).rpartition(":")
    if not target.startswith("cpu"):
        raise error(
            f"{abi['target']} does not run on this machine", hint="the targets for tests are cpu and cpu:sm_…"
        )
    if not 1 <= len(grid) <= 3 or any(extent < 1 for extent in grid):
        raise error(f"the grid {grid} is not one to three numbers from 1 up")
    parameters = [p for p in abi["parameters"] if p["type"] != "none"]
    names = [p["name"] for p in parameters]
    layout = Layout(names, [p["type"] for p in parameters], abi["arguments"], abi["packed_size"])
    name = str(abi["function"])
    image = index.Artifact(
        target=target,
        directory=scratch / "package",
        id=name,
        symbol=str(abi["symbol"]),
        sha256={"so": abi["files"]["so"]},
        ptx="",
        threads=0,
        shared_bytes=0,
        scratch_bytes=abi["scratch_bytes"],
        cluster=(1, 1, 1),
        cooperative=False,
        programmatic=False,
        residency=None,
        reports=_placed(artifact),
    )
    # The runtime loads from a package, so it is given one with a single file.
    path = image.path("so")
    path.parent.mkdir(parents=True)
    shutil.copyfile(artifact.path, path)
    # The checks of a launch through a package: arrays of another dtype, numbers out of range, strides nobody asked for.
    try:
        given = [args[n] for n in names]
        flat = flatten(layout, given, read_views(name, names, given))
        raise_problems(name, flat.problems)
        passed = {each.name: value for each, value in zip(layout.arguments, flat.values, strict=True)}
        dense = not any("stride" in n.lower() and "." not in n for n, v in passed.items() if not _is_array(v))
        problems = argument_problems(layout.arguments, flat.values, flat.views, HOST, dense)
        raise_problems(name, problems)
    except LaunchError as wrong:
        raise error(str(wrong)) from None
    x, y, z = (*grid, 1, 1)[:3]
    launched = _launched(abi["arguments"], passed)
    HostProgram(image, layout, isa, name).run(layout.values(flat.views), (x, y, z), launched)


def _launched(arguments: Sequence[Mapping[str, Any]], passed: Mapping[str, Any]) -> list[LaunchedArray]:
    """The memory of all arrays, for code that checks its accesses."""
    found: list[LaunchedArray] = []
    for argument in arguments:
        array = passed[argument["name"]]
        if argument["kind"] == "pointer" and array.size:
            reach = [stride * (side - 1) for side, stride in zip(array.shape, array.strides, strict=True)]
            first = array.ctypes.data + sum(r for r in reach if r < 0)
            bytes_ = sum(map(abs, reach)) + array.itemsize
            found.append(LaunchedArray(argument["name"], first, bytes_, array.itemsize))
    return found


def _placed(artifact: api.Artifact) -> tuple[dict[str, Any], ...]:
    """What the artifact tells, with the places in today's files."""
    reports: list[dict[str, Any]] = artifact.abi["reports"]
    if not reports:
        return ()
    found = artifact.places
    return tuple(
        {**r, "place": "{}:{}".format(*found[r["line"]])} if r["line"] in found else r for r in reports
    )


def _widened(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_widened, cast("Sequence[Any]", value)))
    if hasattr(value, "block_shape"):
        return _widened(value.base)
    if _is_array(value) and _dtype_of("", value).is_float:
        with np.errstate(invalid="ignore"):  # an output may hold anything yet
            return value.astype(np.float64)
    return value


def _poison(artifact: api.Artifact, args: dict[str, Any]) -> set[str]:
    """Fills the arrays that the kernel only writes; their names."""
    found: set[str] = set()
    for argument in artifact.abi["arguments"]:
        if argument["access"] == "write":
            array = _array_of(args, argument["name"])
            array.view(f"u{array.itemsize}")[...] = _poison_bits(_dtype_of("", array))
            found.add(argument["name"])
    return found


def _poison_bits(dtype: DType) -> int:
    """A NaN that no arithmetic gives, by its payload; 0xA5 in every byte of other dtypes."""
    if not dtype.is_float:
        return int.from_bytes(b"\xa5" * dtype.size, "little")
    exponent = ((1 << (dtype.bits - 1 - dtype.mantissa)) - 1) << dtype.mantissa
    return exponent | (1 << (dtype.mantissa - 1)) | 0x15


def compare(
    name: str,
    target: str,
    got: Array,
    wanted: Array,
    tolerance: float | None = None,
    *,
    poisoned: bool = False,
) -> None:
    """AssertionError where an array is not what it should be, as :func:`check` says it; its ``tolerance``, for one array.

    ``poisoned``: elements of it that :func:`check` filled in and nobody wrote are wrong, whatever was wanted.
    """
    dtype = _dtype_of(name, got)
    allowed = TOLERANCES.get(dtype.name, 0.0) if tolerance is None else tolerance
    if got.shape != wanted.shape:
        raise AssertionError(
            f"{name} on {target}: the reference has the shape {wanted.shape}, the array {got.shape}"
        )
    actual, expected = got.astype(np.float64), wanted.astype(np.float64)
    # Below the smallest normal number a dtype's steps no longer shrink with the value.
    least = 2.0 ** (1 - dtype.exponent_bias) if dtype.is_float else 1.0
    scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=least))
    # Integers as they are: float64 holds no 64 bits.
    same = (
        (got == wanted)
        if not dtype.is_float
        else (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    )
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(actual - expected) / scale)
    difference = np.where(np.isnan(difference) | (~same & (difference == 0)), np.inf, difference)
    if dtype.is_float and poisoned:
        bits = got.view(f"u{got.itemsize}")
        difference = np.where(bits == _poison_bits(dtype), np.inf, difference)
    worst = float(difference.max(initial=0.0))
    if worst > allowed:
        where = np.unravel_index(int(difference.argmax()), difference.shape)
        place = ", ".join(str(int(i)) for i in where)
        raise AssertionError(
            f"{name}[{place}] on {target} is {got[where].item()!r}, expected {wanted[where].item()!r}: "
            f"off by {worst:.3g} of the largest value, at most {allowed:.3g} is right "
            f"({int((difference > allowed).sum())} of {difference.size} elements are wrong)"
        )
