"""Names of the language that are no functions: values, other spellings, and what a later version brings."""

from __future__ import annotations

import math as python_math

from teenybuild.compiler.frontend.values import Kind
from teenybuild.dtypes import BY_LANGUAGE

#: Values (not functions) of the language.
VALUES: dict[str, object] = {
    **{f"tl.{name}": dtype for name, dtype in BY_LANGUAGE.items()},
    # The version whose language this is.
    "triton.__version__": "3.6.0",
    "math.pi": python_math.pi,
    "math.e": python_math.e,
    "math.inf": python_math.inf,
    "math.nan": python_math.nan,
    "math.tau": python_math.tau,
    "tl.tensor": Kind("tl.tensor"),
    "tl.dtype": Kind("tl.dtype"),
    "tl.PropagateNan.NONE": "none",
    "tl.PropagateNan.ALL": "all",
}
#: Names that mean another one.
ALIASES = {
    "triton.cdiv": "tl.cdiv",
    "triton.next_power_of_2": "tl.next_power_of_2",
    "tl.math.exp": "tl.exp",
    "tl.math.exp2": "tl.exp2",
    "tl.math.log": "tl.log",
    "tl.math.log2": "tl.log2",
    "tl.math.sin": "tl.sin",
    "tl.math.cos": "tl.cos",
    "tl.math.erf": "tl.erf",
    "tl.math.sqrt": "tl.sqrt",
    "tl.math.rsqrt": "tl.rsqrt",
    "tl.math.abs": "tl.abs",
    "tl.math.ceil": "tl.ceil",
    "tl.math.div_rn": "tl.div_rn",
    "tl.math.fdiv": "tl.fdiv",
    "tl.math.floor": "tl.floor",
    "tl.math.sqrt_rn": "tl.sqrt_rn",
    "tl.math.umulhi": "tl.umulhi",
    "tl.math.fma": "tl.fma",
    "tl.math.cdiv": "tl.cdiv",
    "tl.math.max": "tl.maximum",
    "tl.math.min": "tl.minimum",
    **{
        f"tl.random.{name}": f"tl.{name}"
        for name in (
            "pair_uniform_to_normal",
            "philox",
            "rand",
            "rand4x",
            "randint",
            "randint4x",
            "randn",
            "randn4x",
            "uint_to_uniform_float",
        )
    },
    "triton.language.constexpr": "tl.constexpr",
}
#: Names of the Triton language that a later version brings: refused by name, with their own message.
LATER = frozenset(
    [
        "tl.float8e4b15",
        "tl.float8e4b8",
        "tl.float8e5b16",
        "tl.target_info",
        "tl.extra.cuda.convert_custom_float8_sm70",
        "tl.extra.cuda.convert_custom_float8_sm80",
        "tl.extra.cuda.gdc_launch_dependents",
        "tl.extra.cuda.gdc_wait",
    ]
)
