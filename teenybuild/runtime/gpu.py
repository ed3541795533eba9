"""Running a specialisation on a GPU: its module in one context, and launches of it."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .artifacts import read_artifact
from .contexts import current
from .driver import check, device, driver, driver_version, failure, newest_ptx
from .grids import Extents
from .images import code_for
from .index import Artifact
from .layout import Layout

if TYPE_CHECKING:
    from .tensor_maps import TensorMaps

#: Bytes of the driver's log that are kept for the message where it cannot translate PTX.
_LOG = 8192
#: A launch has so much dynamic shared memory without the function having been told.
_SHARED_UNASKED = 48 << 10
#: Blocks of a cluster that every device takes (CUDA programming guide, thread block clusters).
_PORTABLE_CLUSTER = 8
#: The first driver with cuFuncLoad.
_HAS_FUNC_LOAD = (12, 4)
#: After the arguments come the grid's extents and the address of scratch memory.
_TAIL = struct.Struct("=iii4xQ")
_TAIL_OFFSETS = (0, 4, 8, 16)


class _Frame:
    """The memory of one launch: the packed parameters, and the array of their addresses that the driver reads.

    Made once and used again; a launch takes one for itself, so that threads never share it.
    """

    __slots__ = ("addresses", "buffer", "config", "parameters")

    def __init__(self, offsets: Sequence[int], size: int, maps: int, config: Any) -> None:
        """``maps``: how many addresses of tensor maps come last, which each launch has its own."""
        self.buffer = ctypes.create_string_buffer(size)
        start = ctypes.addressof(self.buffer)
        self.addresses = (ctypes.c_void_p * (len(offsets) + maps))(*(start + offset for offset in offsets))
        self.parameters = ctypes.addressof(self.addresses)
        self.config = config


class GpuProgram:
    """An artifact loaded into the context that was current when it was made. ``ordinal`` is the device of that context."""

    def __init__(self, artifact: Artifact, layout: Layout, ordinal: int, kernel: str) -> None:
        """Raises :class:`PackageError` where the file is not what was generated, :class:`DriverError` where the driver refuses it."""
        cuda = driver()
        self.ordinal = ordinal
        self._cuda, self._kernel, self._artifact = cuda, kernel, artifact
        self._context = check(cuda, cuda.cuCtxGetCurrent(), "ask for the current context", kernel)
        extension = code_for(artifact.target, artifact.sha256, device(ordinal), kernel)
        self._path = artifact.path(extension)
        self._module = _load(cuda, artifact, extension, kernel)
        finding = f"find {artifact.symbol} in {self._path}"
        self._function = check(
            cuda, cuda.cuModuleGetFunction(self._module, artifact.symbol.encode()), finding, kernel
        )
        _ready(cuda, self._function, artifact, f"prepare {artifact.symbol} of {self._path}", kernel)
        # The tail starts on 8 bytes, as the address in it must.
        start = -(-layout.size // 8) * 8
        self._pack_into = struct.Struct(f"{layout.format}{start - layout.size}x{_TAIL.format[1:]}").pack_into
        self._offsets = (*layout.offsets, *(start + offset for offset in _TAIL_OFFSETS))
        self._size = start + _TAIL.size
        self._threads, self._shared = artifact.threads, artifact.shared_bytes
        self._resident = _Resident(cuda, self._function, artifact, layout) if artifact.residency else None
        self._attributes = _attributes(cuda, artifact)
        self._maps = _tensor_maps(cuda, artifact, layout, kernel)
        self._frames: list[_Frame] = []

    def run(self, values: Sequence[Any], grid: Extents, stream: int) -> None:
        """Queues one launch. The program's context is current. Raises :class:`DriverError`, and what packing raises."""
        scratch = self._artifact.scratch_bytes
        if scratch:
            self._with_scratch(values, grid, stream, scratch)
        else:
            self._launch(values, grid, stream, 0)

    def unload(self) -> None:
        """Waits for the device and takes the code off it. No launch of it may be under way in another thread."""
        cuda = self._cuda
        with current(self._context, self._kernel):
            check(cuda, cuda.cuCtxSynchronize(), "wait for the device", self._kernel)
            if self._maps is not None:
                self._maps.release()
            check(cuda, cuda.cuModuleUnload(self._module), f"unload {self._path}", self._kernel)

    def _launch(self, values: Sequence[Any], grid: Extents, stream: int, scratch: int) -> None:
        # Taking from and adding to a list are atomic: a lock would cost as much as all of this.
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._frame()
        x, y, z = grid
        self._pack_into(frame.buffer, 0, *values, x, y, z, scratch)
        # Named, so that they live until the driver has taken them.
        maps = self._maps.made(values) if self._maps is not None else ()
        for i, each in enumerate(maps, len(self._offsets)):
            frame.addresses[i] = each.address
        shared = self._shared if self._resident is None else self._resident.shared(values)
        if frame.config is None:
            (status,) = self._cuda.cuLaunchKernel(
                self._function, x, y, z, self._threads, 1, 1, shared, stream, frame.parameters, 0
            )
        else:
            config = frame.config
            config.sharedMemBytes = shared
            config.gridDimX, config.gridDimY, config.gridDimZ = grid
            config.hStream = stream
            (status,) = self._cuda.cuLaunchKernelEx(config, self._function, frame.parameters, 0)
        self._frames.append(frame)
        if status:
            more = f" with grid {grid}, {self._threads} threads and {shared} bytes of shared memory"
            raise failure(self._cuda, status, f"launch on CUDA device {self.ordinal}", self._kernel, more)

    def _with_scratch(self, values: Sequence[Any], grid: Extents, stream: int, size: int) -> None:
        """A launch between an allocation and its release, all in the order of the stream."""
        cuda, (x, y, z) = self._cuda, grid
        total = size * x * y * z
        memory = check(
            cuda, cuda.cuMemAllocAsync(total, stream), f"allocate {total} bytes of scratch", self._kernel
        )
        try:
            self._launch(values, grid, stream, int(memory))
        finally:
            check(cuda, cuda.cuMemFreeAsync(memory, stream), "free scratch", self._kernel)

    def _frame(self) -> _Frame:
        config = None
        if self._attributes:
            config = self._cuda.CUlaunchConfig()
            config.blockDimX, config.blockDimY, config.blockDimZ = self._threads, 1, 1
            config.attrs = self._attributes
            config.numAttrs = len(self._attributes)
        return _Frame(self._offsets, self._size, len(self._artifact.tensor_maps), config)


