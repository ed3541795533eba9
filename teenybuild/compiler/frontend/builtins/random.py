"""Random numbers from a counter: Philox (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).

The same seed and offset give the same number on every target, and Triton's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import an_operand, constant_int
from teenybuild.compiler.frontend.builtins.elementwise import cos, log, sin, sqrt, umulhi
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.dtypes import i32, i64, u32, u64

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

Four = tuple[Tensor, Tensor, Tensor, Tensor]

#: By the width of a word: multipliers of the rounds, and what the two halves of the key grow by (the paper's section 4.3 and table 2).
_MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
_WEYL = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
#: The largest scale by which no word becomes 1.0: as in Triton.
_SCALE = {32: 4.6566127342e-10, 64: 1.0842020432385337e-19}
#: Rounds where nobody says how many: the paper's.
_ROUNDS = 10


def _word(s: Semantics, value: object, what: str) -> Tensor:
    number = s.tensor(an_operand(s, value, what))
    if number.is_pointer or not number.scalar.is_int or number.scalar.bits == 1:
        raise s.builder.error(f"{what} is an integer, got {describe(value)}")
    return number


@builtin("tl.philox")
def philox(
    s: Semantics, seed: object, c0: object, c1: object, c2: object, c3: object, n_rounds: object = _ROUNDS
) -> Four:
    key = s.cast(_word(s, seed, "the seed of random numbers"), u64)
    words = [_word(s, c, f"c{i} of tl.philox") for i, c in enumerate((c0, c1, c2, c3))]
    bits = words[0].scalar.bits
    if bits not in _WEYL or any(word.scalar.bits != bits for word in words):
        raise s.builder.error(
            f"tl.philox counts in four words of 32 or of 64 bits, got {', '.join(describe(w) for w in words)}"
        )
    dtype = u32 if bits == 32 else u64
    a, b, c, d = (s.bitcast(word, dtype) for word in words)
    # The second half of a key of 64-bit words is 0: a seed has no more than 64 bits.
    first = s.cast(key, dtype)
    second = s.cast(s.shift_right(key, 32), u32) if bits == 32 else s.builder.number(0, u64)
    (m, n), (grow_first, grow_second) = _MULTIPLIERS[bits], _WEYL[bits]
    for _ in range(constant_int(s, n_rounds, "n_rounds of random numbers")):
        a, b, c, d = (
            s.bit_xor(s.bit_xor(umulhi(s, c, n), b), first),
            s.mul(c, n),
            s.bit_xor(s.bit_xor(umulhi(s, a, m), d), second),
            s.mul(a, m),
        )
        first, second = s.add(first, grow_first), s.add(second, grow_second)
    return a, b, c, d


@builtin("tl.randint4x")
def randint4x(s: Semantics, seed: object, offset: object, n_rounds: object = _ROUNDS) -> Four:
    place = _word(s, offset, "the offset of random numbers")
    low = s.cast(place, u32)
    zero = s.mul(low, 0)
    high = s.cast(s.shift_right(place, 32), u32) if place.scalar.bits > 32 else zero
    return philox(s, seed, low, high, zero, zero, n_rounds)


@builtin("tl.randint")
def randint(s: Semantics, seed: object, offset: object, n_rounds: object = _ROUNDS) -> Tensor:
    return randint4x(s, seed, offset, n_rounds)[0]


@builtin("tl.uint_to_uniform_float")
def uint_to_uniform_float(s: Semantics, x: object) -> Tensor:
    word = _word(s, x, "what tl.uint_to_uniform_float converts")
    bits = word.scalar.bits
    if bits not in _SCALE:
        raise s.builder.error(
            f"tl.uint_to_uniform_float takes integers of 32 or 64 bits, got {describe(word)}"
        )
    signed = s.bitcast(word, i32 if bits == 32 else i64)
    positive = s.where(s.compare("<", signed, 0), s.sub(s.negate(signed), 1), signed)
    return s.mul(positive, _SCALE[bits])


@builtin("tl.rand")
def rand(s: Semantics, seed: object, offset: object, n_rounds: object = _ROUNDS) -> Tensor:
    return uint_to_uniform_float(s, randint(s, seed, offset, n_rounds))


@builtin("tl.rand4x")
def rand4x(s: Semantics, seed: object, offsets: object, n_rounds: object = _ROUNDS) -> Four:
    a, b, c, d = (uint_to_uniform_float(s, word) for word in randint4x(s, seed, offsets, n_rounds))
    return a, b, c, d


#: log of nothing below it is taken, and a turn: as in Triton.
_LEAST, _TURN = 1.0e-7, 6.283185307179586


@builtin("tl.pair_uniform_to_normal")
def pair_uniform_to_normal(s: Semantics, u1: object, u2: object) -> tuple[Tensor, Tensor]:
    """Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958)."""
    first, second = (an_operand(s, u, "tl.pair_uniform_to_normal") for u in (u1, u2))
    above = s.extremum(_LEAST, first, largest=True, propagate_nan=False)
    angle = s.mul(_TURN, second)
    radius = sqrt(s, s.mul(-2.0, log(s, above)))
    return s.mul(radius, cos(s, angle)), s.mul(radius, sin(s, angle))


@builtin("tl.randn")
def randn(s: Semantics, seed: object, offset: object, n_rounds: object = _ROUNDS) -> Tensor:
    a, b, _, _ = randint4x(s, seed, offset, n_rounds)
    return pair_uniform_to_normal(s, uint_to_uniform_float(s, a), uint_to_uniform_float(s, b))[0]


@builtin("tl.randn4x")
def randn4x(s: Semantics, seed: object, offset: object, n_rounds: object = _ROUNDS) -> Four:
    a, b, c, d = rand4x(s, seed, offset, n_rounds)
    return (*pair_uniform_to_normal(s, a, b), *pair_uniform_to_normal(s, c, d))
