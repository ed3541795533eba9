"""How much each element of a window counts."""

import teenybuild.language as tl

SIDE: tl.constexpr = 0.25
CENTRE: tl.constexpr = 1.0 - 2.0 * SIDE
