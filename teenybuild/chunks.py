"""Chunks: which specialisations one edge of the build compiles.

Starting a process costs as much as compiling twenty small elementwise kernels, so an edge carries up to :data:`CHUNK` specialisations of one kernel and
target.  A member stays in its chunk for as long as it exists; new ones go to the end.  So adding a dtype touches the last chunk, not all.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Specialisations an edge carries at most.
CHUNK = 64


def assign(ids: Sequence[str], before: Sequence[Sequence[str]]) -> list[list[str]]:
    """Chunks of ``ids``; ``before`` are the chunks of the last build, which members keep. Chunks left empty go at the end only.

    Within a chunk members are in the order of ``ids``.
    """
    place = {member: n for n, chunk in enumerate(before) for member in chunk}
    chunks: list[list[str]] = [[] for _ in before]
    new: list[str] = []
    for member in ids:
        if member in place:
            chunks[place[member]].append(member)
        else:
            new.append(member)
    for member in new:
        if not chunks or len(chunks[-1]) >= CHUNK:
            chunks.append([])
        chunks[-1].append(member)
    rank = {member: i for i, member in enumerate(ids)}
    for chunk in chunks:
        chunk.sort(key=rank.__getitem__)
    while chunks and not chunks[-1]:
        chunks.pop()
    return chunks
