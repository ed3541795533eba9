"""From the arguments of a call to what is passed: tuples entry by entry, descriptors part by part. Only for kernels that have such."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .dtypes import DTYPES
from .errors import ArgumentValueError
from .explain import Problem, kind_problems, shown
from .kinds import Blocks, Kind
from .views import HOST, Described, View

if TYPE_CHECKING:
    from .layout import Layout

#: What descriptors of the hardware ask of strides, in bytes.
_ALIGNED = 16


class Flat(NamedTuple):
    """What is passed: a value and a view for each argument, in order. Where there are ``problems``, some are missing."""

    values: list[Any]
    views: list[View]
    problems: list[Problem]


def flatten(layout: Layout, values: Sequence[Any], views: Sequence[View]) -> Flat:
    """The arguments of a call for one specialisation."""
    found = Flat([], [], [])
    for name, kind, value, view in zip(layout.names, layout.types, values, views, strict=True):
        _add(found, name, kind, value, view)
    return found


def _add(found: Flat, name: str, kind: Kind, value: Any, view: View) -> None:
    if isinstance(kind, str):
        found.values.append(value)
        found.views.append(view)
        return
    wrong = kind_problems(name, [kind], value, view)
    if wrong:
        found.problems.extend(wrong)
    elif isinstance(kind, Blocks):
        _add_parts(found, name, kind, value, view)
    else:
        for place, (each, entry, inner) in enumerate(zip(kind, value, view[1], strict=True)):
            _add(found, f"{name}[{place}]", each, entry, inner)


def _add_parts(found: Flat, name: str, kind: Blocks, value: Any, view: View) -> None:
    if view[0].startswith("*"):
        try:
            described = Described(value, view, *extents(value), "zero")
        # Whatever a framework raises.
        except Exception as wrong:
            unread = f"its shape and strides cannot be read: {type(wrong).__name__}: {wrong}"
            found.problems.append(Problem(name, unread))
            return
    else:
        described = view[1]
    message = _shape_problem(kind, described)
    if message is not None:
        found.problems.append(Problem(name, message, ArgumentValueError))
        return
    base, address, where, _, writable, _, stream = described.view
    shape, strides = described.shape, described.strides
    found.values.extend([described.base, *shape, *strides[:-1], described.padding == "nan"])
    found.views.append((base, address, where, True, writable, span(shape, strides), stream))
    found.views.extend([_whole(number) for number in (*shape, *strides[:-1])])
    found.views.append(("bool", described.padding == "nan", HOST, True, False, 1, None))


def _whole(number: int) -> View:
    return "int", number, HOST, True, False, 1, None


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first of an array to the one after its last."""
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def _shape_problem(kind: Blocks, array: Described) -> str | None:
    """Why an array cannot be seen in such blocks, or None. Alignment of the address is checked with all others."""
    rank, size = len(kind.block), DTYPES[kind.dtype].size
    shape, strides = array.shape, array.strides
    if len(shape) != rank or len(strides) != rank:
        axes = (
            f"{len(shape)} extents and {len(strides)} strides"
            if len(shape) != len(strides)
            else f"{len(shape)}"
        )
        return f"expected {rank} axes, as blocks of {list(kind.block)} have, got {axes}"
    for axis, extent in enumerate(shape):
        if not 0 <= extent <= DTYPES["i32"].highest:
            return f"expected extents from 0 to {DTYPES['i32'].highest}, got {shown(extent)} for axis {axis}"
    if strides[-1] != 1:
        return (
            f"expected a last stride of 1, got {shown(strides[-1])}: elements of a row lie next to each other"
        )
    for axis, stride in enumerate(strides[:-1]):
        if stride < 0 or stride * size % _ALIGNED:
            wanted = f"strides that are multiples of {_ALIGNED} bytes ({max(1, _ALIGNED // size)} elements)"
            return f"expected {wanted}, got {shown(stride)} elements for axis {axis}"
    if array.padding not in ("zero", "nan"):
        return f"expected padding 'zero' or 'nan', got {shown(array.padding)}"
    if array.padding == "nan" and DTYPES[kind.dtype].kind != "float":
        return f"padding 'nan' is for floats, and this is of {kind.dtype}"
    contiguous, count, reach = array.view[3], array.view[5], span(shape, strides)
    if contiguous and reach > count:
        return f"expected a shape within the array, which has {count} elements, got one that reaches {reach}"
    return None


def extents(array: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of an array of any framework, in elements."""
    stride = getattr(array, "stride", None)
    if callable(stride):
        return tuple(array.shape), tuple(cast("Callable[[], Sequence[int]]", stride)())
    strides, size = getattr(array, "strides", None), getattr(array, "itemsize", None)
    if isinstance(strides, tuple) and isinstance(size, int):
        return tuple(array.shape), _in_elements(cast("tuple[int, ...]", strides), size)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        size = int(interface["typestr"][2:])
        shape = tuple(interface["shape"])
        strides = interface.get("strides")
        return shape, _dense(shape) if strides is None else _in_elements(strides, size)
    from .dlpack import layout_of

    shape, strides = layout_of(array)
    return shape, _dense(shape) if strides is None else strides


def _in_elements(strides: Sequence[int], size: int) -> tuple[int, ...]:
    if any(stride % size for stride in strides):
        raise ValueError(f"its strides are no multiples of {size} bytes, an element")
    return tuple([stride // size for stride in strides])


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    found: list[int] = []
    step = 1
    for extent in reversed(shape):
        found.append(step)
        step *= extent
    return tuple(reversed(found))
