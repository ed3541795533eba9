"""Questions about values that are answered while a kernel is compiled: of what type they are, and what they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Builtin, Kind, Tensor, TupleType, describe, is_tuple
from teenybuild.compiler.ir.types import Pointer
from teenybuild.diagnostics import UserError
from teenybuild.dtypes import DType

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

_NOTHING = object()
#: Classes that are called too, by their names, and those that are not (:class:`Kind`).
_CLASSES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "float": (float,),
    "int": (int,),
    "tl.tuple": (tuple,),
    "tl.tensor": (Tensor,),
    "tl.dtype": (DType, Pointer),
    # As in Triton, which asks about what is in it.
    "tl.constexpr": (),
}


@builtin("isinstance")
def is_instance(s: Semantics, obj: object, class_or_tuple: object) -> bool:
    classes = class_or_tuple if is_tuple(class_or_tuple) else (class_or_tuple,)
    found = False
    for asked in classes:
        if isinstance(asked, TupleType):
            found |= getattr(obj, "kind", None) == asked
        elif isinstance(asked, Builtin | Kind) and asked.name in _CLASSES:
            found |= isinstance(obj, _CLASSES[asked.name])
        else:
            known = ", ".join(_CLASSES)
            raise s.builder.error(f"isinstance asks for a class, got {describe(asked)}", f"there are {known}")
    return found


def _name(s: Semantics, name: object) -> str:
    if not isinstance(name, str):
        raise s.builder.error(f"the name of an attribute is a string, got {describe(name)}")
    return name


@builtin("hasattr")
def has_attribute(s: Semantics, obj: object, name: object) -> bool:
    try:
        s.attribute(obj, _name(s, name))
    except UserError:
        return False
    return True


@builtin("getattr")
def get_attribute(s: Semantics, obj: object, name: object, default: object = _NOTHING) -> object:
    if default is not _NOTHING and not has_attribute(s, obj, name):
        return default
    return s.attribute(obj, _name(s, name))


@builtin("list")
def python_list(s: Semantics, items: object = ()) -> tuple[object, ...]:
    if not is_tuple(items):
        raise s.builder.error(f"list takes a tuple, got {describe(items)}")
    return tuple(items)


@builtin("tl.tuple")
def language_tuple(s: Semantics, args: object) -> tuple[object, ...]:
    if not is_tuple(args):
        raise s.builder.error(f"tl.tuple takes a tuple or a list, got {describe(args)}")
    return tuple(args)
