"""Shared memory of one function: where operations put what lanes exchange, and when they must wait first.

An operation writes its buffer, waits at a barrier, reads.  A later operation may write over it only after another barrier; its own
barrier comes too late.  So buffers go where nothing is still being read, if there is room, and else a barrier is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Buffers are spread over this many bytes before a barrier is taken instead.
_ROOM = 8 << 10

_Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was known at a point of the program."""

    read: tuple[_Interval, ...]
    unknown: bool
    placed: int


class SharedMemory:
    """Places buffers and knows which may still be read by slower warps."""

    def __init__(self) -> None:
        #: Bytes in use at most.
        self.size = 0
        self._written: list[_Interval] = []
        #: What is taken until it is released.
        self._held: list[_Interval] = []
        self._read: list[_Interval] = []
        #: Whether buffers may still be read that are not in the list.
        self._unknown = False
        self._placed = 0

    def place(self, size: int, alignment: int) -> tuple[int, bool]:
        """(offset of ``size`` bytes, whether a barrier must come before they are written)."""
        wait = self._unknown
        if wait:
            self._unknown = False
            self._read = []
        offset = self._gap(size, alignment, self._written + self._read + self._held)
        if not wait and self._read and offset + size > max(self.size, _ROOM):
            wait, self._read = True, []
            offset = self._gap(size, alignment, self._written + self._held)
        self._written.append((offset, offset + size))
        self._placed += 1
        self.size = max(self.size, offset + size)
        return offset, wait

    def hold(self, size: int, alignment: int) -> tuple[int, bool]:
        """The same for what lives until it is released, whatever barriers come."""
        offset, wait = self.place(size, alignment)
        self._written.remove((offset, offset + size))
        self._held.append((offset, offset + size))
        return offset, wait

    def release(self, offset: int) -> None:
        """What is held at ``offset`` may still be read by slower warps, but no longer after a barrier."""
        for interval in self._held:
            if interval[0] == offset:
                self._held.remove(interval)
                self._read.append(interval)
                return

    def barrier(self, writing: _Interval | None = None) -> None:
        """What was written is read from now on; what was being read no longer is, but for ``writing`` (start, stop), which was written too."""
        self._read, self._written = [*self._written, *([writing] if writing else [])], []

    def enter_loop(self) -> Snapshot:
        """The head of a loop: slower warps may still read what the end of the last turn left, whatever that will be."""
        before = Snapshot(tuple(self._read), self._unknown, self._placed)
        self._unknown = True
        return before

    def leave(self, before: Snapshot) -> None:
        """After a loop or a branch: as before it if nothing in it used shared memory; else what is being read depends on the way taken."""
        if self._placed == before.placed:
            self._read, self._unknown = list(before.read), before.unknown
        else:
            self._unknown = True

    def enter_branch(self) -> Snapshot:
        """The start of one way through a branch."""
        return Snapshot(tuple(self._read), self._unknown, self._placed)

    @staticmethod
    def _gap(size: int, alignment: int, taken: list[_Interval]) -> int:
        offset = 0
        for start, stop in sorted(taken):
            if offset + size <= start:
                break
            offset = max(offset, -(-stop // alignment) * alignment)
        return offset
