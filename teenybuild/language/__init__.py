"""The kernel language, for editors and for reading: ``import teenybuild.language as tl``.

Kernels are read, not run, so nothing here computes.  Each function has the signature the compiler checks calls against and says what it
means; calling one outside a kernel raises and says how a kernel is launched.  Sources that say ``import triton.language as tl``
mean the same language.
"""

# The parameters' names are Triton's, builtins or not.

from __future__ import annotations

import builtins as _builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar

from teenybuild.language import extra as extra
from teenybuild.language.outside import outside as _outside

_F = TypeVar("_F", bound=Callable[..., Any])


class JITFunction(Generic[_F]):
    """A kernel or helper: what ``@teenybuild.jit`` makes of a function. It is compiled from its source, never called."""

    def __init__(self, fn: _F) -> None:
        self.fn = fn
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        self.__module__ = fn.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _outside(f"the kernel {self.__name__}")

    def __getitem__(self, grid: Any) -> NoReturn:
        _outside(f"the kernel {self.__name__}")

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__name__}>"


def jit(fn: _F) -> JITFunction[_F]:
    """Marks a function as a kernel or a helper of kernels."""
    return JITFunction(fn)


if TYPE_CHECKING:
    # To a type checker a constant is whatever its value is: BLOCK: constexpr = 128 takes an int and gives one.
    constexpr: TypeAlias = Any
else:

    class constexpr:
        """Annotates a parameter, or wraps a module-level value, that is known when a kernel is compiled."""

        def __init__(self, value: Any) -> None:
            self.value = value


class dtype:
    """An element type: ``tl.float32``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tl.{self.name}"


int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float16 = dtype("float16")
bfloat16 = dtype("bfloat16")
float32 = dtype("float32")
float64 = dtype("float64")
float8e4nv = dtype("float8e4nv")
float8e5 = dtype("float8e5")


class PropagateNan:
    """Whether a NaN wins (``ALL``) or loses (``NONE``) in ``maximum`` and ``minimum``."""

    NONE = "none"
    ALL = "all"


def program_id(axis: int) -> Any:
    """Which program of the grid this is along ``axis`` (0, 1 or 2): an i32 scalar."""
    _outside("tl.program_id")


def num_programs(axis: int) -> Any:
    """How many programs the grid has along ``axis`` (0, 1 or 2): an i32 scalar."""
    _outside("tl.num_programs")


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> Any:
    """Where the program at row ``i`` and column ``j`` of ``size_i`` by ``size_j`` should work, (row, column): rows by groups of ``size_g``, and within a group column by column."""
    _outside("tl.swizzle2d")


def arange(start: int, end: int) -> Any:
    """``[start, start + 1, … end - 1]`` as a tile of i32. The bounds are constants, the length is a power of two."""
    _outside("tl.arange")


def full(shape: Any, value: Any, dtype: dtype) -> Any:
    """A tile of ``shape`` with ``value`` in every element."""
    _outside("tl.full")


def zeros(shape: Any, dtype: dtype) -> Any:
    """A tile of zeros."""
    _outside("tl.zeros")


def zeros_like(input: Any) -> Any:
    """A tile of zeros with the shape and dtype of ``input``."""
    _outside("tl.zeros_like")


def broadcast_to(input: Any, *shape: Any) -> Any:
    """``input`` repeated to ``shape``: a scalar anywhere, a tile along its axes of size 1."""
    _outside("tl.broadcast_to")


def broadcast(input: Any, other: Any) -> Any:
    """Both operands in the shape that they have together."""
    _outside("tl.broadcast")


def expand_dims(input: Any, axis: Any) -> Any:
    """``input`` with an axis of size 1 put in at ``axis``, or at each of several; ``x[:, None]`` is the same."""
    _outside("tl.expand_dims")


def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> Any:
    """The same elements, in row-major order, in another shape."""
    _outside("tl.reshape")


def view(input: Any, *shape: Any) -> Any:
    """The same as ``reshape``."""
    _outside("tl.view")


def ravel(x: Any, can_reorder: bool = False) -> Any:
    """The elements in row-major order, along one axis."""
    _outside("tl.ravel")


def permute(input: Any, *dims: int) -> Any:
    """The axes in another order: axis i of the result is axis ``dims[i]`` of ``input``."""
    _outside("tl.permute")


def trans(input: Any, *dims: int) -> Any:
    """``permute``; without ``dims``, the last two axes change places. ``x.T`` is the same."""
    _outside("tl.trans")


def join(a: Any, b: Any) -> Any:
    """``a`` and ``b``, of one dtype and brought to one shape, beside each other along a new last axis; two scalars give a tile of two."""
    _outside("tl.join")


def split(a: Any) -> Any:
    """The inverse of ``join``: what stands at 0 and what stands at 1 of the last axis, whose side is 2; of a tile of two, two scalars."""
    _outside("tl.split")


def interleave(a: Any, b: Any) -> Any:
    """``a[0], b[0], a[1], b[1], …`` along the last axis, which becomes twice as long."""
    _outside("tl.interleave")


def cat(input: Any, other: Any, can_reorder: bool = False) -> Any:
    """All of ``input``, then all of ``other``: two tiles of one axis, of one length and dtype. The order is this one whether or not another is allowed."""
    _outside("tl.cat")


def flip(x: Any, dim: int | None = None) -> Any:
    """The elements in reverse along ``dim``, or along the last axis."""
    _outside("tl.flip")


def gather(src: Any, index: Any, axis: int) -> Any:
    """For each element of ``index``, integers, the element of ``src`` that it names along ``axis`` and that stands at the same place along the others. An index is taken modulo the side of ``src``: -1 is the last, and nothing beside the tile is ever read."""
    _outside("tl.gather")


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> Any:
    """What ``pointer`` points to. Where ``mask`` is off, memory is not touched and the result is ``other``, or 0."""
    _outside("tl.load")


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Writes ``value`` where ``pointer`` points and ``mask`` is on."""
    _outside("tl.store")


