"""The program's memory on a CPU: a vector at a time where addresses follow each other, else lane by lane; never where a mask is off."""

from __future__ import annotations

from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Access
from teenybuild.compiler.targets.host_arrays import size_of


def _moved(lane: Lane, pointer: str, offset: int) -> str:
    if not offset:
        return pointer
    return lane.op(
        f"getelementptr i8, {lane.of('ptr')} {pointer}, {lane.of('i64')} {lane.splat('i64', str(offset))}"
    )


def _first(lane: Lane, llvm: str, vector: str) -> str:
    return vector if lane.width == 1 else lane.op(f"extractelement {lane.of(llvm)} {vector}, i64 0")


def _all(lane: Lane, mask: str) -> str:
    """Whether a mask holds in every lane."""
    ty = lane.of("i1")
    lane.text.declare(f"i1 @llvm.vector.reduce.and.v{lane.width}i1({ty})")
    return lane.op(f"call i1 @llvm.vector.reduce.and.v{lane.width}i1({ty} {mask})")


def load(
    lane: Lane, access: Access, carrier: str, pointer: str, offset: int, mask: str | None, other: str | None
) -> str:
    """One element a lane, from ``pointer`` + ``offset`` bytes; masked-off lanes get ``other``, or zero."""
    pointer = _moved(lane, pointer, offset)
    fill = other if other is not None else zero(lane, carrier)
    if access.count > 1 or access.run < lane.width:
        return gather(lane, carrier, pointer, mask, fill)
    ty, align = lane.of(carrier), access.element.size
    address = _first(lane, "ptr", pointer)
    if mask is None:
        return lane.op(f"load {ty}, ptr {address}, align {align}")
    text = lane.text
    uniform = access.uniform >= lane.width
    if not uniform and align >= 4:
        return _masked_load(lane, carrier, address, mask, fill)
    # One test for all lanes: the common case is that the mask holds, or fails, everywhere.
    test = _first(lane, "i1", mask) if uniform else _all(lane, mask)
    then, done = text.label(), text.label()
    slow = "" if uniform else text.label()
    before = text.block
    text.do(f"br i1 {test}, label %{then}, label %{slow or done}")
    text.open(then)
    fast = lane.op(f"load {ty}, ptr {address}, align {align}")
    text.do(f"br label %{done}")
    other_value, other_block = fill, before
    if slow:
        text.open(slow)
        other_value = _masked_load(lane, carrier, address, mask, fill)
        other_block = text.block
        text.do(f"br label %{done}")
    text.open(done)
    return lane.op(f"phi {ty} [ {fast}, %{then} ], [ {other_value}, %{other_block} ]")


def _masked_load(lane: Lane, carrier: str, address: str, mask: str, fill: str) -> str:
    ty, masks = lane.of(carrier), lane.of("i1")
    name = f"@llvm.masked.load.{lane.suffix(carrier)}.p0"
    lane.text.declare(f"{ty} {name}(ptr, i32, {masks}, {ty})")
    return lane.op(f"call {ty} {name}(ptr {address}, i32 {size_of(carrier)}, {masks} {mask}, {ty} {fill})")


def store(
    lane: Lane, access: Access, carrier: str, pointer: str, offset: int, mask: str | None, value: str
) -> None:
    """One element a lane, to ``pointer`` + ``offset`` bytes."""
    pointer = _moved(lane, pointer, offset)
    if access.count > 1 or access.run < lane.width:
        scatter(lane, carrier, pointer, mask, value)
        return
    text, ty, align = lane.text, lane.of(carrier), access.element.size
    address = _first(lane, "ptr", pointer)
    if mask is None:
        text.do(f"store {ty} {value}, ptr {address}, align {align}")
        return
    uniform = access.uniform >= lane.width
    if not uniform and align >= 4:
        _masked_store(lane, carrier, address, mask, value)
        return
    test = _first(lane, "i1", mask) if uniform else _all(lane, mask)
    then, done = text.label(), text.label()
    slow = "" if uniform else text.label()
    text.do(f"br i1 {test}, label %{then}, label %{slow or done}")
    text.open(then)
    text.do(f"store {ty} {value}, ptr {address}, align {align}")
    text.do(f"br label %{done}")
    if slow:
        text.open(slow)
        _masked_store(lane, carrier, address, mask, value)
        text.do(f"br label %{done}")
    text.open(done)


def _masked_store(lane: Lane, carrier: str, address: str, mask: str, value: str) -> None:
    ty, masks = lane.of(carrier), lane.of("i1")
    name = f"@llvm.masked.store.{lane.suffix(carrier)}.p0"
    lane.text.declare(f"void {name}({ty}, ptr, i32, {masks})")
    lane.text.do(f"call void {name}({ty} {value}, ptr {address}, i32 {size_of(carrier)}, {masks} {mask})")


def zero(lane: Lane, carrier: str) -> str:
    """Zero in every lane."""
    if lane.width > 1:
        return "zeroinitializer"
    return {"float": "0.0", "double": "0.0", "half": "0.0", "ptr": "null"}.get(carrier, "0")


