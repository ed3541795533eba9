"""``libdevice``, for editors and for reading: ``from teenybuild.language.extra import libdevice``, or of ``triton.language.extra``.

Operands are f32 or f64, all alike, where nothing else is said; nothing is converted. The results are the same on every target but for ``rsqrt`` and the
``fast_…f`` functions of f32, which a GPU approximates; docs/accuracy.md has how far each is from the truth.
"""

# The names are Triton's, builtins or not.

from __future__ import annotations

from typing import Any

from teenybuild.language.outside import outside


def floor(arg0: Any) -> Any:
    """The largest whole number that is not above ``arg0``."""
    outside("libdevice.floor")


def ceil(arg0: Any) -> Any:
    """The smallest whole number that is not below ``arg0``."""
    outside("libdevice.ceil")


def trunc(arg0: Any) -> Any:
    """The whole number next to ``arg0`` toward 0."""
    outside("libdevice.trunc")


def rint(arg0: Any) -> Any:
    """The nearest whole number, ties to even."""
    outside("libdevice.rint")


def nearbyint(arg0: Any) -> Any:
    """The nearest whole number, ties to even."""
    outside("libdevice.nearbyint")


def round(arg0: Any) -> Any:
    """The nearest whole number, ties away from 0."""
    outside("libdevice.round")


def sqrt(arg0: Any) -> Any:
    """The square root, correctly rounded."""
    outside("libdevice.sqrt")


def rsqrt(arg0: Any) -> Any:
    """``1 / sqrt(arg0)``; of f32 approximate on a GPU, as ``tl.rsqrt``."""
    outside("libdevice.rsqrt")


def cbrt(arg0: Any) -> Any:
    """The cube root."""
    outside("libdevice.cbrt")


def rcbrt(arg0: Any) -> Any:
    """``1 / cbrt(arg0)``."""
    outside("libdevice.rcbrt")


def exp(arg0: Any) -> Any:
    """e to the power of ``arg0``: unlike ``tl.exp``, the same on every target."""
    outside("libdevice.exp")


def exp2(arg0: Any) -> Any:
    """2 to the power of ``arg0``: unlike ``tl.exp2``, the same on every target."""
    outside("libdevice.exp2")


def exp10(arg0: Any) -> Any:
    """10 to the power of ``arg0``."""
    outside("libdevice.exp10")


def expm1(arg0: Any) -> Any:
    """``exp(arg0) - 1``, exact near 0."""
    outside("libdevice.expm1")


def log(arg0: Any) -> Any:
    """Natural logarithm."""
    outside("libdevice.log")


def log2(arg0: Any) -> Any:
    """Logarithm to the base 2."""
    outside("libdevice.log2")


def log10(arg0: Any) -> Any:
    """Logarithm to the base 10."""
    outside("libdevice.log10")


def log1p(arg0: Any) -> Any:
    """``log(1 + arg0)``, exact near 0."""
    outside("libdevice.log1p")


def logb(arg0: Any) -> Any:
    """The exponent of ``arg0`` as a float; -inf of 0."""
    outside("libdevice.logb")


def sin(arg0: Any) -> Any:
    """Sine, in radians, of arguments of every size."""
    outside("libdevice.sin")


def cos(arg0: Any) -> Any:
    """Cosine, in radians, of arguments of every size."""
    outside("libdevice.cos")


def tan(arg0: Any) -> Any:
    """Tangent, in radians, of arguments of every size."""
    outside("libdevice.tan")


def sinpi(arg0: Any) -> Any:
    """``sin(π arg0)``."""
    outside("libdevice.sinpi")


def cospi(arg0: Any) -> Any:
    """``cos(π arg0)``."""
    outside("libdevice.cospi")


def asin(arg0: Any) -> Any:
    """Arc sine."""
    outside("libdevice.asin")


def acos(arg0: Any) -> Any:
    """Arc cosine."""
    outside("libdevice.acos")


def atan(arg0: Any) -> Any:
    """Arc tangent."""
    outside("libdevice.atan")


