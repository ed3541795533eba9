"""Types of the kernels of ``tests/kernels`` that multiply on tensor cores, and what may be assumed of their arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping

STRIDES = ("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn")
_ATTENTION = tuple(
    f"stride_{array}{axis}"
    for array, axes in (("q", "hm"), ("k", "hn"), ("v", "hn"), ("o", "hm"))
    for axis in axes
)


def pointers(dtype: str, out: str) -> dict[str, str]:
    """Of products of pointer tiles."""
    arrays = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}", "c_ptr": f"*{out}"}
    return arrays | dict.fromkeys(("M", "N", "K", *STRIDES), "i32")


def ones(turned: bool) -> set[str]:
    """Strides that are 1: rows of B lie next to each other in memory, or ``turned``, columns."""
    return {"stride_ak", "stride_cn", "stride_bk" if turned else "stride_bn"}


def descriptors(m: int, n: int, k: int) -> dict[str, str]:
    """Of products of descriptors, in bf16."""
    blocks = {"a": (m, k), "b": (k, n), "c": (m, n)}
    arrays = {f"{name}_desc": f"desc<bf16[{rows}, {columns}]>" for name, (rows, columns) in blocks.items()}
    return arrays | dict.fromkeys("MNK", "i32")


def attention() -> dict[str, str]:
    """Of ``flash_forward``, in bf16."""
    arrays = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "o_ptr"), "*bf16")
    return {**arrays, "lse_ptr": "*f32", "scale": "f32", **dict.fromkeys(("length", *_ATTENTION), "i32")}


def assumed(types: Mapping[str, str], ones: Collection[str] = ()) -> dict[str, dict[str, int]]:
    """Everything a multiple of 16, but for what is 1; nothing of floats and descriptors."""
    return {
        name: {"eq": 1} if name in ones else {"div": 16}
        for name, type_ in types.items()
        if type_ != "f32" and not type_.startswith("desc")
    }
