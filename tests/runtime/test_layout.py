"""Packed arguments, against the structs of ctypes."""

from __future__ import annotations

import ctypes
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from teenybuild.runtime.dtypes import DTYPES
from teenybuild.runtime.layout import Layout
from teenybuild.runtime.views import READERS

C_TYPES: dict[str, Any] = {
    "i1": ctypes.c_uint8,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "f16": ctypes.c_uint16,
    "bf16": ctypes.c_uint16,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


def value_of(name: str) -> st.SearchStrategy[Any]:
    row = DTYPES[name]
    if row.kind == "bool":
        return st.booleans()
    if row.kind == "float":
        return st.integers(-1000, 1000).map(lambda n: n / 8)
    return st.integers(row.lowest, row.highest)


@st.composite
def arguments(draw: st.DrawFn) -> list[tuple[str, Any]]:
    names = draw(st.lists(st.sampled_from(list(C_TYPES)), max_size=12))
    return [(name, draw(value_of(name))) for name in names]


def laid_out(names: list[str]) -> tuple[Any, list[dict[str, Any]]]:
    struct: Any = type(
        "Packed", (ctypes.Structure,), {"_fields_": [(f"p{i}", C_TYPES[n]) for i, n in enumerate(names)]}
    )
    said = [
        {
            "name": f"p{i}",
            "kind": "scalar",
            "dtype": name,
            "offset": getattr(struct, f"p{i}").offset,
            "size": DTYPES[name].size,
            "assume": {},
            "access": "",
        }
        for i, name in enumerate(names)
    ]
    return struct, said


@given(arguments())
def test_packs_as_c_does(found: list[tuple[str, Any]]) -> None:
    struct, said = laid_out([name for name, _ in found])
    layout = Layout(
        [each["name"] for each in said], [each["dtype"] for each in said], said, ctypes.sizeof(struct)
    )
    packed = layout.pack(*layout.values([READERS[type(value)](value) for _, value in found]))
    assert len(packed) == ctypes.sizeof(struct)
    back = struct.from_buffer_copy(packed)
    for place, (name, value) in enumerate(found):
        bits = getattr(back, f"p{place}")
        if name in ("f16", "bf16"):
            bits = _from_bits(name, bits)
        assert bits == (_rounded(name, value) if DTYPES[name].kind == "float" else value)


def _from_bits(name: str, bits: int) -> float:
    import ml_dtypes
    import numpy as np

    return float(np.uint16(bits).view(np.float16 if name == "f16" else ml_dtypes.bfloat16))


def _rounded(name: str, value: float) -> float:
    import ml_dtypes
    import numpy as np

    return float(
        {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}[name](value)
    )