def gather(lane: Lane, carrier: str, pointer: str, mask: str | None, fill: str | None) -> str:
    """Each lane reads its own address, by a private function of the module: many gathers, one copy of the code."""
    fill = fill if fill is not None else zero(lane, carrier)
    ty, pointers, masks = lane.of(carrier), lane.of("ptr"), lane.of("i1")
    name = f"@teeny.gather.{carrier}.{lane.width}"
    lane.text.define(name, _gather_function(name, carrier, lane.width))
    held = mask if mask is not None else lane.splat("i1", "true")
    return lane.op(f"call {ty} {name}({pointers} {pointer}, {masks} {held}, {ty} {fill})")


def scatter(lane: Lane, carrier: str, pointer: str, mask: str | None, value: str) -> None:
    """Each lane writes its own address, in order."""
    ty, pointers, masks = lane.of(carrier), lane.of("ptr"), lane.of("i1")
    name = f"@teeny.scatter.{carrier}.{lane.width}"
    lane.text.define(name, _scatter_function(name, carrier, lane.width))
    held = mask if mask is not None else lane.splat("i1", "true")
    lane.text.do(f"call void {name}({pointers} {pointer}, {masks} {held}, {ty} {value})")


def count(lane: Lane, pointer: str, mask: str) -> None:
    """Adds one to the i32 at each lane's own address, lane after lane: several may have one address."""
    _, pointers, masks = _types("i32", lane.width)
    name = f"@teeny.count.{lane.width}"
    lane.text.define(name, _count_function(name, lane.width))
    lane.text.do(f"call void {name}({pointers} {pointer}, {masks} {mask})")


def _types(carrier: str, width: int) -> tuple[str, str, str]:
    if width == 1:
        return carrier, "ptr", "i1"
    return f"<{width} x {carrier}>", f"<{width} x ptr>", f"<{width} x i1>"


def _pick(type_: str, vector: str, i: int, name: str, width: int) -> str:
    if width == 1:
        return f"  {name} = freeze {type_} {vector}\n"
    return f"  {name} = extractelement {type_} {vector}, i64 {i}\n"


def _gather_function(name: str, carrier: str, width: int) -> str:
    ty, pointers, masks = _types(carrier, width)
    body = ""
    current, block = "%fill", "entry"
    for i in range(width):
        body += _pick(masks, "%mask", i, f"%m{i}", width)
        body += f"  br i1 %m{i}, label %do{i}, label %next{i}\ndo{i}:\n"
        body += _pick(pointers, "%pointers", i, f"%p{i}", width)
        body += f"  %x{i} = load {carrier}, ptr %p{i}, align {size_of(carrier)}\n"
        if width == 1:
            body += f"  %v{i} = freeze {carrier} %x{i}\n"
        else:
            body += f"  %v{i} = insertelement {ty} {current}, {carrier} %x{i}, i64 {i}\n"
        body += f"  br label %next{i}\nnext{i}:\n"
        body += f"  %r{i} = phi {ty} [ %v{i}, %do{i} ], [ {current}, %{block} ]\n"
        current, block = f"%r{i}", f"next{i}"
    return (
        f"define internal {ty} {name}({pointers} %pointers, {masks} %mask, {ty} %fill) #1 {{\nentry:\n"
        f"{body}  ret {ty} {current}\n}}"
    )


def _scatter_function(name: str, carrier: str, width: int) -> str:
    ty, pointers, masks = _types(carrier, width)
    body = ""
    for i in range(width):
        body += _pick(masks, "%mask", i, f"%m{i}", width)
        body += f"  br i1 %m{i}, label %do{i}, label %next{i}\ndo{i}:\n"
        body += _pick(pointers, "%pointers", i, f"%p{i}", width)
        body += _pick(ty, "%values", i, f"%x{i}", width)
        body += f"  store {carrier} %x{i}, ptr %p{i}, align {size_of(carrier)}\n"
        body += f"  br label %next{i}\nnext{i}:\n"
    return (
        f"define internal void {name}({pointers} %pointers, {masks} %mask, {ty} %values) #1 {{\nentry:\n"
        f"{body}  ret void\n}}"
    )


def _count_function(name: str, width: int) -> str:
    _, pointers, masks = _types("i32", width)
    body = ""
    for i in range(width):
        body += _pick(masks, "%mask", i, f"%m{i}", width)
        body += f"  br i1 %m{i}, label %do{i}, label %next{i}\ndo{i}:\n"
        body += _pick(pointers, "%pointers", i, f"%p{i}", width)
        body += f"  %x{i} = load i32, ptr %p{i}, align 4\n  %y{i} = add i32 %x{i}, 1\n"
        body += f"  store i32 %y{i}, ptr %p{i}, align 4\n  br label %next{i}\nnext{i}:\n"
    return f"define internal void {name}({pointers} %pointers, {masks} %mask) #1 {{\nentry:\n{body}  ret void\n}}"
