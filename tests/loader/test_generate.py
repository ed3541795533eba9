"""The generated package: its sources, what is in it, and that nothing else is."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from teenybuild.loader import Image, generate, write_package
from teenybuild.loader.package import RESERVED

from .conftest import Package
from .goldens import DIRECTORY, SOURCES, generated
from .manifests import VECTOR_ADD, ZOO
from .packages import built, imported, install


@pytest.mark.parametrize("name", SOURCES)
def test_golden(name: str) -> None:
    """``python -m tests.loader.update`` rewrites them."""
    assert generated(name) == (DIRECTORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [VECTOR_ADD, ZOO])
def test_formatted_and_without_complaints(text: str, tmp_path: Path) -> None:
    directory = install(text, tmp_path)
    ours = [str(directory / "__init__.py"), str(directory / "_kernels")]
    ruff = [sys.executable, "-m", "ruff"]
    rules = "--select=E,F,W,I,UP,B,SIM,C4,PIE,RET,RUF"
    for command in (
        ["format", "--isolated", "--check", "--diff", *ours],
        ["check", "--isolated", "--ignore=E501", rules, *ours],
        ["check", "--isolated", "--select=E4,E7,E9,F", str(directory)],
    ):
        done = subprocess.run([*ruff, *command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_has_what_it_needs_and_no_more() -> None:
    files = built(VECTOR_ADD).files
    ids = [each.id for each in built(VECTOR_ADD).plan.specialisations]
    assert {path for path in files if not path.startswith("_runtime/")} == {
        "__init__.py",
        "py.typed",
        "_kernels/__init__.py",
        "_kernels/vector_add.py",
        "_kernels/vector_add.json",
        *(f"_artifacts/cpu/{id}.so" for id in ids),
        *(f"_artifacts/sm_90a/{id}.ptx" for id in ids),
    }
    for path in (Path(__file__).parents[2] / "teenybuild" / "runtime").glob("*.py"):
        assert files[f"_runtime/{path.name}"] == path.read_bytes()


def test_the_same_bytes_everywhere(tmp_path: Path) -> None:
    """Another directory, another time, other hash seeds: not a byte differs."""
    program = """
import hashlib, sys
from tests.loader.manifests import VECTOR_ADD, ZOO
from tests.loader.packages import built
digest = hashlib.sha256()
for text in (VECTOR_ADD, ZOO):
    for path, data in sorted(built(text).files.items()):
        digest.update(path.encode() + b"\\0" + data)
