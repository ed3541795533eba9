"""What is loaded of one specialisation: on the host, and in each context of a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .errors import DriverError, UnloadedError
from .grids import Extents
from .locks import LOADING

if TYPE_CHECKING:
    from .gpu import GpuProgram
    from .host import HostProgram
    from .index import Artifact
    from .layout import Layout
    from .reports import LaunchedArray


class Loaded:
    """The programs of one specialisation. Launches look them up without a lock; whoever finds none takes it, and loads.

    ``unload`` may be undone with ``load_…`` only: a launch after it is a mistake that is told.
    """

    __slots__ = ("_current", "_gpu", "_host", "_isa", "_layout", "_name", "_unloaded")

    def __init__(self, name: str, layout: Layout, isa: str) -> None:
        self._name, self._layout, self._isa = name, layout, isa
        self._host: dict[str, HostProgram] = {}
        self._gpu: dict[tuple[str, int], GpuProgram] = {}
        self._unloaded = False
        #: cuCtxGetCurrent, once something is on a GPU.
        self._current: Any = None

    def run_on_host(
        self,
        artifact: Artifact,
        values: Sequence[Any],
        grid: Extents,
        arrays: Sequence[LaunchedArray] | None = None,
    ) -> None:
        """Runs every program of the grid; returns when all are done. Raises :class:`LaunchError`, and what packing raises."""
        program = self._host.get(artifact.target)
        if program is None:
            self._refuse_unloaded()
            with LOADING:
                self._refuse_unloaded()
                program = self._on_host(artifact)
        program.run(values, grid, arrays)

    def run_on_gpu(
        self, artifact: Artifact, ordinal: int, values: Sequence[Any], grid: Extents, stream: int
    ) -> None:
        """Queues one launch on a device. Raises :class:`LaunchError`, and what packing raises."""
        # The usual case: a context of the device is current, and has the artifact.
        if self._gpu:
            status, context = self._current()
            program = None if status else self._gpu.get((artifact.target, int(context)))
            if program is not None and program.ordinal == ordinal:
                program.run(values, grid, stream)
                return
        from .contexts import on_device

        with on_device(ordinal, self._name):
            self._here(artifact, ordinal, stream).run(values, grid, stream)

    def load_on_host(self, artifact: Artifact) -> HostProgram:
        """Loads the artifact if it is not. Raises :class:`PackageError`."""
        with LOADING:
            self._unloaded = False
            return self._on_host(artifact)

    def _on_host(self, artifact: Artifact) -> HostProgram:
        from .host import HostProgram

        program = self._host.get(artifact.target)
        if program is None:
            program = self._host[artifact.target] = HostProgram(artifact, self._layout, self._isa, self._name)
        return program

    def load_on_gpu(self, artifact: Artifact, ordinal: int) -> None:
        """Loads the artifact on a device if it is not. Raises :class:`PackageError` and :class:`DriverError`."""
        from .contexts import on_device

        with LOADING, on_device(ordinal, self._name):
            self._unloaded = False
            self._here(artifact, ordinal, None)

    def unload(self) -> None:
        """Takes it off the host and off every device, after waiting for those. Raises :class:`DriverError`."""
        with LOADING:
            programs = list(self._gpu.values())
            self._host.clear()
            self._gpu.clear()
            self._unloaded = True
            for program in programs:
                program.unload()

    def _refuse_unloaded(self) -> None:
        if self._unloaded:
            raise UnloadedError(f"{self._name}: it was unloaded; load() it to use it again", self._name)

    def _here(self, artifact: Artifact, ordinal: int, stream: int | None) -> GpuProgram:
        """The program of the current context, which is one of the device's. ``stream`` is where it is about to be launched."""
        from .contexts import during_captures
        from .driver import check, driver
        from .gpu import GpuProgram

        cuda = driver()
        key = (
            artifact.target,
            int(check(cuda, cuda.cuCtxGetCurrent(), "ask for the current context", self._name)),
        )
        with LOADING:
            program = self._gpu.get(key)
            if program is None:
                if stream is not None:
                    self._refuse_unloaded()
                    self._refuse_captured(cuda, stream, ordinal)
                self._current = cuda.cuCtxGetCurrent
                with during_captures(self._name):
                    program = self._gpu[key] = GpuProgram(artifact, self._layout, ordinal, self._name)
            return program

    def _refuse_captured(self, cuda: Any, stream: int, ordinal: int) -> None:
        """Loading is no work for a stream: it would be forbidden, or missing from the graph."""
        status, capturing = cuda.cuStreamIsCapturing(stream)
        implicit = status == cuda.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
        if implicit or (not status and capturing != cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE):
            message = "its code is not loaded, and cannot be while a CUDA graph is captured"
            hint = f"\nhint: load(device={ordinal}) it before the capture"
            raise DriverError(
                f"{self._name}: {message}{hint}", self._name, None, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
            )
