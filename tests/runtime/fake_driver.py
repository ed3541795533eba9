"""A CUDA driver of test devices: keeps contexts, modules and streams, records launches, fails where it is told to.

It has the names and the conventions of ``cuda.bindings.driver``, and its enumerations and handles; nothing runs.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cuda.bindings import driver as real

CUresult = real.CUresult
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass
class FakeDevice:
    """A device: what it says of itself."""

    name: str = "Test GPU"
    capability: tuple[int, int] = (9, 0)


@dataclass
class Launch:
    """One launch, as the driver saw it. ``parameters`` are the bytes of each."""

    symbol: str
    device: int
    context: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    stream: int
    parameters: list[bytes]
    attributes: list[Any] = field(default_factory=list)

    @property
    def integers(self) -> list[int]:
        """The parameters as unsigned integers."""
        return [int.from_bytes(each, "little") for each in self.parameters]


@dataclass
class Encoded:
    """A tensor map that the driver was asked to make: the arguments of ``cuTensorMapEncodeTiled``, arrays as lists."""

    map: int
    dtype: int
    rank: int
    base: int
    shape: list[int]
    strides: list[int]
    box: list[int]
    steps: list[int]
    interleave: int
    swizzle: int
    promotion: int
    fill: int


_ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_uint32,
    *[ctypes.c_void_p] * 5,
    *[ctypes.c_int] * 4,
)


@dataclass
class _Module:
    context: int
    text: str


class FakeDriver:
    """Stands in for the module ``cuda.bindings.driver``."""

    def __init__(self, *devices: FakeDevice, version: int = 12080) -> None:
        self.devices = devices or (FakeDevice(),)
        self.version = version
        self.calls: list[str] = []
        self.launches: list[Launch] = []
        #: Function → the status it gives from now on.
        self.failing: dict[str, Any] = {}
        self.jit_log = b""
        self.capturing: set[int] = set()
        self.attributes: list[tuple[Any, int]] = []
        self.retained: dict[int, int] = {}
        self.modules: dict[int, _Module] = {}
        #: The images that were loaded, in order.
        self.loaded: list[bytes] = []
        self.functions: dict[int, tuple[int, str]] = {}
        self.memory: dict[int, int] = {}
        #: Address → device, for pointers that are asked about.
        self.pointers: dict[int, int] = {}
        self.capture_modes: list[Any] = []
        #: Tensor maps in order; each map's memory is filled with its number here, from 1 on. What the driver says of the next ones.
        self.encoded: list[Encoded] = []
        self.encode_status = 0
        #: What follows the address that ``cuGetProcAddress`` gives.
        self.found_more: tuple[Any, ...] = (real.CUdriverProcAddressQueryResult(0),)
        #: Bytes that memory was filled with.
        self.filled: dict[int, bytes] = {}
        self._encode = _ENCODE(self._encoding)
        self._lock = threading.Lock()
        self._thread = threading.local()
        self._next = 0x1000

    def __getattr__(self, name: str) -> Any:
        # Enumerations, handles and structs are the real ones; a function that is not here must not be called.
        found = getattr(real, name)
        if name.startswith("cu") and not isinstance(found, type):
            raise AttributeError(f"the fake driver has no {name}")
        return found

    # What tests look at and change.

    @property
    def stack(self) -> list[int]:
        """Contexts of this thread, the current one last."""
        if not hasattr(self._thread, "stack"):
            self._thread.stack = []
        return self._thread.stack

    def primary(self, device: int) -> int:
        """The address of a device's primary context."""
        return 0xC000 + device

    def device_of(self, context: int) -> int:
        """The device of a context: its last digits."""
        return context & 0xF

    # The driver.

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        return self._result("cuInit")

    def cuDriverGetVersion(self) -> tuple[Any, ...]:
        return self._result("cuDriverGetVersion", self.version)

    def cuGetErrorString(self, status: Any) -> tuple[Any, ...]:
        return CUresult.CUDA_SUCCESS, f"words for {status.value}".encode()

    def cuDeviceGet(self, ordinal: int) -> tuple[Any, ...]:
        if ordinal >= len(self.devices):
            return CUresult.CUDA_ERROR_INVALID_DEVICE, None
        return self._result("cuDeviceGet", ordinal)

    def cuDeviceGetName(self, length: int, device: int) -> tuple[Any, ...]:
        return self._result("cuDeviceGetName", self.devices[device].name.encode().ljust(length, b"\0"))

    def cuDeviceGetAttribute(self, attribute: Any, device: int) -> tuple[Any, ...]:
        minor = attribute == real.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
        return self._result("cuDeviceGetAttribute", self.devices[device].capability[minor])

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:
        self.retained[device] = self.retained.get(device, 0) + 1
        return self._result("cuDevicePrimaryCtxRetain", real.CUcontext(self.primary(device)))

    def cuCtxGetCurrent(self) -> tuple[Any, ...]:
        return self._result("cuCtxGetCurrent", real.CUcontext(self.stack[-1] if self.stack else 0))

    def cuCtxGetDevice(self) -> tuple[Any, ...]:
        return self._result("cuCtxGetDevice", real.CUdevice(self.device_of(self.stack[-1])))

    def cuCtxPushCurrent(self, context: Any) -> tuple[Any, ...]:
        found = self._result("cuCtxPushCurrent")
        if not found[0]:
            self.stack.append(int(context))
        return found

    def cuCtxPopCurrent(self) -> tuple[Any, ...]:
        return self._result("cuCtxPopCurrent", real.CUcontext(self.stack.pop()))

    def cuCtxSynchronize(self) -> tuple[Any, ...]:
        return self._result("cuCtxSynchronize")

    def cuPointerGetAttribute(self, attribute: Any, address: int) -> tuple[Any, ...]:
        if address not in self.pointers:
            return CUresult.CUDA_ERROR_INVALID_VALUE, None
        return self._result("cuPointerGetAttribute", self.pointers[address])

    def cuStreamIsCapturing(self, stream: int) -> tuple[Any, ...]:
        status = real.CUstreamCaptureStatus
        active = (
            status.CU_STREAM_CAPTURE_STATUS_ACTIVE
            if stream in self.capturing
            else status.CU_STREAM_CAPTURE_STATUS_NONE
        )
        return self._result("cuStreamIsCapturing", active)

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> tuple[Any, ...]:
        before = (
            self.capture_modes[-1]
            if self.capture_modes
            else real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        )
        self.capture_modes.append(mode)
        return self._result("cuThreadExchangeStreamCaptureMode", before)

    def cuModuleLoadDataEx(
        self, image: bytes, count: int, names: list[Any], values: list[Any]
    ) -> tuple[Any, ...]:
        assert image.endswith(b"\0"), "PTX ends in a NUL"
        assert count == len(names) == len(values)
        found = self._result("cuModuleLoadDataEx", self._handle(real.CUmodule))
        if found[0]:
            values[0][: len(self.jit_log)] = self.jit_log
        else:
            self.loaded.append(image.rstrip(b"\0"))
            self.modules[int(found[1])] = _Module(self.stack[-1], image.rstrip(b"\0").decode())
        return found

    def cuModuleGetFunction(self, module: Any, name: bytes) -> tuple[Any, ...]:
        if f".entry {name.decode()}(" not in self.modules[int(module)].text:
            return CUresult.CUDA_ERROR_NOT_FOUND, None
        found = self._result("cuModuleGetFunction", self._handle(real.CUfunction))
        if not found[0]:
            self.functions[int(found[1])] = int(module), name.decode()
        return found

    def cuModuleUnload(self, module: Any) -> tuple[Any, ...]:
        found = self._result("cuModuleUnload")
        if not found[0]:
            assert self.modules[int(module)].context == self.stack[-1], "unloaded in its own context"
            del self.modules[int(module)]
        return found

    def cuFuncSetAttribute(self, function: Any, attribute: Any, value: int) -> tuple[Any, ...]:
        self.attributes.append((attribute, value))
        return self._result("cuFuncSetAttribute")

    def cuFuncLoad(self, function: Any) -> tuple[Any, ...]:
        return self._result("cuFuncLoad")

    def cuMemAllocAsync(self, size: int, stream: int) -> tuple[Any, ...]:
        found = self._result("cuMemAllocAsync", self._handle(real.CUdeviceptr))
        if not found[0]:
            self.memory[int(found[1])] = size
        return found

    def cuMemFreeAsync(self, address: Any, stream: int) -> tuple[Any, ...]:
        del self.memory[int(address)]
        return self._result("cuMemFreeAsync")

    def cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[Any, ...]:
        assert (name, flags) == (b"cuTensorMapEncodeTiled", 0)
        address = ctypes.cast(self._encode, ctypes.c_void_p).value if version <= self.version else 0
        return (*self._result("cuGetProcAddress", address), *self.found_more)

    def _encoding(self, *arguments: Any) -> int:
        map_, dtype, rank, base, shape, strides, box, steps, *rest = arguments

        def listed(kind: Any, address: int, count: int) -> list[int]:
            return list((kind * count).from_address(address))

        assert map_ % 64 == 0
        sizes = listed(ctypes.c_uint64, shape, rank), listed(ctypes.c_uint64, strides, rank - 1)
        sides = listed(ctypes.c_uint32, box, rank), listed(ctypes.c_uint32, steps, rank)
        with self._lock:
            self.encoded.append(Encoded(map_, dtype, rank, base or 0, *sizes, *sides, *rest))
            number = len(self.encoded)
        ctypes.memmove(map_, number.to_bytes(4, "little") * 32, 128)
        return self.encode_status

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:
        found = self._result("cuMemAlloc", self._handle(real.CUdeviceptr))
        if not found[0]:
            self._allowed_in_captures()
            self.memory[int(found[1])] = size
        return found

    def cuMemFree(self, address: Any) -> tuple[Any, ...]:
        del self.memory[int(address)]
        return self._result("cuMemFree")

    def cuStreamCreate(self, flags: Any) -> tuple[Any, ...]:
        self._allowed_in_captures()
        assert flags == real.CUstream_flags.CU_STREAM_NON_BLOCKING, (
            "others wait for streams that are captured"
        )
        return self._result("cuStreamCreate", self._handle(real.CUstream))

    def cuMemsetD8Async(self, address: int, byte: int, count: int, stream: Any) -> tuple[Any, ...]:
        assert int(stream) not in {0, *self.capturing}
        self.filled[int(address)] = bytes([byte]) * count
        return self._result("cuMemsetD8Async")

    def cuStreamSynchronize(self, stream: Any) -> tuple[Any, ...]:
        return self._result("cuStreamSynchronize")

    def cuStreamDestroy(self, stream: Any) -> tuple[Any, ...]:
        return self._result("cuStreamDestroy")

    def _allowed_in_captures(self) -> None:
        """What may not be done while a stream is captured, unless this thread says that it has nothing to do with that."""
        relaxed = real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        assert not self.capturing or self.capture_modes[-1] == relaxed

    def cuLaunchKernel(self, function: Any, *rest: Any) -> tuple[Any, ...]:
        *sizes, shared, stream, parameters, extra = rest
        assert extra == 0
        found = self._result("cuLaunchKernel")
        if not found[0]:
            self._record(function, tuple(sizes[:3]), tuple(sizes[3:]), shared, stream, parameters)
        return found

    def cuLaunchKernelEx(self, config: Any, function: Any, parameters: int, extra: int) -> tuple[Any, ...]:
        assert len(config.attrs) == config.numAttrs
        found = self._result("cuLaunchKernelEx")
        if not found[0]:
            grid = config.gridDimX, config.gridDimY, config.gridDimZ
            block = config.blockDimX, config.blockDimY, config.blockDimZ
            self._record(function, grid, block, config.sharedMemBytes, int(config.hStream), parameters)
            self.launches[-1].attributes = list(config.attrs)
        return found

    def _record(
        self, function: Any, grid: Any, block: Any, shared: int, stream: int, parameters: int
    ) -> None:
        module, symbol = self.functions[int(function)]
        assert module in self.modules, "launched after its module was unloaded"
        context = self.modules[module].context
        assert context == self.stack[-1], "launched in its own context"
        sizes = list(_parameter_sizes(self.modules[module].text, symbol))
        addresses = (ctypes.c_void_p * len(sizes)).from_address(parameters)
        packed = [ctypes.string_at(address, size) for address, size in zip(addresses, sizes, strict=True)]
        self.launches.append(
            Launch(symbol, self.device_of(context), context, grid, block, shared, int(stream), packed)
        )

    def _result(self, name: str, *values: Any) -> tuple[Any, ...]:
        self.calls.append(name)
        if name in self.failing:
            return (self.failing[name], *(None for _ in values))
        return (CUresult.CUDA_SUCCESS, *values)

    def _handle(self, kind: Any) -> Any:
        self._next += 0x10
        return kind(self._next)


def _parameter_sizes(ptx: str, symbol: str) -> Iterator[int]:
    """Bytes of each parameter of an entry, from its PTX."""
    body = ptx.split(f".entry {symbol}(", 1)[1].split(")", 1)[0]
    for match in re.finditer(r"\.param (?:\.align \d+ )?\.[a-z]+(\d+)[^,\[]*(?:\[(\d+)\])?", body):
        yield _BYTES[match[1]] * int(match[2] or 1)
