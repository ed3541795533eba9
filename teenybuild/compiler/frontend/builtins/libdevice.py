"""``triton.language.extra.libdevice``: which functions there are, and for which dtypes, as in Triton 3.6.

An operand has exactly the dtype of one row of the function: nothing is converted. The symbols are those that Triton prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import an_operand
from teenybuild.compiler.frontend.builtins.registry import Implementation, builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt
from teenybuild.dtypes import DType, f32, f64, i1, i32, i64, signless, u32, u64

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

MODULE = "tl.extra.libdevice"

#: The dtypes of the operands → (symbol without ``__nv_``, dtype of the result).
Rows = dict[tuple[DType, ...], tuple[str, DType]]

_UNARY = (
    "floor ceil trunc rint nearbyint round sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log log2 log10 log1p logb sin cos tan sinpi "
    "cospi asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfcx erfinv erfcinv normcdf normcdfinv tgamma lgamma j0 j1 y0 y1 "
    "cyl_bessel_i0 cyl_bessel_i1"
)
_BINARY = "atan2 hypot rhypot copysign nextafter fmod remainder fdim"


def _floats(count: int, single: str, double: str) -> Rows:
    return {(f32,) * count: (single, f32), (f64,) * count: (double, f64)}


def _one(*dtypes: DType, symbol: str) -> Rows:
    """A function of one row: the last dtype is the result's."""
    return {dtypes[:-1]: (symbol, dtypes[-1])}


def _table() -> dict[str, Rows]:
    table: dict[str, Rows] = {}
    for count, names in ((1, _UNARY), (2, _BINARY), (3, "norm3d rnorm3d fma"), (4, "norm4d rnorm4d")):
        table |= {name: _floats(count, f"{name}f", name) for name in names.split()}
    table["abs"] = {(i32,): ("abs", i32), (i64,): ("llabs", i64)} | _floats(1, "fabsf", "fabs")
    table["pow"] = {
        (f32, i32): ("powif", f32),
        (f64, i32): ("powi", f64),
        **_floats(2, "powf", "pow"),
    }
    for name in ("ldexp", "scalbn"):
        table[name] = {(f32, i32): (f"{name}f", f32), (f64, i32): (name, f64)}
    for name in ("jn", "yn"):
        table[name] = {(i32, f32): (f"{name}f", f32), (i32, f64): (name, f64)}
    for name in ("llrint", "llround"):
        table[name] = {(f32,): (f"{name}f", i64), (f64,): (name, i64)}
    table["ilogb"] = {(f32,): ("ilogbf", i32), (f64,): ("ilogb", i32)}
    for name in ("isnan", "isinf"):
        table[name] = {(f32,): (f"{name}f", i1), (f64,): (f"{name}d", i1)}
    table["signbit"] = {(f32,): ("signbitf", i32), (f64,): ("signbitd", i32)}
    table["finitef"] = _one(f32, i1, symbol="finitef")
    table["isfinited"] = _one(f64, i1, symbol="isfinited")
    table["saturatef"] = _one(f32, f32, symbol="saturatef")
    for name in ["sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10"]:
        table[f"fast_{name}f"] = _one(f32, f32, symbol=f"fast_{name}f")
    table["rcp64h"] = _one(f64, f64, symbol="rcp64h")
    table["fast_powf"] = _one(f32, f32, f32, symbol="fast_powf")
    table["fast_dividef"] = _one(f32, f32, f32, symbol="fast_fdividef")
    return table | _directed() | _conversions() | _integers()


def _directed() -> dict[str, Rows]:
    """Arithmetic that says how it rounds."""
    table: dict[str, Rows] = {
        **{f"fma_{mode}": _floats(3, f"fmaf_{mode}", f"fma_{mode}") for mode in ("rn", "rz", "rd", "ru")},
        "rsqrt_rn": _one(f32, f32, symbol="frsqrt_rn"),
    }
    for mode in ("rn", "rz", "rd", "ru"):
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("rcp", 1), ("sqrt", 1)):
            table[f"{name}_{mode}"] = _floats(count, f"f{name}_{mode}", f"d{name}_{mode}")
    return table


