"""A set of combinations as few products: what overloads are made of."""

from __future__ import annotations

from collections.abc import Sequence

#: For each dimension, the values that a product has there.
Box = tuple[tuple[str, ...], ...]


def cover(rows: Sequence[tuple[str, ...]]) -> list[Box]:
    """Disjoint products that have exactly the combinations ``rows`` between them, in the order they first appear.

    One where every combination is there, one for each where nothing goes together. Values of the first dimension with the same rest
    share a product; that is not always the fewest, and needs no search.
    """
    if not rows or not rows[0]:
        return [()] if rows else []
    rests: dict[str, dict[tuple[str, ...], None]] = {}
    for first, *rest in rows:
        rests.setdefault(first, {})[tuple(rest)] = None
    sharing: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for value, rest in rests.items():
        sharing.setdefault(frozenset(rest), []).append(value)
    return [(tuple(values), *box) for values in sharing.values() for box in cover(list(rests[values[0]]))]