print(digest.hexdigest())
"""
    digest = hashlib.sha256()
    for text in (VECTOR_ADD, ZOO):
        for path, data in sorted(built(text).files.items()):
            digest.update(path.encode() + b"\0" + data)
    root = str(Path(__file__).parents[2])
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root, "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert done.stdout.strip() == digest.hexdigest()


def test_no_paths_of_this_machine() -> None:
    for text in (VECTOR_ADD, ZOO):
        for path, data in built(text).files.items():
            assert str(Path.home()).encode() not in data or str(Path.home()) == "/", path
            assert os.fsencode(Path(__file__).parents[2]) not in data, path


def without(missing: dict[str, set[str]]) -> dict[str, bytes]:
    """The package of vector_add where some specialisations failed for some targets."""
    found = built(VECTOR_ADD)
    images = {
        target: {id: image for id, image in each.items() if id not in missing.get(target, set())}
        for target, each in found.images.items()
    }
    return generate(found.plan.manifest, found.plan.specialisations, images)


def rows(files: dict[str, bytes]) -> dict[str, list[str]]:
    """Id → targets."""
    found = json.loads(files["_kernels/vector_add.json"])["specialisations"]
    return {each["id"]: list(each["artifacts"]) for each in found}


def test_what_failed_to_build_is_not_there() -> None:
    found = rows(without({"sm_90a": {"vector_add__f16__128"}, "cpu": {"vector_add__f32__128__a"}}))
    assert found["vector_add__f16__128"] == ["cpu"]
    # The extra variant is nothing without the plain one.
    assert found["vector_add__f16__128__a"] == ["cpu"]
    assert found["vector_add__f32__128__a"] == ["sm_90a"]
    assert found["vector_add__f32__128"] == ["sm_90a", "cpu"]


def test_a_plain_variant_that_failed_takes_the_extra_one_along() -> None:
    ids = {"vector_add__f16__128"}
    found = rows(without({"sm_90a": ids, "cpu": ids}))
    assert "vector_add__f16__128" not in found
    assert "vector_add__f16__128__a" not in found
    assert len(found) == 8


def test_a_kernel_of_which_nothing_was_built_is_not_there() -> None:
    everything = {each.id for each in built(VECTOR_ADD).plan.specialisations}
    files = without({"sm_90a": everything, "cpu": everything})
    assert not [path for path in files if "vector_add" in path]
    assert "vector_add" not in files["__init__.py"].decode()


def test_calls_of_a_package_that_is_not_whole(tmp_path: Path) -> None:
    ids = {"vector_add__f32__128", "vector_add__f32__1024"}
    write_package(without({"cpu": ids}), tmp_path / "partly")
    with imported(tmp_path / "partly") as kernels:
        a = np.zeros(8, np.float32)
        with pytest.raises(
            kernels.LaunchError, match="a_ptr: expected an array of f16 or bf16, got an array of f32"
        ):
            kernels.vector_add(a, a, a, 8)
        half = np.ones(8, np.float16)
        kernels.vector_add(half, half, half, 8)
        assert half.tolist() == [2] * 8


@pytest.mark.parametrize("name", RESERVED)
def test_names_that_the_package_has_itself(name: str) -> None:
    text = f'[kernel.{name}]\nsource = "elementwise.py"\nfunction = "where_am_i"\nargs = {{ out_ptr = "*i32" }}\n'
    with pytest.raises(
        UserError, match=f'the kernel name "{name}" is one that the generated package has itself'
    ):
        built(text).files  # noqa: B018  # a property that does the work


@pytest.mark.parametrize(
    "name",
    [
        "annotations",
        "kernel",
        "Array",
        "Kernel",
        "Literal",
        "json",
        "typing",
        "init",
        "class_",
        "Any",
        "import_module",
    ],
)
def test_other_names_are_free(name: str, package: Package) -> None:
    kernels = package(
        f'[kernel.{name}]\nsource = "elementwise.py"\nfunction = "where_am_i"\nargs = {{ out_ptr = "*i32" }}\ngrid = [1]\n'
    )
    out = np.full(6, -1, np.int32)
    getattr(kernels, name)(out)
    assert out.tolist() == [0, 0, 0, 1, 1, 1]


def test_what_the_root_module_has(package: Package) -> None:
    kernels = package(VECTOR_ADD)
    assert kernels.__all__ == ["LaunchError", "vector_add"]
    assert set(kernels.__all__) <= set(dir(kernels))
    assert kernels.__abi_version__ == 2
    assert kernels.__targets__ == ("sm_90a", "cpu")
    assert kernels.vector_add is kernels.vector_add
    with pytest.raises(AttributeError, match="has no attribute 'vectoradd'"):
        _ = kernels.vectoradd


def test_what_a_kernel_says_of_itself(package: Package) -> None:
    add = package(VECTOR_ADD).vector_add
    assert add.__name__ == "vector_add"
    assert repr(add) == "<kernel vector_add>"
    assert add.parameters == ("a_ptr", "b_ptr", "out_ptr", "n_elements")
    assert add.dtypes == {"D": ("f32", "f16", "bf16")}
    assert add.consts == {"BLOCK_SIZE": (128, 1024)}
    assert add.options == {
        "num_warps": (4,),
        "num_stages": (3,),
        "maxnreg": (None,),
        "enable_fp_fusion": (True,),
        "launch_cooperative_grid": (False,),
    }
    assert add.targets == ("sm_90a", "cpu")
    assert [each.id for each in add.specialisations] == [
        each.id for each in built(VECTOR_ADD).plan.specialisations
    ]
    assert "a_ptr       *D   read; its address is a multiple of 16" in add.__doc__
    spec = add.spec(D="f16", BLOCK_SIZE=1024, auto=True)
    assert spec is add.specialisations[7]
    assert repr(spec) == "<specialisation vector_add__f16__1024__a for sm_90a, cpu>"
    assert (spec.kernel, spec.id, spec.auto) == ("vector_add", "vector_add__f16__1024__a", True)
    assert spec.types == {"a_ptr": "*f16", "b_ptr": "*f16", "out_ptr": "*f16", "n_elements": "i32"}
    assert (spec.dtypes, spec.consts) == ({"D": "f16"}, {"BLOCK_SIZE": 1024})
    assert spec.options["num_warps"] == 4


def test_copies_of_a_kernel_are_the_kernel(package: Package) -> None:
    add = package(VECTOR_ADD).vector_add
    a = np.ones(4, np.float32)
    add(a, a, a, 4)
    assert copy.deepcopy(add) is copy.copy(add) is pickle.loads(pickle.dumps(add)) is add


def test_targets_of_the_command_line() -> None:
    """A build may be for a target that the manifest does not name."""
    found = built(VECTOR_ADD)
    images = {"cpu:sm_80": found.images["cpu"], "cpu": found.images["cpu"]}
    files = generate(found.plan.manifest, found.plan.specialisations, images)
    assert b'__targets__ = ("cpu", "cpu:sm_80")' in files["__init__.py"]
    assert "_artifacts/cpu-sm_80/vector_add__f32__128.so" in files


def test_many_specialisations_make_one_signature(tmp_path: Path) -> None:
    """A thousand of them, in a module that reads at once: the rest is in the index."""
    found = built(VECTOR_ADD)
    text = VECTOR_ADD.replace("[128, 1024]", str([*range(1, 401)])).replace(
        'exclude = [{ D = "bf16", BLOCK_SIZE = 128 }]', ""
    )
    from teenybuild.expand import plan
    from teenybuild.sources import Sources

    from .packages import workspace

    path = workspace() / "many.toml"
    path.write_text(f"edition = 1\n{text}")
    many = plan(path, lambda manifest: Sources.of(manifest, workspace()).signature)
    image = found.images["cpu"]["vector_add__f32__128"]
    files = generate(
        many.manifest, many.specialisations, {"cpu": {each.id: image for each in many.specialisations}}
    )
    assert len(many.specialisations) == 2400
    module = files["_kernels/vector_add.py"].decode()
    assert "@overload" not in module
    assert "… and 2376 more, see specialisations" in module
    write_package(
        {path: data for path, data in files.items() if not path.startswith("_artifacts/")}, tmp_path / "many"
    )
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--isolated",
        "--check",
        str(tmp_path / "many" / "_kernels"),
    ]
    subprocess.run(ruff, check=True, timeout=60)
    with imported(tmp_path / "many") as kernels:
        assert len(kernels.vector_add.specialisations) == 2400
        assert kernels.vector_add.spec(D="bf16", BLOCK_SIZE=400).id == "vector_add__bf16__400"


SHIFTED = """
[kernel.shifted]
source = "elementwise.py"
args = { x_ptr = "*f32", out_ptr = "*f32", n = "i32" }
const = { BY = [0.5, -0.0, 0.0, 2, 1e30], TWICE = [true, false], MODE = ["up", "down"], BLOCK = 64 }
options = { maxnreg = [32, 64], enable_fp_fusion = [true, false] }
grid = ["cdiv(n, BLOCK)"]
targets = ["cpu"]
"""


def test_constants_of_every_kind(package: Package) -> None:
    """Floats, bools, strings, and options that are not set by default: in signatures, and in calls."""
    module = built(SHIFTED).files["_kernels/shifted.py"].decode()
    assert "BY: Literal[2] | float = 0.5," in module
    assert "TWICE: Literal[True, False] = True," in module
    assert 'MODE: Literal["up", "down"] = "up",' in module
    assert "maxnreg: Literal[32, 64] = 32," in module
    assert "enable_fp_fusion: Literal[True, False] = True," in module
    shifted = package(SHIFTED).shifted
    x = np.arange(5, dtype=np.float32)
    for by in (0.5, 0.0, 2, np.int32(2), np.float32(0.5), np.float64(0.5)):
        for twice in (True, False, np.bool_(False)):
            for mode in ("up", "down"):
                out = np.full(5, np.nan, np.float32)
                shifted(x, out, 5, BY=by, TWICE=twice, MODE=mode, enable_fp_fusion=False)
                expected = x + float(by) * (2 if twice else 1)
                assert np.array_equal(out, -expected if mode == "down" else expected)
    assert [shifted.spec(BY=by).consts["BY"] for by in (0.5, 2, 1e30, np.float64(1e30))] == [
        0.5,
        2,
        1e30,
        1e30,
    ]
    assert str(shifted.spec(BY=-0.0).consts["BY"]) == "-0.0"
    assert str(shifted.spec(BY=0.0).consts["BY"]) == "0.0"
    # A whole number is a float too, where no constant is that number itself.
    assert shifted.spec(BY=0).consts["BY"] == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"BY": True},
        {"BY": 2.0},
        {"BY": "0.5"},
        {"TWICE": 1},
        {"MODE": "sideways"},
        {"MODE": []},
        {"maxnreg": None},
    ],
)
def test_constants_that_are_others(package: Package, wrong: dict[str, Any]) -> None:
    kernels = package(SHIFTED)
    x = np.zeros(5, np.float32)
    [name] = wrong
    with pytest.raises(kernels.LaunchError, match=f"shifted: {name}: expected .*, got "):
        kernels.shifted(x, x, 5, **wrong)
    with pytest.raises(kernels.LaunchError, match=f"shifted: {name}: expected .*, got "):
        kernels.shifted.spec(**wrong)


def test_an_artifact_of_another_abi() -> None:
    found = built(VECTOR_ADD)
    images = {
        "cpu": {
            id: Image({**image.description, "abi_version": 1}, image.files)
            for id, image in found.images["cpu"].items()
        }
    }
    with pytest.raises(Exception, match="an artifact has ABI version 1, and the loader 2"):
        generate(found.plan.manifest, found.plan.specialisations, images)


def edited(directory: Path, change: Any) -> None:
    """Changes the index of vector_add."""
    path = directory / "_kernels" / "vector_add.json"
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda data: data.replace(b'"abi_version": 2', b'"abi_version": 1'),
            "it has ABI version 1, and this runtime calls version 2",
        ),
        (lambda data: data[: len(data) // 2], "the package is damaged"),
        (lambda data: data.replace(b'"parameters"', b'"perimeters"'), "the package is damaged: KeyError"),
        (lambda data: b"", "the package is damaged"),
        (lambda data: b"[]", "the package is damaged"),
        (lambda data: data.replace(b'"layout": 0', b'"layout": 99'), "the package is damaged"),
    ],
)
def test_an_index_that_is_not_right(tmp_path: Path, change: Any, message: str) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    edited(directory, change)
    with imported(directory) as kernels, pytest.raises(kernels.LaunchError, match=re.escape(message)):
        kernels.vector_add()
