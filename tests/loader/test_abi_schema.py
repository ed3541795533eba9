"""Descriptions of artifacts: their JSON Schema, against real ones, and one of them whole."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import teenybuild
from teenybuild.dtypes import BY_NAME
from teenybuild.loader import Image

from .manifests import VECTOR_ADD, ZOO
from .packages import built

SCHEMA = json.loads((Path(teenybuild.__file__).parent / "schemas" / "abi.schema.json").read_text())
GOLDEN = Path(__file__).parents[1] / "golden" / "loader" / "abi.json"

VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def images() -> dict[str, Image]:
    """Every artifact of the test packages, by a name for it."""
    return {
        f"{target}/{id}": image
        for text in (VECTOR_ADD, ZOO)
        for target, each in built(text).images.items()
        for id, image in each.items()
    }


def settled(image: Image) -> dict[str, Any]:
    """A description without what changes with every change of the compiler."""
    found = json.loads(json.dumps(dict(image.description)))
    found["key"] = "…"
    found["versions"] |= {"compiler": "…", "llvmlite": "…"}
    found["files"] = dict.fromkeys(found["files"], "…")
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["argument"]["properties"]["dtype"]["enum"] == list(BY_NAME)


def test_real_descriptions_are_valid() -> None:
    for name, image in images().items():
        problems = [error.message for error in VALIDATOR.iter_errors(image.description)]
        assert not problems, name


def test_golden() -> None:
    """``python -m tests.loader.update`` rewrites it."""
    image = images()["sm_90a/vector_add__f32__128__a"]
    assert json.dumps(settled(image), indent=1, ensure_ascii=False) + "\n" == GOLDEN.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("abi_version",), 1),
        (("symbol",), "vector_add"),
        (("target",), "cpu"),
        (("target",), "cpu:x86_64"),
        (("key",), "abc"),
        (("launch", "threads"), 0),
        (("launch", "cluster"), [1, 1]),
        (("launch", "stages"), 3),
        (("options", "num_warps"), 3),
        (("files", "exe"), "0" * 64),
        (("arguments", 0, "dtype"), "f33"),
        (("arguments", 0, "size"), 4),
        (("arguments", 0, "access"), ""),
        (("arguments", 3, "access"), "read"),
        (("arguments", 0, "assume"), {"div": 16, "eq": 1}),
        (("versions", "ptx"), "eight"),
        (("more",), True),
    ],
)
def test_other_descriptions_are_not(path: tuple[Any, ...], value: Any) -> None:
    description: Any = copy.deepcopy(dict(images()["sm_90a/vector_add__f32__128"].description))
    inner = description
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert not VALIDATOR.is_valid(description)


@pytest.mark.parametrize("name", SCHEMA["required"])
def test_everything_is_required(name: str) -> None:
    description = dict(images()["cpu/vector_add__f32__128"].description)
    assert VALIDATOR.is_valid(description)
    del description[name]
    assert not VALIDATOR.is_valid(description)
