"""An artifact on a GPU, launched as ``docs/contracts.md`` says, with nothing of the loader but tensor maps: what language tests run there."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import device as gpu
import numpy as np

from teenybuild.api import Artifact
from teenybuild.runtime.driver import driver
from teenybuild.runtime.index import tensor_maps
from teenybuild.runtime.tensor_maps import TensorMaps
from tests.support.run import Array, argument_bits, passed

#: The driver asks to be told where a launch has more dynamic shared memory than this.
SHARED_UNASKED = 48 << 10
#: After the arguments: the grid's extents, and the address of scratch memory.
TAIL = struct.Struct("=iii4xQ")
TAIL_OFFSETS = (0, 4, 8, 16)


@dataclass(frozen=True)
class GpuProgram:
    """A compiled kernel, ready to run on a device."""

    device: gpu.Device
    artifact: Artifact

    def __call__(self, arguments: Mapping[str, object], grid: Sequence[int] = (1,)) -> dict[str, Array]:
        """Runs the grid; the arrays as they are afterwards."""
        call, abi = self.device.call, self.artifact.abi
        arguments = {n: v for name, value in arguments.items() for n, v in passed(name, value)}
        assert abi["scratch_bytes"] == 0, "no kernel of these tests has scratch memory"
        held = {n: self.device.array(v) for n, v in arguments.items() if isinstance(v, np.ndarray)}
        extents = ([*grid, 1, 1])[:3]
        start = -(-abi["packed_size"] // 8) * 8
        packed = bytearray(start + TAIL.size)
        given: list[int] = []
        for row in abi["arguments"]:
            array = held.get(row["name"])
            value = arguments[row["name"]]
            bits = argument_bits(value, row) if array is None else array.address
            given.append(bits)
            packed[row["offset"] : row["offset"] + row["size"]] = bits.to_bytes(row["size"], "little")
        TAIL.pack_into(packed, start, *extents, 0)
        buffer = (ctypes.c_char * len(packed)).from_buffer(packed)
        offsets = [*(row["offset"] for row in abi["arguments"]), *(start + at for at in TAIL_OFFSETS)]
        names = [row["name"] for row in abi["arguments"]]
        said = tensor_maps(abi["launch"]["tensor_maps"])
        maps = TensorMaps(driver(), said, names, "test").made(given) if said else []
        places = [*(ctypes.addressof(buffer) + at for at in offsets), *(each.address for each in maps)]
        addresses = (ctypes.c_void_p * len(places))(*places)
        module = call("cuModuleLoadData", self.artifact.path.read_bytes() + b"\0")
        try:
            function = call("cuModuleGetFunction", module, abi["symbol"].encode())
            launch = abi["launch"]
            if launch["shared_bytes"] > SHARED_UNASKED:
                call("cuFuncSetAttribute", function, self.device.largest_shared, launch["shared_bytes"])
            call(
                "cuLaunchKernel", function, *extents, launch["threads"], 1, 1, launch["shared_bytes"], 0,
                ctypes.addressof(addresses), 0,
            )  # fmt: skip
            self.device.wait()
        finally:
            call("cuModuleUnload", module)
        return {name: array.numpy() for name, array in held.items()}
