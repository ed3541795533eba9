"""Running a specialisation on the host: its shared object, called for ranges of programs."""

from __future__ import annotations

import _ctypes
import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .artifacts import read_artifact
from .errors import GridError, PackageError
from .grids import Extents
from .index import Artifact
from .layout import Layout
from .pool import run_programs
from .processor import processor_problem

if TYPE_CHECKING:
    from .reports import LaunchedArray

#: Of ``{symbol}_range``. The packed arguments are read, and only until the call returns: the bytes of a Python object will do.
_RANGE_ARGUMENTS = (
    ctypes.c_char_p,
    *(ctypes.c_int64,) * 2,
    *(ctypes.c_int32,) * 3,
    ctypes.c_void_p,
)
#: Scratch begins on a cache line, which the widest vector load wants too.
_SCRATCH_ALIGNMENT = 64
_TOGETHER = (
    "{}: a cooperative launch with grid {} has programs that may wait for each other, and the host runs one after the other: "
    "launch one program, or on a GPU"
)


class HostProgram:
    """A loaded artifact. It stays loaded for as long as something refers to it, a launch in another thread included."""

    def __init__(self, artifact: Artifact, layout: Layout, isa: str, kernel: str) -> None:
        """Raises :class:`PackageError` where the file is not what was generated, or is for another processor."""
        self._handle = 0
        problem, path = processor_problem(isa), artifact.path("so")
        if problem is not None:
            raise PackageError(f"{kernel}: {path} cannot run here: {problem}", kernel)
        read_artifact(artifact, "so", kernel)
        try:
            self._handle = _ctypes.dlopen(_spelled(artifact), os.RTLD_LOCAL | os.RTLD_NOW)
            function = ctypes.CDLL(None, handle=self._handle)[f"{artifact.symbol}_range"]
        except (OSError, AttributeError) as wrong:
            raise PackageError(f"{kernel}: {path} cannot be loaded: {wrong}", kernel) from None
        function.restype = None
        function.argtypes = (
            _RANGE_ARGUMENTS
            if not artifact.reports
            else (*_RANGE_ARGUMENTS, ctypes.c_void_p, ctypes.c_void_p)
        )
        self._function = function
        self._reports, self._kernel = artifact.reports, kernel
        self._pack = layout.pack
        self._scratch_bytes = artifact.scratch_bytes
        self._alone = artifact.cooperative
        self._shared = False

    def __del__(self, close: Callable[[int], None] = _ctypes.dlclose) -> None:
        # As a default, the function is there even when the interpreter has taken this module apart.
        if self._handle:
            close(self._handle)

    def run(
        self, values: Sequence[Any], grid: Extents, arrays: Sequence[LaunchedArray] | None = None
    ) -> None:
        """Runs every program of the grid once, and returns when all are done.

        ``arrays`` are what code that checks its accesses may touch. Raises what packing raises, :class:`KernelError`, and :class:`GridError`
        where several programs would have to run at once.
        """
        packed, function, size = self._pack(*values), self._function, self._scratch_bytes
        x, y, z = grid
        if self._alone and x * y * z > 1:
            raise GridError(_TOGETHER.format(self._kernel, grid), self._kernel, "grid")
        if self._reports:
            self._run_reporting(packed, grid, arrays)
            return

        def run(first: int, last: int) -> None:
            function(packed, first, last, x, y, z, _scratch(size) if size else None)

        self._shared = run_programs(run, x * y * z, self._shared)

    def _run_reporting(self, packed: bytes, grid: Extents, arrays: Sequence[LaunchedArray] | None) -> None:
        """One program after the other: what they tell is told in their order."""
        from .reports import Reports

        reports, size = Reports(self._reports, self._kernel, arrays), self._scratch_bytes
        x, y, z = grid
        scratch = _scratch(size) if size else None
        self._function(packed, 0, x * y * z, x, y, z, scratch, reports.callback, reports.table)
        reports.check()


def _spelled(artifact: Artifact) -> str:
    """The artifact's path, written so that it differs with the contents.

    The dynamic loader takes a path that it has seen for the library it has, and would run the old code of a package that was built
    again while this process ran. ``/./`` for a one and ``//`` for a zero leave the path what it is.
    """
    bits = f"{int(artifact.sha256['so'][:6], 16):024b}"
    slashes = "".join("./" if bit == "1" else "/" for bit in bits)
    path = artifact.path("so").absolute()
    return f"{path.parent}/{slashes}{path.name}"


class _Thread(threading.local):
    """Scratch of this thread, kept from launch to launch."""

    size = 0
    address = 0
    buffer: ctypes.Array[ctypes.c_char] | None = None


_thread = _Thread()


def _scratch(size: int) -> int:
    """The address of at least ``size`` bytes that no other thread uses."""
    if _thread.size < size:
        buffer = ctypes.create_string_buffer(size + _SCRATCH_ALIGNMENT)
        start = ctypes.addressof(buffer)
        _thread.address = start + -start % _SCRATCH_ALIGNMENT
        _thread.size, _thread.buffer = size, buffer
    return _thread.address