def sinh(arg0: Any) -> Any:
    """Hyperbolic sine."""
    outside("libdevice.sinh")


def cosh(arg0: Any) -> Any:
    """Hyperbolic cosine."""
    outside("libdevice.cosh")


def tanh(arg0: Any) -> Any:
    """Hyperbolic tangent."""
    outside("libdevice.tanh")


def asinh(arg0: Any) -> Any:
    """Inverse of sinh."""
    outside("libdevice.asinh")


def acosh(arg0: Any) -> Any:
    """Inverse of cosh."""
    outside("libdevice.acosh")


def atanh(arg0: Any) -> Any:
    """Inverse of tanh."""
    outside("libdevice.atanh")


def erf(arg0: Any) -> Any:
    """The error function."""
    outside("libdevice.erf")


def erfc(arg0: Any) -> Any:
    """``1 - erf(arg0)``, exact far out."""
    outside("libdevice.erfc")


def erfcx(arg0: Any) -> Any:
    """``exp(arg0²) * erfc(arg0)``."""
    outside("libdevice.erfcx")


def erfinv(arg0: Any) -> Any:
    """Inverse of erf."""
    outside("libdevice.erfinv")


def erfcinv(arg0: Any) -> Any:
    """Inverse of erfc."""
    outside("libdevice.erfcinv")


def normcdf(arg0: Any) -> Any:
    """The cumulative normal distribution."""
    outside("libdevice.normcdf")


def normcdfinv(arg0: Any) -> Any:
    """Inverse of normcdf."""
    outside("libdevice.normcdfinv")


def tgamma(arg0: Any) -> Any:
    """The gamma function."""
    outside("libdevice.tgamma")


def lgamma(arg0: Any) -> Any:
    """The logarithm of the magnitude of the gamma function."""
    outside("libdevice.lgamma")


def atan2(arg0: Any, arg1: Any) -> Any:
    """The angle of the point with the coordinates (``arg1``, ``arg0``)."""
    outside("libdevice.atan2")


def hypot(arg0: Any, arg1: Any) -> Any:
    """``sqrt(arg0² + arg1²)``, without overflow on the way."""
    outside("libdevice.hypot")


def rhypot(arg0: Any, arg1: Any) -> Any:
    """``1 / hypot(arg0, arg1)``."""
    outside("libdevice.rhypot")


def copysign(arg0: Any, arg1: Any) -> Any:
    """The magnitude of ``arg0`` with the sign of ``arg1``."""
    outside("libdevice.copysign")


def nextafter(arg0: Any, arg1: Any) -> Any:
    """The float after ``arg0`` on the way to ``arg1``."""
    outside("libdevice.nextafter")


def fmod(arg0: Any, arg1: Any) -> Any:
    """The remainder of a division toward 0, exactly; it has the sign of ``arg0``."""
    outside("libdevice.fmod")


def remainder(arg0: Any, arg1: Any) -> Any:
    """The remainder of a division to the nearest whole number, exactly (IEEE 754)."""
    outside("libdevice.remainder")


def fdim(arg0: Any, arg1: Any) -> Any:
    """``arg0 - arg1`` where that is positive, else 0."""
    outside("libdevice.fdim")


