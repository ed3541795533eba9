"""The functions of libdevice, and ``sin``, ``cos``, ``erf`` of the language, as formulas: a file a family, one formula for f32 and f64.

Loaded with the first kernel that calls one.
"""

from __future__ import annotations

from teenybuild.compiler.lower.functions import (
    bessel,
    conversion,
    error,
    exponential,
    fast,
    fused,
    gamma,
    hyperbolic,
    integer,
    power,
    rounding,
    trigonometric,
)
from teenybuild.compiler.lower.functions.registry import FUNCTIONS, call

__all__ = ["FUNCTIONS", "MODULES", "call"]

#: Importing a module of these enters its functions.
MODULES = (
    exponential,
    trigonometric,
    hyperbolic,
    power,
    error,
    gamma,
    bessel,
    rounding,
    conversion,
    fused,
    integer,
    fast,
)
