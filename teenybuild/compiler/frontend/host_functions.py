"""Python's own functions, and methods of its values, as far as host code that is read may call them. None of them can do more than compute."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

from teenybuild.compiler.frontend.values import LONGEST

#: Of a number on the way to a constant.
_MOST_BITS = 1 << 16


def _range(*bounds: int) -> list[int]:
    found = range(*bounds)
    if len(found) > LONGEST:
        raise ValueError(f"a range of {len(found)} is too long to read")
    return list(found)


def _product(*parts: Any, repeat: int = 1) -> list[tuple[object, ...]]:
    if math.prod(len(part) for part in parts) ** repeat > LONGEST:
        raise ValueError("a product too long to read")
    return list(itertools.product(*parts, repeat=repeat))


def _round(number: Any, digits: int | None = None) -> Any:
    # Python computes ten to the power of this.
    if digits is not None and abs(digits) > sys.float_info.max_10_exp:
        raise ValueError(f"{digits} digits are too many")
    return round(number, digits)


def _prod(items: Any, *, start: Any = 1) -> Any:
    return functools.reduce(lambda a, b: _no_longer(a * b), items, start)


def _lcm(*items: int) -> int:
    return functools.reduce(lambda a, b: _no_longer(math.lcm(a, b)), items, 1)


def _no_longer(number: Any) -> Any:
    if isinstance(number, int) and number.bit_length() > _MOST_BITS:
        raise ValueError("too large a number")
    return number


def _enumerate(items: Any, start: int = 0) -> list[Any]:
    return [(start + i, item) for i, item in enumerate(items)]


def _filter(keep: Any, items: Any) -> list[Any]:
    return [item for item in items if (item if keep is None else keep(item))]


def _map(function: Any, *parts: Any) -> list[Any]:
    return [function(*items) for items in _zip(*parts)]


def _zip(*parts: Any) -> list[Any]:
    return list(zip(*parts))  # noqa: B905  # as long as the shortest, as Python's own


def _reversed(items: Any) -> list[Any]:
    return list(reversed(items))


def _chain(*parts: Any) -> list[Any]:
    return [item for part in parts for item in part]


def _dict(*parts: Any, **named: object) -> dict[object, object]:
    found: dict[object, object] = {}
    found.update(*parts, **named)
    return found


#: By the name a source calls them. Iterators are given as lists: nothing that is read can tell them apart.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": all,
    "any": any,
    "bool": bool,
    "dict": _dict,
    "divmod": divmod,
    "enumerate": _enumerate,
    "filter": _filter,
    "float": float,
    "frozenset": frozenset,
    "int": int,
    "len": len,
    "list": list,
    "map": _map,
    "max": max,
    "min": min,
    "range": _range,
    "reversed": _reversed,
    "round": _round,
    "set": frozenset,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
    "zip": _zip,
    "itertools.chain": _chain,
    "itertools.product": _product,
    "math.ceil": math.ceil,
    "math.exp": math.exp,
    "math.floor": math.floor,
    "math.gcd": math.gcd,
    "math.isqrt": math.isqrt,
    "math.lcm": _lcm,
    "math.log": math.log,
    "math.log2": math.log2,
    "math.pow": math.pow,
    "math.prod": _prod,
    "math.sqrt": math.sqrt,
}

#: Of these and of the methods, those that call what they are given: to the others, a function is a value like any other.
CALLING = frozenset(["filter", "map", "max", "min", "sort", "sorted"])

#: Methods, by the type of what they belong to.
METHODS: dict[type, frozenset[str]] = {
    list: frozenset(
        ["append", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"]
    ),
    tuple: frozenset(["count", "index"]),
    dict: frozenset(["copy", "get", "items", "keys", "pop", "setdefault", "update", "values"]),
    str: frozenset(
        [
            "endswith",
            "join",
            "lower",
            "lstrip",
            "removeprefix",
            "removesuffix",
            "replace",
            "rstrip",
            "split",
            "startswith",
            "strip",
            "title",
            "upper",
        ]
    ),
    int: frozenset(["bit_count", "bit_length"]),
    float: frozenset(["is_integer"]),
}
#: Methods that change their dict: of one that a module-level name keeps, the name's reader must not.
CHANGING = frozenset(["pop", "setdefault", "update"])
