"""What a build writes and prints is what was reviewed. ``python -m tests.build.update`` rewrites it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import teenybuild
from tests.build.goldens import CONTENTS, DIRECTORY, contents
from tests.build.project import TestProject

SCHEMAS = Path(teenybuild.__file__).parent / "schemas"


@pytest.mark.parametrize("name", CONTENTS)
def test_golden(name: str, built: TestProject) -> None:
    built.build()
    assert contents(name, built) == (DIRECTORY / name).read_text(encoding="utf-8")


def test_nothing_is_golden_that_no_test_reads() -> None:
    assert {p.name for p in DIRECTORY.iterdir()} == set(CONTENTS)


def test_stamps_and_entries_follow_their_schemas(built: TestProject) -> None:
    checked = 0
    for schema, paths in (
        ("stamp.schema.json", (built.build_dir / "stamps").glob("*/*.json")),
        ("abi.schema.json", (built.directory / "cache").glob("*.json")),
    ):
        validator = jsonschema.Draft202012Validator(
            json.loads((SCHEMAS / schema).read_text(encoding="utf-8"))
        )
        for path in paths:
            validator.validate(json.loads(path.read_bytes()))
            checked += 1
    assert checked == 4 + 10