def _conversions() -> dict[str, Rows]:
    table: dict[str, Rows] = {}
    # What Triton calls the result of float2uint is signed; its bits are those of the unsigned one.
    integers = {"int": (i32, i32), "uint": (u32, i32), "ll": (i64, i64), "ull": (u64, i64)}
    for mode in ("rn", "rz", "rd", "ru"):
        table[f"double2float_{mode}"] = _one(f64, f32, symbol=f"double2float_{mode}")
        for word, (source, result) in integers.items():
            for name, dtype in (("float", f32), ("double", f64)):
                to, back = f"{name}2{word}_{mode}", f"{word}2{name}_{mode}"
                table[to] = _one(dtype, result, symbol=to)
                if mode == "rn" or dtype == f32 or source.bits == 64:
                    table[back] = _one(source, dtype, symbol=back)
    casts = (
        (i32, f32, "int_as_float"),
        (f32, i32, "float_as_int"),
        (u32, f32, "uint_as_float"),
        (f32, i32, "float_as_uint"),
        (i64, f64, "longlong_as_double"),
        (f64, i64, "double_as_longlong"),
        (f64, i32, "double2loint"),
        (f64, i32, "double2hiint"),
    )
    table |= {symbol: _one(source, result, symbol=symbol) for source, result, symbol in casts}
    table["hiloint2double"] = _one(i32, i32, f64, symbol="hiloint2double")
    return table


def _integers() -> dict[str, Rows]:
    table: dict[str, Rows] = {
        name: {(i32,): (name, i32), (i64,): (f"{name}ll", i32)} for name in ("clz", "popc", "ffs")
    }
    table["brev"] = {(i32,): ("brev", i32), (i64,): ("brevll", i64)}
    table["byte_perm"] = _one(i32, i32, i32, i32, symbol="byte_perm")
    table["mulhi"] = {
        (i32, i32): ("mulhi", i32),
        (u32, u32): ("umulhi", u32),
        (i64, i64): ("mul64hi", i64),
        (u64, u64): ("umul64hi", u64),
    }
    table["sad"] = {(i32, i32, u32): ("sad", i32), (u32, u32, u32): ("usad", u32)}
    for name in ("mul24", "hadd", "rhadd"):
        prefix = "ur" if name == "rhadd" else "u"
        table[name] = {
            (i32, i32): (name, i32),
            (u32, u32): (prefix + name.removeprefix("r"), u32),
        }
    return table


#: Every function that this version has.
TABLE = _table()


def _taken(rows: Rows) -> str:
    """``f32 or f64``; of several operands ``(f32, i32) or (f64, i32)``."""
    spelled = [(len(d), ", ".join(map(str, d))) for d in rows]
    words = [f"({text})" if count > 1 else text for count, text in spelled]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _call(s: Semantics, name: str, arguments: tuple[object, ...]) -> Tensor:
    shown = f"libdevice.{name}"
    values = [s.tensor(an_operand(s, a, shown)) for a in arguments]
    rows = TABLE[name]
    row = rows.get(tuple(v.scalar for v in values)) if not any(v.is_pointer for v in values) else None
    if row is None:
        hint = (
            None
            if any(v.is_pointer for v in values)
            else "nothing is converted here: convert it first with .to(...)"
        )
        raise s.builder.error(
            f"{shown} takes {_taken(rows)}, got {' and '.join(map(describe, arguments))}", hint
        )
    first = values[0]
    for value in values[1:]:
        first, _ = s.broadcast(first, value)
    values = [s.broadcast(v, first)[0] for v in values]
    symbol, result = row
    made = i32 if result == i1 else result
    op = tt.ExternElementwise(f"__nv_{symbol}", tuple(v.value for v in values), signless(made))
    # Where Triton gives a truth, the library gives an integer.
    return s.cast(s.builder.tensor(op, made), result)


def _implementation(name: str, count: int) -> Implementation:
    """A function of ``count`` operands, called as in Triton."""

    def one(s: Semantics, arg0: object) -> Tensor:
        return _call(s, name, (arg0,))

    def two(s: Semantics, arg0: object, arg1: object) -> Tensor:
        return _call(s, name, (arg0, arg1))

    def three(s: Semantics, arg0: object, arg1: object, arg2: object) -> Tensor:
        return _call(s, name, (arg0, arg1, arg2))

    def four(s: Semantics, arg0: object, arg1: object, arg2: object, arg3: object) -> Tensor:
        return _call(s, name, (arg0, arg1, arg2, arg3))

    return (one, two, three, four)[count - 1]


for _name, _rows in TABLE.items():
    builtin(f"{MODULE}.{_name}")(_implementation(_name, len(next(iter(_rows)))))
