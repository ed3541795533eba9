"""The C interface of a host artifact: one function for one program, one for a range of them."""

from __future__ import annotations

from collections.abc import Sequence

from teenybuild.compiler.ir.types import Element, Pointer
from teenybuild.dtypes import i1

_COORDINATES = ("program_x", "program_y", "program_z")
_GRID = ("grid_x", "grid_y", "grid_z")


def c_type(kind: Element) -> str:
    """The LLVM type an argument has in the interface: a bool is a byte, a narrow float its bits."""
    if isinstance(kind, Pointer):
        return "ptr"
    if kind == i1:
        return "i8"
    return "i16" if kind.llvm == "half" else kind.llvm


def entry_parameters(kinds: Sequence[Element], reports: bool) -> str:
    """Parameters of the function that runs one program; where it reports, what it needs for that comes last."""
    arguments = [f"{c_type(k)} %a{i}" for i, k in enumerate(kinds)]
    numbers = [f"i32 %{n}" for n in (*_COORDINATES, *_GRID)]
    return ", ".join(
        [*arguments, *numbers, "ptr %scratch", *(["ptr %report, ptr %arrays"] if reports else [])]
    )


def packed_offsets(kinds: Sequence[Element]) -> tuple[list[int], int]:
    """(offset of each argument, size of the whole) in a C struct of the arguments."""
    offsets: list[int] = []
    at, widest = 0, 1
    for kind in kinds:
        size = 8 if isinstance(kind, Pointer) else kind.size
        at = -(-at // size) * size
        offsets.append(at)
        at += size
        widest = max(widest, size)
    return offsets, -(-at // widest) * widest


def range_function(symbol: str, kinds: Sequence[Element], reports: bool) -> str:
    """The function that runs programs ``first`` to ``last - 1`` in order, x fastest."""
    offsets, _ = packed_offsets(kinds)
    loads: list[str] = []
    for i, (kind, offset) in enumerate(zip(kinds, offsets, strict=True)):
        loads.append(f"  %p{i} = getelementptr i8, ptr %arguments, i64 {offset}")
        loads.append(f"  %a{i} = load {c_type(kind)}, ptr %p{i}")
    arguments = [f"{c_type(k)} %a{i}" for i, k in enumerate(kinds)]
    last = "ptr %scratch, ptr %report, ptr %arrays" if reports else "ptr %scratch"
    call = ", ".join([*arguments, "i32 %x", "i32 %y", "i32 %z", *(f"i32 %{n}" for n in _GRID), last])
    grid = ", ".join(f"i32 %{n}" for n in _GRID)
    body = "\n".join(loads)
    return f"""define dso_local void @{symbol}_range(ptr %arguments, i64 %first, i64 %last, {grid}, {last}) #0 {{
entry:
{body}
  %gx = zext i32 %grid_x to i64
  %gy = zext i32 %grid_y to i64
  %some = icmp ult i64 %first, %last
  br i1 %some, label %turn, label %done
turn:
  %n = phi i64 [ %first, %entry ], [ %next, %turn ]
  %row = udiv i64 %n, %gx
  %x64 = urem i64 %n, %gx
  %z64 = udiv i64 %row, %gy
  %y64 = urem i64 %row, %gy
  %x = trunc i64 %x64 to i32
  %y = trunc i64 %y64 to i32
  %z = trunc i64 %z64 to i32
  call void @{symbol}({call})
  %next = add i64 %n, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %turn, label %done
done:
  ret void
}}
"""