class _Resident:
    """Shared memory for each launch of a kernel that streams memory, so that the right number of blocks runs at once.

    All of it is advice: whatever the driver makes of it, the kernel does the same.
    """

    __slots__ = ("_apart", "_attribute", "_cuda", "_function", "_held", "_place", "_residency")

    def __init__(self, cuda: Any, function: Any, artifact: Artifact, layout: Layout) -> None:
        residency = artifact.residency
        assert residency is not None
        names = [layout.arguments[place].name for place in layout.order]
        self._cuda, self._function, self._residency = cuda, function, residency
        self._place = names.index(residency.argument) if residency.argument is not None else -1
        self._apart = artifact.shared_bytes
        self._attribute = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
        self._held = False

    def shared(self, values: Sequence[Any]) -> int:
        """Bytes a block for a launch with these arguments; the function's carve-out is set to go with them."""
        size, _, of, wanted, sizes = self._residency
        if self._place >= 0 and values[self._place] < of:
            size = size * values[self._place] // of
        blocks = -(-wanted // size) if size > 0 else wanted
        held = blocks <= len(sizes) + 1
        if held != self._held:
            self._cuda.cuFuncSetAttribute(self._function, self._attribute, 0 if held else -1)
            self._held = held
        return sizes[min(blocks, len(sizes)) - 1] if held else self._apart


def _attributes(cuda: Any, artifact: Artifact) -> list[Any]:
    """What a launch has to say beyond its sizes; empty for most."""
    found: list[Any] = []
    if artifact.cluster != (1, 1, 1):
        cluster = cuda.CUlaunchAttribute()
        cluster.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z = artifact.cluster
        found.append(cluster)
    if artifact.cooperative:
        cooperative = cuda.CUlaunchAttribute()
        cooperative.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        cooperative.value.cooperative = 1
        found.append(cooperative)
    if artifact.programmatic:
        early = cuda.CUlaunchAttribute()
        early.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        early.value.programmaticStreamSerializationAllowed = 1
        found.append(early)
    return found


def _tensor_maps(cuda: Any, artifact: Artifact, layout: Layout, kernel: str) -> TensorMaps | None:
    if not artifact.tensor_maps:
        return None
    from .tensor_maps import TensorMaps  # few kernels have any

    names = [layout.arguments[place].name for place in layout.order]
    return TensorMaps(cuda, artifact.tensor_maps, names, kernel)


def _load(cuda: Any, artifact: Artifact, extension: str, kernel: str) -> Any:
    """The module of an artifact. PTX is translated by the driver, which keeps the result in its own cache."""
    code = read_artifact(artifact, extension, kernel)
    log = bytearray(_LOG)
    options = cuda.CUjit_option
    names = [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    status, module = cuda.cuModuleLoadDataEx(code + b"\0", len(names), names, [log, len(log)])
    if status:
        said = log.split(b"\0")[0].decode(errors="replace").strip()
        more = f"\n{said}" if said else ""
        if status == cuda.CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
            more += _too_new(artifact.ptx)
        raise failure(cuda, status, f"load {artifact.path(extension)}", kernel, more)
    return module


def _too_new(ptx: str) -> str:
    version = driver_version()
    newest = newest_ptx(version)
    reads = f" reads PTX up to {newest}" if newest else " does not read it"
    wanted = newest or "an older version"
    return (
        f"\nit is PTX {ptx}, and the driver, for CUDA {version[0]}.{version[1]},{reads}"
        f'\nhint: update the driver, or build with ptx = "{wanted}" under [build] (or TEENYBUILD_PTX_VERSION={wanted})'
    )


def _ready(cuda: Any, function: Any, artifact: Artifact, doing: str, kernel: str) -> None:
    """Everything that would otherwise happen at the first launch, where a stream may be captured."""
    attributes = cuda.CUfunction_attribute
    if artifact.shared_bytes > _SHARED_UNASKED:
        asked = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check(cuda, cuda.cuFuncSetAttribute(function, asked, artifact.shared_bytes), doing, kernel)
    if math.prod(artifact.cluster) > _PORTABLE_CLUSTER:
        allowed = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        check(cuda, cuda.cuFuncSetAttribute(function, allowed, 1), doing, kernel)
    if driver_version() >= _HAS_FUNC_LOAD:
        check(cuda, cuda.cuFuncLoad(function), doing, kernel)
