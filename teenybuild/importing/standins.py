"""Modules that take the place of ``triton`` and ``torch`` where they are not installed, so that a kernel file can be imported.

What decides constants and decorators does as the real one does; everything else is a :class:`StandIn`, which may be passed around but
not be asked what it is worth: then nobody here knows the answer.  This file is run by itself and imports nothing of teenybuild.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

#: Modules that may be stood in for.
NAMES = ("triton", "torch")


class Unknowable(BaseException):
    """A stand-in is asked for a value. No ``except Exception`` of a source may take this for an answer."""


class StandIn:
    """Something of a module that is not installed, by its dotted path."""

    def __init__(self, path: str, made: bool = False) -> None:
        self.__dict__["_path"] = path
        #: Whether it came out of a call, and so might be equal to anything.
        self.__dict__["_made"] = made

    def __repr__(self) -> str:
        return f"<stand-in for {self._path}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        found = self.__dict__[name] = ANSWERS[path] if path in ANSWERS else StandIn(path, self._made)
        return found

    def __call__(self, *_: object, **__: object) -> Any:
        return StandIn(f"{self._path}()", made=True)

    def __getitem__(self, _: object) -> Any:
        return StandIn(f"{self._path}[]", self._made)

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        return (object,)

    def __or__(self, _: object) -> Any:  # a type hint
        return self

    __ror__ = __or__

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        if isinstance(other, StandIn) and not (self._made or other._made):
            return False
        if isinstance(other, StandIn | str | int | float | tuple):
            self._ask()
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return equal if equal is NotImplemented else not equal

    def _ask(self, *_: object) -> Any:
        top = self._path.partition(".")[0]
        raise Unknowable(f"the value of {self._path} is asked for, and {top} is not installed")

    __bool__ = __len__ = __iter__ = __int__ = __index__ = __float__ = __contains__ = _ask
    __lt__ = __le__ = __gt__ = __ge__ = _ask

    def _more(self, *_: object) -> Any:
        return StandIn(f"({self._path} …)", made=True)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _more
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __and__ = __rand__ = (
        _more
    )


class constexpr:  # as the language calls it
    """A constant, with Python's operators."""

    def __init__(self, value: Any) -> None:
        self.value: Any = value.value if isinstance(value, constexpr) else value

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]


def _on_values(function: Callable[..., Any], swapped: bool = False) -> Callable[..., constexpr]:
    def compute(*operands: Any) -> constexpr:
        plain = [o.value if isinstance(o, constexpr) else o for o in operands]
        return constexpr(function(*(reversed(plain) if swapped else plain)))

    return compute


for _name in [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "neg",
    "pos",
    "invert",
]:
    _function = getattr(operator, f"__{_name}__")
    setattr(constexpr, f"__{_name}__", _on_values(_function))
    if _name not in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "invert"):
        setattr(constexpr, f"__r{_name}__", _on_values(_function, swapped=True))


class Config:
    """``triton.Config``."""

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Any = None,
        ir_override: Any = None,
    ) -> None:
        self.kwargs = kwargs
        self.num_warps, self.num_stages, self.num_ctas = num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook, self.ir_override = maxnreg, pre_hook, ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """Constants and options together."""
        options = {
            n: getattr(self, n) for n in ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")
        }
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}


class Kernel:
    """What a decorator of ``triton`` makes of a function: nothing here can be launched."""

    def __init__(self, fn: Any, **said: Any) -> None:
        self.fn = fn
        self.__dict__.update(said)
        self.__name__ = getattr(fn, "__name__", "kernel")
        self.__doc__ = getattr(fn, "__doc__", None)
        self.__module__ = getattr(fn, "__module__", "")

    def __getitem__(self, _: object) -> Any:
        return self

    def __call__(self, *_: object, **__: object) -> Any:
        raise Unknowable(f"{self.__name__} is launched, and triton is not installed")


def jit(fn: Any = None, **_: Any) -> Any:
    """``triton.jit``, with arguments or without."""
    return Kernel if fn is None else Kernel(fn)


def autotune(configs: Sequence[Config], key: Any = None, **_: Any) -> Any:
    """``triton.autotune``."""

    def decorate(fn: Any) -> Kernel:
        return Kernel(fn, configs=configs)

    return decorate


def heuristics(values: Mapping[str, Any]) -> Any:
    """``triton.heuristics``."""

    def decorate(fn: Any) -> Kernel:
        return Kernel(fn, values=values)

    return decorate


def cdiv(x: int, y: int) -> int:
    """``x / y`` rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least ``n``."""
    return 1 << max(n - 1, 0).bit_length()


class _Target:
    """The machine that this is all about."""

    backend = "cuda"
    warp_size = 32
    arch = StandIn("triton.runtime.driver.active.get_current_target().arch", made=True)


def _no(*_: object) -> bool:
    return False


#: Modules that are attributes of theirs before anybody imports them.
LANGUAGE = (
    "triton.language",
    "triton.language.extra",
    "triton.language.extra.cuda",
    "triton.language.extra.cuda.libdevice",
    "triton.language.extra.libdevice",
    "triton.language.math",
    "triton.language.random",
)

#: What is known for certain: of Triton, what the decorators do; of torch, that a torch which is not there has no device.
ANSWERS: dict[str, Any] = {
    "triton.__version__": "3.6.0",
    "triton.jit": jit,
    "triton.autotune": autotune,
    "triton.heuristics": heuristics,
    "triton.Config": Config,
    "triton.cdiv": cdiv,
    "triton.next_power_of_2": next_power_of_2,
    "triton.language.constexpr": constexpr,
    "triton.runtime.driver.active.get_current_target": _Target,
    "torch.cuda.is_available": _no,
    "torch.cuda.device_count": int,
    "torch.backends.mps.is_available": _no,
    "torch.xpu.is_available": _no,
    "torch.version.cuda": None,
    "torch.version.hip": None,
}


class StandInModule(ModuleType):
    """A module whose every name is known: by :data:`ANSWERS`, or as a stand-in."""

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__}.{name}"
        if name != "__version__" and name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        found = importlib.import_module(path) if path in LANGUAGE else sys.modules.get(path)
        if found is None:
            found = ANSWERS[path] if path in ANSWERS else StandIn(path)
        self.__dict__[name] = found
        return found


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below one that is stood in for."""

    def __init__(self, tops: Sequence[str]) -> None:
        self._tops = tops

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A specification of our own for the modules that are stood in for."""
        if fullname.partition(".")[0] in self._tops:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module itself."""
        return StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def install() -> Iterator[str]:
    """Stands in for what is not installed; the names of what is stood in for."""
    missing = [name for name in NAMES if importlib.util.find_spec(name) is None]
    sys.meta_path.append(Finder(missing))
    return iter(missing)
