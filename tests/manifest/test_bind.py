"""Kernels against their functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from teenybuild.diagnostics import Span, UserError, error
from teenybuild.manifest import BoundManifest, Kernel, Signature, bind, read_manifest

from .sources import signature
from .test_reader import write

_ADD = "def add(x_ptr, n, BLOCK: tl.constexpr, FAST: tl.constexpr = True): pass"


def bound(tmp_path: Path, keys: str, source: str = _ADD, before: str = "") -> BoundManifest:
    path = write(tmp_path, f'edition = 1\n{before}\n[kernel.add]\nsource = "add.py"\n{keys}')
    return bind(read_manifest(path), lambda _: signature(source))


def complaints(tmp_path: Path, keys: str, source: str = _ADD, before: str = "") -> list[str]:
    with pytest.raises(UserError) as caught:
        bound(tmp_path, keys, source, before)
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def test_a_kernel_that_fits(tmp_path: Path) -> None:
    manifest = bound(tmp_path, 'args = { n = "i32", x_ptr = "*f32" }\nconst = { BLOCK = 128 }\n')
    [each] = manifest.kernels
    assert each.parameters == ("x_ptr", "n", "BLOCK", "FAST")
    assert each.defaulted == ("FAST",)
    assert each.kernel.args == manifest.manifest.kernels[0].args
    assert manifest.kernel("add") is each
    assert manifest.kernel("sub") is None


def test_a_parameter_without_annotation_may_be_a_const(tmp_path: Path) -> None:
    [each] = bound(tmp_path, 'args = { x_ptr = "*f32" }\nconst = { n = 4, BLOCK = 128 }\n').kernels
    assert each.kernel.consts == ("n", "BLOCK")


def test_a_default_does_not_make_an_argument_optional(tmp_path: Path) -> None:
    source = "def add(x_ptr, n=1): pass"
    assert complaints(tmp_path, 'args = { x_ptr = "*f32" }\n', source) == [
        "the parameter n of add has no type"
    ]


def test_consts_of_defaults_that_a_function_lacks_are_dropped(tmp_path: Path) -> None:
    before = "[defaults]\nconst = { BLOCK = [64, 128], WIDE = 2 }\n"
    manifest = bound(tmp_path, 'args = { x_ptr = "*f32", n = "i32" }\n', before=before)
    [each] = manifest.kernels
    assert each.kernel.const == {"BLOCK": (64, 128)}
    assert manifest.manifest.kernels[0].const == {"BLOCK": (64, 128), "WIDE": (2,)}


def test_all_kernels_are_compared(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    text = "edition = 1\n" + "".join(
        f'[kernel.{name}]\nsource = "{name}.py"\nconst = {{ X = 1 }}\n' for name in names
    )
    manifest = read_manifest(write(tmp_path, text))

    def lookup(kernel: Kernel) -> Signature:
        if kernel.name == "b":
            raise error("there is no b.py", Span("b.py", 1, 1, 1, 2))
        return signature(f"def {kernel.name}(): pass")

    with pytest.raises(UserError) as caught:
        bind(manifest, lookup)
    messages = [diagnostic.message for diagnostic in caught.value.diagnostics]
    # Those of the manifest in its order, then those of sources.
    assert messages == ["a has no parameter X", "c has no parameter X", "there is no b.py"]


def test_a_misspelled_name_is_said_once(tmp_path: Path) -> None:
    keys = 'args = { x_ptr = "*f32", n = "i32" }\nconst = { BLOK = 128 }\n'
    assert complaints(tmp_path, keys) == ["add has no parameter BLOK"]


def test_names_that_are_far_apart_are_two_mistakes(tmp_path: Path) -> None:
    keys = 'args = { x_ptr = "*f32", n = "i32" }\nconst = { WIDTH = 128 }\n'
    assert complaints(tmp_path, keys) == [
        "the const parameter BLOCK of add has no value",
        "add has no parameter WIDTH",
    ]


def test_the_build_as_a_whole_has_a_bound(tmp_path: Path) -> None:
    values = list(range(1000))
    text = "edition = 1\n"
    text += "".join(
        f'[kernel.k{i}]\nsource = "k.py"\nconst = {{ A = {values}, B = {values[:600]} }}\n' for i in range(2)
    )
    manifest = read_manifest(write(tmp_path, text))
    with pytest.raises(UserError, match="the build has 1,200,000 specialisations"):
        bind(manifest, lambda _: signature("def k(A, B): pass"))


def test_inherited_consts_count_once_they_are_known_to_be_used(tmp_path: Path) -> None:
    values = list(range(1001))
    before = f"[defaults]\nconst = {{ A = {values}, B = {values} }}\n"
    keys = 'args = { x_ptr = "*f32", n = "i32" }\nconst = { BLOCK = 128 }\n'
    assert bound(tmp_path, keys, before=before).kernels[0].kernel.count == 1
    assert complaints(tmp_path, keys, "def add(x_ptr, n, BLOCK, A, B): pass", before) == [
        "kernel add has 1,002,001 specialisations, counted before exclude; at most 1,000,000 are read"
    ]
