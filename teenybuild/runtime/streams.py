"""Streams of every framework as the address the driver knows."""

from __future__ import annotations

from typing import Any

from .errors import StreamError
from .explain import shown


def stream_handle(stream: Any, kernel: str) -> int:
    """The address of a stream. 0 is the legacy default stream.

    Takes an address, a stream of PyTorch (``cuda_stream``), CuPy (``ptr``), anything with ``__cuda_stream__``, and ``CUstream``.
    Raises :class:`StreamError`.
    """
    if isinstance(stream, int):
        if stream >= 0 and not isinstance(stream, bool):
            return stream
    elif hasattr(stream, "cuda_stream"):
        return int(stream.cuda_stream)
    elif hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    elif hasattr(stream, "ptr"):
        return int(stream.ptr)
    elif type(stream).__module__.startswith("cuda."):
        # CUstream and cudaStream_t are their own address as an integer; of other things that are integers, each is a mistake.
        return int(stream)
    expected = "expected an address or a stream of PyTorch, CuPy or cuda-bindings"
    raise StreamError(f"{kernel}: stream: {expected}, got {shown(stream)}", kernel, "stream")