def norm3d(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """The length of a vector of three."""
    outside("libdevice.norm3d")


def rnorm3d(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """1 / the length of a vector of three."""
    outside("libdevice.rnorm3d")


def fma(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """``arg0 * arg1 + arg2``, rounded once."""
    outside("libdevice.fma")


def norm4d(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> Any:
    """The length of a vector of four."""
    outside("libdevice.norm4d")


def rnorm4d(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> Any:
    """1 / the length of a vector of four."""
    outside("libdevice.rnorm4d")


def abs(arg0: Any) -> Any:
    """The absolute value of f32, f64, i32, i64."""
    outside("libdevice.abs")


def pow(arg0: Any, arg1: Any) -> Any:
    """``arg0`` to the power of ``arg1``: a float of the same dtype, or i32."""
    outside("libdevice.pow")


def ldexp(arg0: Any, arg1: Any) -> Any:
    """``arg0 * 2 ** arg1`` for an i32, rounded once."""
    outside("libdevice.ldexp")


def scalbn(arg0: Any, arg1: Any) -> Any:
    """``arg0 * 2 ** arg1`` for an i32, rounded once."""
    outside("libdevice.scalbn")


def llrint(arg0: Any) -> Any:
    """The nearest whole number, ties to even, as i64."""
    outside("libdevice.llrint")


def llround(arg0: Any) -> Any:
    """The nearest whole number, ties away from 0, as i64."""
    outside("libdevice.llround")


def ilogb(arg0: Any) -> Any:
    """The exponent of ``arg0`` as i32; the smallest i32 of 0 and NaN, the largest of infinities."""
    outside("libdevice.ilogb")


def isnan(arg0: Any) -> Any:
    """Whether ``arg0`` is NaN: i1."""
    outside("libdevice.isnan")


def isinf(arg0: Any) -> Any:
    """Whether ``arg0`` is an infinity: i1."""
    outside("libdevice.isinf")


def signbit(arg0: Any) -> Any:
    """1 where ``arg0`` has a minus (-0.0 too), else 0: i32."""
    outside("libdevice.signbit")


def finitef(arg0: Any) -> Any:
    """Whether an f32 is finite: i1."""
    outside("libdevice.finitef")


def isfinited(arg0: Any) -> Any:
    """Whether an f64 is finite: i1."""
    outside("libdevice.isfinited")


def saturatef(arg0: Any) -> Any:
    """An f32 brought between 0 and 1; 0 for NaN."""
    outside("libdevice.saturatef")


def fast_sinf(arg0: Any) -> Any:
    """As ``sin``; on a GPU by ``sin.approx``."""
    outside("libdevice.fast_sinf")


def fast_cosf(arg0: Any) -> Any:
    """As ``cos``; on a GPU by ``cos.approx``."""
    outside("libdevice.fast_cosf")


def fast_tanf(arg0: Any) -> Any:
    """Tangent; on a GPU the quotient of ``sin.approx`` and ``cos.approx``."""
    outside("libdevice.fast_tanf")


def fast_expf(arg0: Any) -> Any:
    """As ``exp``; on a GPU by ``ex2.approx``."""
    outside("libdevice.fast_expf")


def fast_exp10f(arg0: Any) -> Any:
    """As ``exp10``; on a GPU by ``ex2.approx``."""
    outside("libdevice.fast_exp10f")


def fast_logf(arg0: Any) -> Any:
    """As ``log``; on a GPU by ``lg2.approx``."""
    outside("libdevice.fast_logf")


def fast_log2f(arg0: Any) -> Any:
    """As ``log2``; on a GPU by ``lg2.approx``."""
    outside("libdevice.fast_log2f")


def fast_log10f(arg0: Any) -> Any:
    """As ``log10``; on a GPU by ``lg2.approx``."""
    outside("libdevice.fast_log10f")


def fast_powf(arg0: Any, arg1: Any) -> Any:
    """Power; on a GPU by ``lg2.approx`` and ``ex2.approx``."""
    outside("libdevice.fast_powf")


def fast_dividef(arg0: Any, arg1: Any) -> Any:
    """``arg0 / arg1``; on a GPU by ``div.full``."""
    outside("libdevice.fast_dividef")


def fma_rn(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """``arg0 * arg1 + arg2``, rounded to the nearest, ties to even."""
    outside("libdevice.fma_rn")


def fma_rz(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """``arg0 * arg1 + arg2``, rounded toward 0."""
    outside("libdevice.fma_rz")


def fma_rd(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """``arg0 * arg1 + arg2``, rounded down."""
    outside("libdevice.fma_rd")


def fma_ru(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """``arg0 * arg1 + arg2``, rounded up."""
    outside("libdevice.fma_ru")


def rsqrt_rn(arg0: Any) -> Any:
    """``1 / sqrt(arg0)``, rounded to the nearest, ties to even."""
    outside("libdevice.rsqrt_rn")


def add_rn(arg0: Any, arg1: Any) -> Any:
    """``arg0 + arg1``, rounded to the nearest, ties to even."""
    outside("libdevice.add_rn")


def sub_rn(arg0: Any, arg1: Any) -> Any:
    """``arg0 - arg1``, rounded to the nearest, ties to even."""
    outside("libdevice.sub_rn")


def mul_rn(arg0: Any, arg1: Any) -> Any:
    """``arg0 * arg1``, rounded to the nearest, ties to even."""
    outside("libdevice.mul_rn")


def div_rn(arg0: Any, arg1: Any) -> Any:
    """``arg0 / arg1``, rounded to the nearest, ties to even."""
    outside("libdevice.div_rn")


def rcp_rn(arg0: Any) -> Any:
    """``1 / arg0``, rounded to the nearest, ties to even."""
    outside("libdevice.rcp_rn")


def sqrt_rn(arg0: Any) -> Any:
    """``sqrt(arg0)``, rounded to the nearest, ties to even."""
    outside("libdevice.sqrt_rn")


def add_rz(arg0: Any, arg1: Any) -> Any:
    """``arg0 + arg1``, rounded toward 0."""
    outside("libdevice.add_rz")


def sub_rz(arg0: Any, arg1: Any) -> Any:
    """``arg0 - arg1``, rounded toward 0."""
    outside("libdevice.sub_rz")


def mul_rz(arg0: Any, arg1: Any) -> Any:
    """``arg0 * arg1``, rounded toward 0."""
    outside("libdevice.mul_rz")


def div_rz(arg0: Any, arg1: Any) -> Any:
    """``arg0 / arg1``, rounded toward 0."""
    outside("libdevice.div_rz")


def rcp_rz(arg0: Any) -> Any:
    """``1 / arg0``, rounded toward 0."""
    outside("libdevice.rcp_rz")


def sqrt_rz(arg0: Any) -> Any:
    """``sqrt(arg0)``, rounded toward 0."""
    outside("libdevice.sqrt_rz")


def add_rd(arg0: Any, arg1: Any) -> Any:
    """``arg0 + arg1``, rounded down."""
    outside("libdevice.add_rd")


def sub_rd(arg0: Any, arg1: Any) -> Any:
    """``arg0 - arg1``, rounded down."""
    outside("libdevice.sub_rd")


def mul_rd(arg0: Any, arg1: Any) -> Any:
    """``arg0 * arg1``, rounded down."""
    outside("libdevice.mul_rd")


def div_rd(arg0: Any, arg1: Any) -> Any:
    """``arg0 / arg1``, rounded down."""
    outside("libdevice.div_rd")


def rcp_rd(arg0: Any) -> Any:
    """``1 / arg0``, rounded down."""
    outside("libdevice.rcp_rd")


def sqrt_rd(arg0: Any) -> Any:
    """``sqrt(arg0)``, rounded down."""
    outside("libdevice.sqrt_rd")


def add_ru(arg0: Any, arg1: Any) -> Any:
    """``arg0 + arg1``, rounded up."""
    outside("libdevice.add_ru")


def sub_ru(arg0: Any, arg1: Any) -> Any:
    """``arg0 - arg1``, rounded up."""
    outside("libdevice.sub_ru")


def mul_ru(arg0: Any, arg1: Any) -> Any:
    """``arg0 * arg1``, rounded up."""
    outside("libdevice.mul_ru")


def div_ru(arg0: Any, arg1: Any) -> Any:
    """``arg0 / arg1``, rounded up."""
    outside("libdevice.div_ru")


def rcp_ru(arg0: Any) -> Any:
    """``1 / arg0``, rounded up."""
    outside("libdevice.rcp_ru")


def sqrt_ru(arg0: Any) -> Any:
    """``sqrt(arg0)``, rounded up."""
    outside("libdevice.sqrt_ru")


def double2float_rn(arg0: Any) -> Any:
    """f64 as f32, rounded to the nearest, ties to even."""
    outside("libdevice.double2float_rn")


def float2int_rn(arg0: Any) -> Any:
    """f32 as i32, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.float2int_rn")


def int2float_rn(arg0: Any) -> Any:
    """i32 as f32, rounded to the nearest, ties to even."""
    outside("libdevice.int2float_rn")


def double2int_rn(arg0: Any) -> Any:
    """f64 as i32, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.double2int_rn")


def int2double_rn(arg0: Any) -> Any:
    """i32 as f64, rounded to the nearest, ties to even."""
    outside("libdevice.int2double_rn")


def float2uint_rn(arg0: Any) -> Any:
    """f32 as u32, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.float2uint_rn")


def uint2float_rn(arg0: Any) -> Any:
    """u32 as f32, rounded to the nearest, ties to even."""
    outside("libdevice.uint2float_rn")


def double2uint_rn(arg0: Any) -> Any:
    """f64 as u32, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.double2uint_rn")


def uint2double_rn(arg0: Any) -> Any:
    """u32 as f64, rounded to the nearest, ties to even."""
    outside("libdevice.uint2double_rn")


def float2ll_rn(arg0: Any) -> Any:
    """f32 as i64, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.float2ll_rn")


def ll2float_rn(arg0: Any) -> Any:
    """i64 as f32, rounded to the nearest, ties to even."""
    outside("libdevice.ll2float_rn")


def double2ll_rn(arg0: Any) -> Any:
    """f64 as i64, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.double2ll_rn")


def ll2double_rn(arg0: Any) -> Any:
    """i64 as f64, rounded to the nearest, ties to even."""
    outside("libdevice.ll2double_rn")


def float2ull_rn(arg0: Any) -> Any:
    """f32 as u64, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.float2ull_rn")


def ull2float_rn(arg0: Any) -> Any:
    """u64 as f32, rounded to the nearest, ties to even."""
    outside("libdevice.ull2float_rn")


def double2ull_rn(arg0: Any) -> Any:
    """f64 as u64, rounded to the nearest, ties to even, brought into range; 0 for NaN."""
    outside("libdevice.double2ull_rn")


def ull2double_rn(arg0: Any) -> Any:
    """u64 as f64, rounded to the nearest, ties to even."""
    outside("libdevice.ull2double_rn")


def double2float_rz(arg0: Any) -> Any:
    """f64 as f32, rounded toward 0."""
    outside("libdevice.double2float_rz")


def float2int_rz(arg0: Any) -> Any:
    """f32 as i32, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.float2int_rz")


def int2float_rz(arg0: Any) -> Any:
    """i32 as f32, rounded toward 0."""
    outside("libdevice.int2float_rz")


def double2int_rz(arg0: Any) -> Any:
    """f64 as i32, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.double2int_rz")


def float2uint_rz(arg0: Any) -> Any:
    """f32 as u32, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.float2uint_rz")


def uint2float_rz(arg0: Any) -> Any:
    """u32 as f32, rounded toward 0."""
    outside("libdevice.uint2float_rz")


def double2uint_rz(arg0: Any) -> Any:
    """f64 as u32, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.double2uint_rz")


def float2ll_rz(arg0: Any) -> Any:
    """f32 as i64, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.float2ll_rz")


def ll2float_rz(arg0: Any) -> Any:
    """i64 as f32, rounded toward 0."""
    outside("libdevice.ll2float_rz")


def double2ll_rz(arg0: Any) -> Any:
    """f64 as i64, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.double2ll_rz")


def ll2double_rz(arg0: Any) -> Any:
    """i64 as f64, rounded toward 0."""
    outside("libdevice.ll2double_rz")


def float2ull_rz(arg0: Any) -> Any:
    """f32 as u64, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.float2ull_rz")


def ull2float_rz(arg0: Any) -> Any:
    """u64 as f32, rounded toward 0."""
    outside("libdevice.ull2float_rz")


def double2ull_rz(arg0: Any) -> Any:
    """f64 as u64, rounded toward 0, brought into range; 0 for NaN."""
    outside("libdevice.double2ull_rz")


def ull2double_rz(arg0: Any) -> Any:
    """u64 as f64, rounded toward 0."""
    outside("libdevice.ull2double_rz")


def double2float_rd(arg0: Any) -> Any:
    """f64 as f32, rounded down."""
    outside("libdevice.double2float_rd")


def float2int_rd(arg0: Any) -> Any:
    """f32 as i32, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.float2int_rd")


def int2float_rd(arg0: Any) -> Any:
    """i32 as f32, rounded down."""
    outside("libdevice.int2float_rd")


def double2int_rd(arg0: Any) -> Any:
    """f64 as i32, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.double2int_rd")


def float2uint_rd(arg0: Any) -> Any:
    """f32 as u32, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.float2uint_rd")


def uint2float_rd(arg0: Any) -> Any:
    """u32 as f32, rounded down."""
    outside("libdevice.uint2float_rd")


def double2uint_rd(arg0: Any) -> Any:
    """f64 as u32, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.double2uint_rd")


def float2ll_rd(arg0: Any) -> Any:
    """f32 as i64, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.float2ll_rd")


def ll2float_rd(arg0: Any) -> Any:
    """i64 as f32, rounded down."""
    outside("libdevice.ll2float_rd")


def double2ll_rd(arg0: Any) -> Any:
    """f64 as i64, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.double2ll_rd")


def ll2double_rd(arg0: Any) -> Any:
    """i64 as f64, rounded down."""
    outside("libdevice.ll2double_rd")


def float2ull_rd(arg0: Any) -> Any:
    """f32 as u64, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.float2ull_rd")


def ull2float_rd(arg0: Any) -> Any:
    """u64 as f32, rounded down."""
    outside("libdevice.ull2float_rd")


def double2ull_rd(arg0: Any) -> Any:
    """f64 as u64, rounded down, brought into range; 0 for NaN."""
    outside("libdevice.double2ull_rd")


def ull2double_rd(arg0: Any) -> Any:
    """u64 as f64, rounded down."""
    outside("libdevice.ull2double_rd")


def double2float_ru(arg0: Any) -> Any:
    """f64 as f32, rounded up."""
    outside("libdevice.double2float_ru")


def float2int_ru(arg0: Any) -> Any:
    """f32 as i32, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.float2int_ru")


def int2float_ru(arg0: Any) -> Any:
    """i32 as f32, rounded up."""
    outside("libdevice.int2float_ru")


def double2int_ru(arg0: Any) -> Any:
    """f64 as i32, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.double2int_ru")


def float2uint_ru(arg0: Any) -> Any:
    """f32 as u32, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.float2uint_ru")


def uint2float_ru(arg0: Any) -> Any:
    """u32 as f32, rounded up."""
    outside("libdevice.uint2float_ru")


def double2uint_ru(arg0: Any) -> Any:
    """f64 as u32, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.double2uint_ru")


def float2ll_ru(arg0: Any) -> Any:
    """f32 as i64, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.float2ll_ru")


def ll2float_ru(arg0: Any) -> Any:
    """i64 as f32, rounded up."""
    outside("libdevice.ll2float_ru")


def double2ll_ru(arg0: Any) -> Any:
    """f64 as i64, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.double2ll_ru")


def ll2double_ru(arg0: Any) -> Any:
    """i64 as f64, rounded up."""
    outside("libdevice.ll2double_ru")


def float2ull_ru(arg0: Any) -> Any:
    """f32 as u64, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.float2ull_ru")


def ull2float_ru(arg0: Any) -> Any:
    """u64 as f32, rounded up."""
    outside("libdevice.ull2float_ru")


def double2ull_ru(arg0: Any) -> Any:
    """f64 as u64, rounded up, brought into range; 0 for NaN."""
    outside("libdevice.double2ull_ru")


def ull2double_ru(arg0: Any) -> Any:
    """u64 as f64, rounded up."""
    outside("libdevice.ull2double_ru")


def int_as_float(arg0: Any) -> Any:
    """The bits of i32 as f32."""
    outside("libdevice.int_as_float")


def float_as_int(arg0: Any) -> Any:
    """The bits of f32 as i32."""
    outside("libdevice.float_as_int")


def uint_as_float(arg0: Any) -> Any:
    """The bits of u32 as f32."""
    outside("libdevice.uint_as_float")


def float_as_uint(arg0: Any) -> Any:
    """The bits of f32 as u32."""
    outside("libdevice.float_as_uint")


def longlong_as_double(arg0: Any) -> Any:
    """The bits of i64 as f64."""
    outside("libdevice.longlong_as_double")


def double_as_longlong(arg0: Any) -> Any:
    """The bits of f64 as i64."""
    outside("libdevice.double_as_longlong")


def double2loint(arg0: Any) -> Any:
    """The lower 32 bits of an f64."""
    outside("libdevice.double2loint")


def double2hiint(arg0: Any) -> Any:
    """The upper 32 bits of an f64."""
    outside("libdevice.double2hiint")


def hiloint2double(arg0: Any, arg1: Any) -> Any:
    """The f64 whose upper bits are ``arg0`` and whose lower are ``arg1``."""
    outside("libdevice.hiloint2double")


def clz(arg0: Any) -> Any:
    """Zeros before the first bit that is set."""
    outside("libdevice.clz")


def popc(arg0: Any) -> Any:
    """How many bits are set."""
    outside("libdevice.popc")


def ffs(arg0: Any) -> Any:
    """The place of the lowest bit that is set, from 1; 0 where none is."""
    outside("libdevice.ffs")


def brev(arg0: Any) -> Any:
    """The bits in reverse order."""
    outside("libdevice.brev")


def byte_perm(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """Four of the eight bytes of ``arg0`` and ``arg1``, chosen by the four nibbles of ``arg2``."""
    outside("libdevice.byte_perm")


def mulhi(arg0: Any, arg1: Any) -> Any:
    """The upper half of the product."""
    outside("libdevice.mulhi")


def sad(arg0: Any, arg1: Any, arg2: Any) -> Any:
    """``abs(arg0 - arg1) + arg2``, the last u32."""
    outside("libdevice.sad")


def mul24(arg0: Any, arg1: Any) -> Any:
    """The product of the low 24 bits."""
    outside("libdevice.mul24")


def hadd(arg0: Any, arg1: Any) -> Any:
    """The average, rounded down, without overflow."""
    outside("libdevice.hadd")


def rhadd(arg0: Any, arg1: Any) -> Any:
    """The average, rounded up, without overflow."""
    outside("libdevice.rhadd")


def j0(arg0: Any) -> Any:
    """The Bessel function of the first kind, of order 0."""
    outside("libdevice.j0")


def j1(arg0: Any) -> Any:
    """The Bessel function of the first kind, of order 1."""
    outside("libdevice.j1")


def jn(arg0: Any, arg1: Any) -> Any:
    """The Bessel function of the first kind of ``arg1``, of the order ``arg0``, an i32; NaN for a negative order."""
    outside("libdevice.jn")


def y0(arg0: Any) -> Any:
    """The Bessel function of the second kind, of order 0; NaN below 0."""
    outside("libdevice.y0")


def y1(arg0: Any) -> Any:
    """The Bessel function of the second kind, of order 1; NaN below 0."""
    outside("libdevice.y1")


def yn(arg0: Any, arg1: Any) -> Any:
    """The Bessel function of the second kind of ``arg1``, of the order ``arg0``, an i32; NaN for a negative order and below 0."""
    outside("libdevice.yn")


def cyl_bessel_i0(arg0: Any) -> Any:
    """The modified Bessel function of the first kind, of order 0."""
    outside("libdevice.cyl_bessel_i0")


def cyl_bessel_i1(arg0: Any) -> Any:
    """The modified Bessel function of the first kind, of order 1."""
    outside("libdevice.cyl_bessel_i1")


def rcp64h(arg0: Any) -> Any:
    """``1 / arg0`` of an f64, by the upper 32 bits of both: 20 bits are right, and denormals are 0; on a GPU ``rcp.approx.ftz.f64``."""
    outside("libdevice.rcp64h")
