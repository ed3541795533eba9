"""Concrete types, types with variables, constants, targets."""

from __future__ import annotations

import math

import pytest

from teenybuild.dtypes import BY_NAME, f16, f32, i32
from teenybuild.manifest.typespec import Variable, parse_spec, substitute
from teenybuild.targets import (
    ARCHITECTURES,
    CPU,
    PTX_VERSIONS,
    TARGETS,
    TargetError,
    parse_target,
    ptx_number,
)
from teenybuild.types import Absent, Assume, Pointer, Scalar, TypeSyntaxError, canonical, parse_type


@pytest.mark.parametrize("dtype", BY_NAME.values(), ids=str)
def test_every_dtype_is_a_type(dtype: object) -> None:
    assert parse_type(str(dtype)) == Scalar(BY_NAME[str(dtype)])
    assert parse_type(f"*{dtype}") == Pointer(BY_NAME[str(dtype)])


@pytest.mark.parametrize("text", ["i32", "*f16", "none", "*i1"])
def test_a_type_is_spelled_as_it_was_read(text: str) -> None:
    assert str(parse_type(text)) == text
    assert hash(parse_type(text)) == hash(parse_type(text))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("(*f32, *flt32)", '"flt32" is not a dtype', "did you mean f32?"),
        ("(*f32)", "a tuple of one entry has a comma after it", 'write "(*f32,)", or "*f32" alone'),
        ("(*f32, i32", 'expected "," or ")", but the type ends', None),
        ("(*f32 i32)", "is not a dtype", None),
        ("(*f32,, i32)", 'expected a type, not ","', None),
        (
            "(*f32, 4)",
            "4 is a value, and entries of a tuple have types",
            "a constant is a parameter of its own, with its values under const",
        ),
        ("*(f32, f32)", "there are no pointers to tuples", None),
        ("*desc<f32[16]>", "there are no pointers to tensor descriptors", None),
        ("desc", '"desc" is not a type', "a tensor descriptor is desc<f16[128, 64]>"),
        ("desc<f16>", 'expected "[" and the sides of a block', None),
        ("desc<f16[]>", "expected a side of the block", None),
        ("desc<f16[128, 64]", 'expected ">", but the type ends', None),
        ("desc<f16[128, 64]>>", 'expected the end, not ">"', None),
        ("desc<*f16[64]>", "a descriptor is of elements of a dtype, not of *f16", None),
        ("desc<f16[128, 48]>", "sides of a block are powers of two, not 48", None),
        ("desc<f16[128, 4]>", "at least 16 bytes, and this has 4 elements of f16", None),
        ("desc<f16[2048, 1024]>", "a block has at most 1,048,576 elements, not 2,097,152", None),
        ("desc<f16[1, 1, 1, 1, 1, 16]>", "a descriptor has up to 5 axes, not 6", None),
        ("desc<f16[BLOCK]>", '"BLOCK" is not a number', None),
        ("**f32", "pointers to pointers", None),
        ("*none", "a pointer to none", 'write "none"'),
        ("fp16", '"fp16" is not a dtype', "did you mean f16?"),
        ("tl.bfloat16", "is not a dtype", "did you mean bf16?"),
        ("*float64", "is not a dtype", "did you mean f64?"),
        ("bool", "is not a dtype", "did you mean i1?"),
        ("", "a type is missing", None),
        ("*", "a dtype is missing after *", None),
        ("* f32", "is not a dtype", "did you mean f32?"),
        ("D", "is not a dtype", None),
    ],
)
def test_what_is_no_type(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(TypeSyntaxError) as caught:
        parse_type(text)
    assert message in caught.value.message
    if hint is not None:
        assert caught.value.hint == hint


def test_variables() -> None:
    assert parse_spec("*D") == Variable("D", pointer=True)
    assert str(parse_spec("*D")) == "*D"
    assert str(parse_spec("D2_X")) == "D2_X"
    assert parse_spec("i32") == Scalar(i32)
    bindings = {"D": Scalar(f16), "N": Absent(), "P": Pointer(f32)}
    assert substitute(parse_spec("*D"), bindings) == Pointer(f16)
    assert substitute(parse_spec("D"), bindings) == Scalar(f16)
    assert substitute(parse_spec("*N"), bindings) == Absent()
    assert substitute(parse_spec("P"), bindings) == Pointer(f32)
    assert substitute(parse_spec("none"), bindings) == Absent()
    with pytest.raises(TypeSyntaxError, match="pointer to a pointer"):
        substitute(parse_spec("*P"), bindings)


def test_constants_that_differ_have_different_texts() -> None:
    values = [1, 1.0, True, "1", None, "none", "true", 0.0, -0.0, math.nan, math.inf, -math.inf, "é", '"']
    assert len({canonical(value) for value in values}) == len(values)
    assert canonical(-math.nan) == canonical(math.nan)


def test_assumptions_are_spelled_plainly() -> None:
    assert str(Assume("div", 16)) == "div=16"
    assert str(Assume("eq", 1)) == "eq=1"


def test_targets() -> None:
    assert parse_target("cpu") is CPU
    assert parse_target("sm_90a").arch == ARCHITECTURES["sm_90a"]
    assert parse_target("sm_90a").machine == "gpu"
    host = parse_target("cpu:sm_90a")
    assert (host.machine, host.arch, str(host)) == ("cpu", ARCHITECTURES["sm_90a"], "cpu:sm_90a")
    assert len(TARGETS) == 1 + 2 * len(ARCHITECTURES)


@pytest.mark.parametrize("arch", ARCHITECTURES.values(), ids=lambda arch: arch.name)
def test_rows_of_architectures_agree_with_their_names(arch: object) -> None:
    row = ARCHITECTURES[getattr(arch, "name", "")]
    assert row.name == f"sm_{row.sm}{row.suffix}"
    assert row.ptx in PTX_VERSIONS


def test_versions_are_in_order() -> None:
    assert sorted(PTX_VERSIONS, key=ptx_number) == list(PTX_VERSIONS)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("sm90", "sm_90"),
        ("SM_90A", "sm_90a"),
        ("sm_95", "sm_90"),
        ("sm_101a", "sm_100a"),
        ("cuda:90", "sm_90"),
        ("cpu:sm90a", "cpu:sm_90a"),
        ("cpy", "cpu"),
        ("sm_9O", "sm_90"),
        ("", None),
        ("sm_20", None),
        ("amdgpu", None),
    ],
)
def test_a_wrong_target_names_the_near_one(text: str, meant: str | None) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(text)
    assert caught.value.hint == f"did you mean {meant}?" if meant else "targets are cpu" in caught.value.hint
