"""Shared memory of one function: where operations put what lanes exchange, and when they must wait first.

An operation writes its buffer, waits at a barrier, reads.  A later operation may write over it only after another barrier; its own
barrier comes too late.  So buffers go where nothing is still being read, if there is room, and else a barrier is asked for.
"""

from __future__ import annotations

#: Buffers are spread over this much before a barrier is taken instead.
_ROOM = 8 << 10


class SharedMemory:
    """Places buffers and knows which may still be read by slower warps."""

    def __init__(self) -> None:
        #: Bytes in use at most.
        self.size = 0
        self._written: list[tuple[int, int]] = []
        self._read: list[tuple[int, int]] = []
        self._unknown = False

    def place(self, size: int, alignment: int) -> tuple[int, bool]:
        """(offset of ``size`` bytes, whether a barrier must come before they are written)."""
        wait = self._unknown
        if wait:
            self._unknown = False
            self._read = []
        offset = self._gap(size, alignment, self._written + self._read)
        if not wait and self._read and offset + size > max(self.size, _ROOM):
            wait, self._read = True, []
            offset = self._gap(size, alignment, self._written)
        self._written.append((offset, offset + size))
        self.size = max(self.size, offset + size)
        return offset, wait

    def barrier(self) -> None:
        """What was written is read from now on; what was being read no longer is."""
        self._read, self._written = self._written, []

    def forget(self) -> None:
        """Control flow joins or turns round here: what other warps still read is not known, if anything ever was."""
        if self.size:
            self._unknown = True
        else:
            self._unknown = False
        self._read = []

    @staticmethod
    def _gap(size: int, alignment: int, taken: list[tuple[int, int]]) -> int:
        offset = 0
        for start, stop in sorted(taken):
            if offset + size <= start:
                break
            offset = max(offset, -(-stop // alignment) * alignment)
        return offset
