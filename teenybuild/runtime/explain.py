"""What is wrong with the arguments of a call, said of every argument at once. Runs only when a check has failed."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from .dtypes import DTYPES, DType, bf16_bits
from .errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from .kinds import Blocks, Kind, spelled
from .layout import ACCEPTED, Argument
from .views import ELSEWHERE, HOST, READERS, View


class Problem(NamedTuple):
    """One argument that is wrong."""

    argument: str
    message: str
    kind: type[ArgumentError] = ArgumentTypeError


def problems_error(kernel: str, problems: Sequence[Problem]) -> ArgumentError:
    """One error that tells all of ``problems``, of the first one's class."""
    first = problems[0]
    if len(problems) == 1:
        return first.kind(f"{kernel}: {first.argument}: {first.message}", kernel, first.argument)
    lines = [f"{kernel}: {len(problems)} arguments are wrong"]
    lines += [f"  {each.argument}: {each.message}" for each in problems]
    return first.kind("\n".join(lines), kernel, first.argument)


def raise_problems(kernel: str, problems: Sequence[Problem]) -> None:
    """Raises :func:`problems_error`, or returns where there are none."""
    if problems:
        raise problems_error(kernel, problems)


def read_views(kernel: str, names: Sequence[str], values: Sequence[Any]) -> list[View]:
    """The view of every argument. Raises :class:`ArgumentTypeError` where one cannot be read."""
    try:
        return [READERS[type(value)](value) for value in values]
    # Whatever a framework raises: a tensor without storage, an array that was given away.
    except Exception:
        raise_problems(kernel, _unreadable(names, values))
        raise


def _unreadable(names: Sequence[str], values: Sequence[Any]) -> list[Problem]:
    problems: list[Problem] = []
    for name, value in zip(names, values, strict=True):
        try:
            READERS[type(value)](value)
        except Exception as wrong:
            problems.append(Problem(name, f"{_class(value)} cannot be read: {type(wrong).__name__}: {wrong}"))
    return problems


def argument_problems(
    arguments: Sequence[Argument], values: Sequence[Any], views: Sequence[View], device: int, dense: bool
) -> list[Problem]:
    """Everything that is wrong with arguments for one specialisation.

    ``device`` is where the launch runs. ``dense``: the kernel takes no strides, so arrays must be contiguous.
    """
    first = next((each.name for each, view in zip(arguments, views, strict=True) if view[0][:1] == "*"), "")
    found: list[Problem | None] = []
    for argument, value, view in zip(arguments, values, views, strict=True):
        wrong = kind_problem(argument, value, view)
        if wrong is None and argument.type.startswith("*"):
            wrong = _array_problem(argument, view, device, dense, first)
        elif wrong is None and argument.type != "none":
            wrong = _number_problem(argument, view)
        found.append(wrong)
    return [each for each in found if each is not None]


def kind_problem(argument: Argument, value: Any, view: View) -> Problem | None:
    """Whether what came is another kind of thing, or an array of another dtype."""
    if accepts(argument.type, view[0]):
        return None
    return Problem(argument.name, f"expected {expected((argument.type,))}, got {came(value, view)}")


def kind_problems(name: str, kinds: Sequence[Kind], value: Any, view: View) -> list[Problem]:
    """Why a parameter that may be any of ``kinds`` does not take what came; of a tuple, which of its entries."""
    if any(takes(kind, view) for kind in kinds):
        return []
    if view[0].startswith("("):
        tuples = [kind for kind in kinds if isinstance(kind, tuple) and not isinstance(kind, Blocks)]
        count = len(view[1])
        fitting = [kind for kind in tuples if len(kind) == count]
        if tuples and not fitting:
            counts = _either([str(each) for each in dict.fromkeys(map(len, tuples))])
            return [Problem(name, f"expected a tuple of {counts}, got one of {count}")]
        found: list[Problem] = []
        for place, (entry, inner) in enumerate(zip(value, view[1], strict=True)) if fitting else ():
            each = list(dict.fromkeys(kind[place] for kind in fitting))
            found += kind_problems(f"{name}[{place}]", each, entry, inner)
        if found:
            return found
    return [Problem(name, f"expected {expected(kinds)}, got {came(value, view)}")]


def accepts(type_: str, what: str) -> bool:
    """Whether an argument of type ``type_`` takes what a view calls ``what``."""
    if type_ == "none" or type_.startswith("*"):
        return what == type_
    return what in ACCEPTED[DTYPES[type_].kind]


def takes(kind: Kind, view: View) -> bool:
    """Whether a parameter of this kind takes what a view is of."""
    if isinstance(kind, str):
        return accepts(kind, view[0])
    if isinstance(kind, Blocks):
        return view[0] in (f"*{kind.dtype}", spelled(kind))
    if not view[0].startswith("("):
        return False
    return len(kind) == len(view[1]) and all(map(takes, kind, view[1]))


