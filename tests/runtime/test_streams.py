"""Streams of every framework."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver

from teenybuild.runtime.errors import StreamError
from teenybuild.runtime.streams import stream_handle


class Protocol:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 77


class OldStream:
    """A handle of cuda-bindings from before it spoke the protocol."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __int__(self) -> int:
        return self.handle


OldStream.__module__ = "cuda.bindings.driver"


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (0, 0),
        (2**47, 2**47),
        (SimpleNamespace(cuda_stream=77), 77),
        (SimpleNamespace(ptr=78), 78),
        (Protocol(), 77),
        (driver.CUstream(79), 79),
        (OldStream(80), 80),
    ],
)
def test_streams(stream: Any, handle: int) -> None:
    found = stream_handle(stream, "k")
    assert (found, type(found)) == (handle, int)


@pytest.mark.parametrize("stream", [-1, True, 1.0, "0", np.int64(3), object, (), np.zeros(2)])
def test_what_is_no_stream(stream: Any) -> None:
    with pytest.raises(
        StreamError, match="k: stream: expected an address or a stream of PyTorch, CuPy or cuda-bindings, got"
    ):
        stream_handle(stream, "k")