def make_block_ptr(base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any) -> Any:
    """A block pointer: the block of ``block_shape`` elements at ``offsets`` of an array at ``base`` with ``shape`` and ``strides`` in elements."""
    _outside("tl.make_block_ptr")


def advance(base: Any, offsets: Any) -> Any:
    """The block ``offsets`` elements further along each axis."""
    _outside("tl.advance")


def atomic_add(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to gains ``val``; integers of 32 and 64 bits, and floats, in one step that no other gets in between (a GPU may take subnormal f32 for 0). Gives what was there."""
    _outside("tl.atomic_add")


def atomic_max(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to becomes the larger of it and ``val``; integers of 32 and 64 bits, f32, f64, in one step that no other gets in between. Gives what was there."""
    _outside("tl.atomic_max")


def atomic_min(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to becomes the smaller of it and ``val``; integers of 32 and 64 bits, f32, f64, in one step that no other gets in between. Gives what was there."""
    _outside("tl.atomic_min")


def atomic_and(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to keeps the bits of ``val`` only; integers of 32 and 64 bits, in one step that no other gets in between. Gives what was there."""
    _outside("tl.atomic_and")


def atomic_or(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to gains the bits of ``val``; integers of 32 and 64 bits, in one step that no other gets in between. Gives what was there."""
    _outside("tl.atomic_or")


def atomic_xor(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to has the bits of ``val`` flipped; integers of 32 and 64 bits, in one step that no other gets in between. Gives what was there."""
    _outside("tl.atomic_xor")


def atomic_xchg(
    pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None
) -> Any:
    """What ``pointer`` points to becomes ``val``; 32 and 64 bits, in one step that no other gets in between. Gives what was there."""
    _outside("tl.atomic_xchg")


def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: str | None = None, scope: str | None = None) -> Any:
    """What ``pointer`` points to becomes ``val`` where it has the bits of ``cmp``; 16, 32 and 64 bits. Gives what was there."""
    _outside("tl.atomic_cas")


def add(x: Any, y: Any, sanitize_overflow: bool = True) -> Any:
    """``x + y``."""
    _outside("tl.add")


def sub(x: Any, y: Any, sanitize_overflow: bool = True) -> Any:
    """``x - y``."""
    _outside("tl.sub")


def mul(x: Any, y: Any, sanitize_overflow: bool = True) -> Any:
    """``x * y``."""
    _outside("tl.mul")


def condition(arg0: Any, disable_licm: bool = False) -> Any:
    """The condition of a ``while``, as it is; the option says nothing about what is computed."""
    _outside("tl.condition")


class tensor:
    """What kernels compute with, a scalar or a tile: ``isinstance(x, tl.tensor)``."""

    shape: _builtins.tuple[int, ...]
    dtype: Any


def tuple(args: Any) -> Any:
    """A tuple of the items of a tuple or list."""
    _outside("tl.tuple")


def pointer_type(element_ty: Any, address_space: int = 1, const: bool = False) -> Any:
    """The type of pointers to a dtype, or to such pointers: ``address.to(tl.pointer_type(tl.float32))``."""
    _outside("tl.pointer_type")


def where(condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition holds, else ``y``. Both are evaluated."""
    _outside("tl.where")


def maximum(x: Any, y: Any, propagate_nan: str = PropagateNan.NONE) -> Any:
    """The larger of two, element by element; a NaN loses unless it is to be propagated."""
    _outside("tl.maximum")


def minimum(x: Any, y: Any, propagate_nan: str = PropagateNan.NONE) -> Any:
    """The smaller of two, element by element; a NaN loses unless it is to be propagated."""
    _outside("tl.minimum")


def clamp(x: Any, min: Any, max: Any, propagate_nan: str = PropagateNan.NONE) -> Any:
    """``x`` within ``min`` and ``max``; floats only."""
    _outside("tl.clamp")


def abs(x: Any) -> Any:
    """The absolute value."""
    _outside("tl.abs")


def fma(x: Any, y: Any, z: Any) -> Any:
    """``x * y + z``, rounded once; f32 and f64."""
    _outside("tl.fma")


def exp(x: Any) -> Any:
    """e to the power x; f32 and f64. On a GPU, f32 uses its approximate instruction, as in Triton."""
    _outside("tl.exp")


def exp2(x: Any) -> Any:
    """2 to the power x; f32 and f64."""
    _outside("tl.exp2")


def log(x: Any) -> Any:
    """Natural logarithm; f32 and f64, within 2 ULP."""
    _outside("tl.log")


def log2(x: Any) -> Any:
    """Logarithm to base 2; f32 and f64, within 2 ULP."""
    _outside("tl.log2")


def sqrt(x: Any) -> Any:
    """The square root; f32 and f64. On a GPU, f32 uses its approximate instruction, as in Triton; `sqrt_rn` is rounded."""
    _outside("tl.sqrt")


def sin(x: Any) -> Any:
    """Sine, in radians; f32 and f64, of every size."""
    _outside("tl.sin")


def cos(x: Any) -> Any:
    """Cosine, in radians; f32 and f64, of every size."""
    _outside("tl.cos")


def erf(x: Any) -> Any:
    """The error function; f32 and f64."""
    _outside("tl.erf")


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x); f32 and f64. On a GPU, f32 uses its approximate instruction, as in Triton."""
    _outside("tl.rsqrt")


def floor(x: Any) -> Any:
    """The largest whole number that is not above x; f32 and f64."""
    _outside("tl.floor")


def ceil(x: Any) -> Any:
    """The smallest whole number that is not below x; f32 and f64."""
    _outside("tl.ceil")


def sqrt_rn(x: Any) -> Any:
    """Square root of f32, correctly rounded on every target."""
    _outside("tl.sqrt_rn")


def div_rn(x: Any, y: Any) -> Any:
    """``x / y`` of f32, correctly rounded on every target."""
    _outside("tl.div_rn")


def fdiv(x: Any, y: Any, ieee_rounding: bool = False) -> Any:
    """``x / y`` of floats."""
    _outside("tl.fdiv")


def umulhi(x: Any, y: Any) -> Any:
    """The upper half of the product of two integers of 32 or 64 bits, taken as unsigned."""
    _outside("tl.umulhi")


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``; f32 and f64."""
    _outside("tl.sigmoid")


def multiple_of(input: Any, values: Any) -> Any:
    """``input``, of which the compiler may take for true that it is a multiple of ``values``; for a tile, one number an axis, of the first value of each contiguous run."""
    _outside("tl.multiple_of")


def max_contiguous(input: Any, values: Any) -> Any:
    """``input``, of which the compiler may take for true that runs of ``values`` elements count up by one; one number an axis."""
    _outside("tl.max_contiguous")


def max_constancy(input: Any, values: Any) -> Any:
    """``input``, of which the compiler may take for true that runs of ``values`` elements are equal; one number an axis."""
    _outside("tl.max_constancy")


def assume(cond: Any) -> None:
    """A condition that the author knows to hold. Nothing is made of it yet."""
    _outside("tl.assume")


def debug_barrier() -> None:
    """What any lane has written before it, every lane of the program may read after it."""
    _outside("tl.debug_barrier")


def cast(input: Any, dtype: dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> Any:
    """``input`` as another dtype (``x.to(dtype)``): floats round to nearest even, float to integer toward zero."""
    _outside("tl.cast")


def cdiv(x: Any, div: Any) -> Any:
    """``x / div`` rounded up."""
    _outside("tl.cdiv")


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least ``n``; of constants."""
    _outside("tl.next_power_of_2")


def sum(input: Any, axis: int | None = None, keep_dims: bool = False, dtype: dtype | None = None) -> Any:
    """The sum along ``axis``, or of everything; integers below 32 bits are summed in 32."""
    _outside("tl.sum")


def max(
    input: Any,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Any:
    """The largest along ``axis``, or of everything; f16 and bf16 give f32. With ``return_indices``, also where it is."""
    _outside("tl.max")


def min(
    input: Any,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Any:
    """The smallest along ``axis``, or of everything; f16 and bf16 give f32. With ``return_indices``, also where it is."""
    _outside("tl.min")


def argmax(input: Any, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Any:
    """Where the largest along ``axis`` is, as i32: the first of equal ones, or, without ``tie_break_left``, one of them."""
    _outside("tl.argmax")


def argmin(input: Any, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Any:
    """Where the smallest along ``axis`` is, as i32: the first of equal ones, or, without ``tie_break_left``, one of them."""
    _outside("tl.argmin")


def xor_sum(input: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
    """The exclusive or of all elements along ``axis``, or of everything; integers."""
    _outside("tl.xor_sum")


def reduce_or(input: Any, axis: int | None, keep_dims: bool = False) -> Any:
    """The or of all elements along ``axis``, or of everything for None; integers."""
    _outside("tl.reduce_or")


def reduce(input: Any, axis: int | None, combine_fn: Any, keep_dims: bool = False) -> Any:
    """A tile, or a tuple of tiles, combined along ``axis`` by a function of two values (of two of each): it must commute."""
    _outside("tl.reduce")


def cumsum(input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:
    """For each element, the sum of it and all before it along ``axis`` (after it for ``reverse``). bf16 is added up as f32."""
    _outside("tl.cumsum")


def cumprod(input: Any, axis: int = 0, reverse: bool = False) -> Any:
    """For each element, the product of it and all before it along ``axis`` (after it for ``reverse``). bf16 is multiplied as f32."""
    _outside("tl.cumprod")


def associative_scan(input: Any, axis: int, combine_fn: Any, reverse: bool = False) -> Any:
    """A tile, or a tuple of tiles: each element combined with all before it by a function of two values (of two of each): associative."""
    _outside("tl.associative_scan")


def histogram(input: Any, num_bins: int, mask: Any = None) -> Any:
    """How often each of ``0, 1, … num_bins - 1`` is in ``input``, a tile of integers of one axis, as i32; where ``mask`` is off, and what is none of them, is not counted."""
    _outside("tl.histogram")


def sort(x: Any, dim: int | None = None, descending: bool = False) -> Any:
    """The elements in order along ``dim``, or along the last axis. -0.0 comes before 0.0; a NaN counts as larger than every number."""
    _outside("tl.sort")


def topk(x: Any, k: int, dim: int | None = None) -> Any:
    """The ``k`` largest along ``dim``, or along the last axis, the largest first, in the order of ``sort``. ``k`` is a power of two; where it is less than the side, narrow floats are given as f32 and narrow integers as i32, as in Triton."""
    _outside("tl.topk")


def bitonic_merge(x: Any, dim: int | None = None, descending: bool = False) -> Any:
    """The elements in order along ``dim``, or along the last axis, if they first rise and then fall along it, or first fall and then rise."""
    _outside("tl.bitonic_merge")


def map_elementwise(scalar_fn: Any, *args: Any, pack: int = 1) -> Any:
    """A function of scalars, done for each element of tiles of one shape: a tile for each value it returns. It may branch; it may not loop, load or store. With ``pack`` it takes so many neighbours of each tile at once, and gives as many of each result."""
    _outside("tl.map_elementwise")


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Any:
    """Four random words for a key and a counter of four words: u32 for counters of 32 bits, u64 for those of 64."""
    _outside("tl.philox")


def randint4x(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """Four tiles of random u32 for a seed and an offset an element: four words of one step of Philox."""
    _outside("tl.randint4x")


def randint(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """A random u32 for a seed and an offset an element."""
    _outside("tl.randint")


def uint_to_uniform_float(x: Any) -> Any:
    """Integers of 32 or 64 random bits as f32, from 0 to below 1."""
    _outside("tl.uint_to_uniform_float")


def rand(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """A random f32 from 0 to below 1 for a seed and an offset an element."""
    _outside("tl.rand")


def rand4x(seed: Any, offsets: Any, n_rounds: int = 10) -> Any:
    """Four tiles of random f32 from 0 to below 1 for a seed and an offset an element."""
    _outside("tl.rand4x")


def pair_uniform_to_normal(u1: Any, u2: Any) -> Any:
    """Two normally distributed numbers of two evenly distributed ones (Box and Muller)."""
    _outside("tl.pair_uniform_to_normal")


def randn(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """A normally distributed f32 for a seed and an offset an element."""
    _outside("tl.randn")


def randn4x(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """Four tiles of normally distributed f32 for a seed and an offset an element."""
    _outside("tl.randn4x")


def softmax(x: Any, dim: int | None = None, keep_dims: bool = False, ieee_rounding: bool = False) -> Any:
    """``exp(x - max) / sum`` along ``dim``, or the first axis; f32 and f64. Of more than one axis with ``keep_dims``."""
    _outside("tl.softmax")


def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: dtype = float32,
) -> Any:
    """``input @ other + acc`` of tiles [M, K] and [K, N], or of as many of each along a first axis."""
    _outside("tl.dot")


def dot_scaled(
    lhs: Any,
    lhs_scale: Any,
    lhs_format: str,
    rhs: Any,
    rhs_scale: Any,
    rhs_format: str,
    acc: Any = None,
    fast_math: bool = False,
    lhs_k_pack: bool = True,
    rhs_k_pack: bool = True,
    out_dtype: Any = float32,
) -> Any:
    """``lhs @ rhs + acc`` of tiles in microscaling formats: ``e2m1`` (two a byte, the first in the low bits, along k or, without ``…_k_pack``, along the other axis), ``e4m3``, ``e5m2``, ``bf16``, ``fp16``.

    ``lhs_scale`` [M, K // 32] and ``rhs_scale`` [N, K // 32] are exponents (e8m0, as u8; 255 is NaN, which ``fast_math`` does not look for) or None. Multiplied in bf16, or in f16 beside fp16; summed in f32.
    """
    _outside("tl.dot_scaled")


class tensor_descriptor:  # Triton's name
    """What :func:`make_tensor_descriptor` gives, or an argument of type ``desc<f16[128, 64]>``: an array, seen in blocks of ``block_shape``.

    ``shape`` is i32, ``strides`` i64.
    """

    shape: _builtins.tuple[Any, ...]
    strides: _builtins.tuple[Any, ...]
    block_shape: _builtins.tuple[int, ...]
    dtype: Any

    def load(self, offsets: Any, cache_modifier: str = "", eviction_policy: str = "") -> Any:
        """The block at ``offsets``; outside of the array, the padding."""
        _outside("tl.tensor_descriptor.load")

    def store(self, offsets: Any, value: Any) -> None:
        """Writes the block at ``offsets``; what lies outside of the array is left out."""
        _outside("tl.tensor_descriptor.store")

    def gather(self, x_offsets: Any, y_offset: Any) -> Any:
        """The rows that a tile of integers names, from a column on; for descriptors of blocks [1, N]."""
        _outside("tl.tensor_descriptor.gather")

    def scatter(self, value: Any, x_offsets: Any, y_offset: Any) -> None:
        """Writes the rows that a tile of integers names, from a column on; for descriptors of blocks [1, N]."""
        _outside("tl.tensor_descriptor.scatter")

    def atomic_add(self, offsets: Any, value: Any) -> None:
        """Adds to the block at ``offsets``, element by element in one step."""
        _outside("tl.tensor_descriptor.atomic_add")

    def atomic_and(self, offsets: Any, value: Any) -> None:
        """As ``atomic_add``, with bitwise and."""
        _outside("tl.tensor_descriptor.atomic_and")

    def atomic_max(self, offsets: Any, value: Any) -> None:
        """As ``atomic_add``, with the larger."""
        _outside("tl.tensor_descriptor.atomic_max")

    def atomic_min(self, offsets: Any, value: Any) -> None:
        """As ``atomic_add``, with the smaller."""
        _outside("tl.tensor_descriptor.atomic_min")

    def atomic_or(self, offsets: Any, value: Any) -> None:
        """As ``atomic_add``, with bitwise or."""
        _outside("tl.tensor_descriptor.atomic_or")

    def atomic_xor(self, offsets: Any, value: Any) -> None:
        """As ``atomic_add``, with bitwise exclusive or."""
        _outside("tl.tensor_descriptor.atomic_xor")


def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> tensor_descriptor:
    """An array, to be read and written in blocks; its last stride is 1. ``padding_option``: ``zero`` or ``nan`` is read outside of it."""
    _outside("tl.make_tensor_descriptor")


def load_tensor_descriptor(desc: tensor_descriptor, offsets: Any) -> Any:
    """``desc.load(offsets)``."""
    _outside("tl.load_tensor_descriptor")


def store_tensor_descriptor(desc: tensor_descriptor, offsets: Any, value: Any) -> None:
    """``desc.store(offsets, value)``."""
    _outside("tl.store_tensor_descriptor")


def inline_asm_elementwise(
    asm: str, constraints: str, args: Any, dtype: Any, is_pure: bool, pack: int
) -> Any:
    """Runs PTX on every ``pack`` elements of some tiles; what it gives has the dtype, or the tuple of them. On GPUs only."""
    _outside("tl.inline_asm_elementwise")


def static_print(
    *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False
) -> None:
    """Prints values on stderr while the kernel is compiled; ``file`` and ``flush`` are accepted and unused."""
    _outside("tl.static_print")


def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    """Prints a text and values, a line an element, while the kernel runs. Python's ``print`` in a kernel is the same."""
    _outside("tl.device_print")


def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    """Where built with ``debug``, ends the program unless ``cond`` holds wherever ``mask`` does. ``assert`` in a kernel is the same."""
    _outside("tl.device_assert")


def static_assert(cond: Any, msg: str = "") -> None:
    """Fails the compile unless ``cond``, a constant, holds."""
    _outside("tl.static_assert")


def range(
    arg1: Any,
    arg2: Any = None,
    step: Any = None,
    num_stages: int | None = None,
    loop_unroll_factor: int | None = None,
    disallow_acc_multi_buffer: bool = False,
    flatten: bool = False,
    warp_specialize: bool = False,
    disable_licm: bool = False,
) -> Any:
    """Like Python's ``range``. With ``num_stages``, all loads of the loop run so many turns ahead, less one, where it writes no memory; the others are taken and change nothing."""
    _outside("tl.range")


def static_range(arg1: int, arg2: int | None = None, step: int | None = None) -> Any:
    """Like Python's ``range`` over constants; the loop is unrolled when the kernel is compiled."""
    _outside("tl.static_range")