def expected(kinds: Sequence[Kind]) -> str:
    """The kinds that are taken, in words: ``an array of f32 or f16``."""
    types = [each for each in kinds if isinstance(each, str)]
    pointers = [each[1:] for each in types if each.startswith("*")]
    scalars = [each for each in types if not each.startswith("*") and each != "none"]
    words: list[str] = []
    if pointers:
        words.append(f"an array of {_either(pointers)}")
    numbers = dict.fromkeys(_NUMBER[DTYPES[each].kind] for each in scalars)
    for number in numbers:
        words.append(f"{number} ({_either([e for e in scalars if _NUMBER[DTYPES[e].kind] == number])})")
    blocks = [each for each in kinds if isinstance(each, Blocks)]
    if blocks:
        dtypes = _either(list(dict.fromkeys(each.dtype for each in blocks)))
        sides = _either(list(dict.fromkeys(str(list(each.block)) for each in blocks)))
        words.append(f"an array of {dtypes} (or a descriptor of one, with blocks {sides})")
    tuples = [each for each in kinds if not isinstance(each, str | Blocks)]
    if tuples:
        words.append(f"a tuple {_either(list(map(spelled, tuples)))}")
    if "none" in types:
        words.append("None")
    return _either(words)


_NUMBER = {"bool": "True or False", "int": "an integer", "uint": "an integer", "float": "a number"}


def came(value: Any, view: View) -> str:
    """What came, in words: ``an array of f64 (numpy.ndarray)``, ``the float 0.5``."""
    what = view[0]
    if what.startswith("*"):
        return f"an array of {what[1:]} ({_class(value)})"
    if what == "none":
        return "None"
    if what.startswith("("):
        return f"a {_class(value)} of {len(view[1])}"
    if what.startswith("desc<"):
        return f"a descriptor {what} ({_class(value)})"
    if what in ("bool", "int", "float"):
        # Not as NumPy would print it: that changes between versions.
        return f"the {what} {shown(view[1])}{f' ({_class(value)})' if _class(value) != what else ''}"
    text, kind = shown(value), f"a {_class(value)}"
    return text if text == kind else f"{text}, {kind}"


def place(device: int) -> str:
    """Where an array is, in words."""
    if device == HOST:
        return "the host"
    return f"CUDA device {device}" if device != ELSEWHERE else "neither the host nor a CUDA device"


def _array_problem(argument: Argument, view: View, device: int, dense: bool, first: str) -> Problem | None:
    _, address, where, contiguous, writable, count, _ = view
    name = argument.name
    if where != device:
        message = f"expected an array on {place(device)}, where {first} is, got one on {place(where)}"
        return Problem(name, message)
    if dense and not contiguous:
        came = "got one with gaps or in another order; the kernel takes no strides"
        return Problem(name, f"expected a contiguous array, {came}", ArgumentValueError)
    if argument.writes and not writable:
        message = "expected an array that may be written, got one that is read-only"
        return Problem(name, message, ArgumentValueError)
    # Nothing of an empty array is ever touched, so it may be anywhere.
    if not count:
        return None
    if not address:
        message = f"expected an address, got null for an array of {count} elements"
        return Problem(name, message, ArgumentValueError)
    dtype = DTYPES[argument.type[1:]]
    wanted = max(dtype.size, argument.div)
    if address % wanted:
        why = "as the specialisation assumes" if wanted > dtype.size else f"as elements of {dtype.name} are"
        message = f"expected an address that is a multiple of {wanted}, {why}, got {address:#x}"
        return Problem(name, message, ArgumentValueError)
    return None


def _number_problem(argument: Argument, view: View) -> Problem | None:
    value = view[1]
    wrong = range_problem(DTYPES[argument.type], value)
    if wrong is None and argument.eq is not None and value != argument.eq:
        wrong = f"expected {argument.eq}, as the specialisation assumes, got {shown(value)}"
    if wrong is None and argument.div > 1 and value % argument.div:
        wrong = f"expected a multiple of {argument.div}, as the specialisation assumes, got {shown(value)}"
    return Problem(argument.name, wrong, ArgumentValueError) if wrong is not None else None


def range_problem(dtype: DType, value: Any) -> str | None:
    """Why a number of the right kind does not fit a dtype, or None."""
    if dtype.kind in ("int", "uint"):
        if dtype.lowest <= value <= dtype.highest:
            return None
        return f"expected {dtype.lowest} to {dtype.highest} ({dtype.name}), got {shown(value)}"
    try:
        bf16_bits(value) if dtype.name == "bf16" else struct.pack(f"={dtype.format}", value)
    # A whole number too large for any float is no float at all to struct.
    except (OverflowError, struct.error):
        return f"expected a number that {dtype.name} can hold, got {shown(value)}"
    return None


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _class(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def shown(value: Any) -> str:
    """A value in a message, whatever it is: short, and never an error of its own."""
    # Python refuses to write out integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value)
    except Exception:
        return f"a {_class(value)}"
    return text if len(text) <= 60 else f"{text[:57]}..."
