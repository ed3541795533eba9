"""One schema: what is made from it is not stale, and what reads it reads all of it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from teenybuild.manifest import docs
from teenybuild.manifest.draft import Draft, _Reader
from teenybuild.manifest.schema import BUILD, DEFAULT_OPTIONS, DEFAULTS, KERNEL, OPTIONS, SECTIONS, TOP

from .corpus import FAILING, GOLDEN, cases

_ROOT = Path(__file__).parents[2]


def test_nothing_made_from_the_schema_is_stale() -> None:
    assert docs.main(["--check"]) is None


def test_staleness_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "_ROOT", tmp_path)
    monkeypatch.setattr(docs, "REFERENCE", tmp_path / "docs" / "manifest.md")
    monkeypatch.setattr(docs, "JSON_SCHEMA", tmp_path / "schemas" / "manifest.schema.json")
    assert "docs/manifest.md" in (docs.main(["--check"]) or "")
    assert docs.main([]) is None
    assert docs.main(["--check"]) is None
    docs.REFERENCE.write_text("something else", encoding="utf-8")
    assert (
        docs.main(["--check"])
        == "differs from the schema: docs/manifest.md; run: python -m teenybuild.manifest.docs"
    )


def test_the_command_checks() -> None:
    command = [sys.executable, "-m", "teenybuild.manifest.docs", "--check"]
    assert subprocess.run(command, cwd=_ROOT, check=False).returncode == 0
    command[-1] = "--chekc"
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "expected nothing or --check, not --chekc\n")


def test_every_key_of_a_kernel_is_read() -> None:
    """A key of the schema has a method that reads it and a field that holds it, or is left to a later version."""
    left = {row.name for row in KERNEL.rows if not hasattr(_Reader, f"read_{row.name}")}
    assert left == {"backward"}
    fields = set(Draft.__dataclass_fields__)
    assert {row.name for row in KERNEL.rows} - left - {"import"} <= fields


def test_keys_that_make_a_kernel_itself_have_no_default() -> None:
    missing = set(KERNEL.names()) - set(DEFAULTS.names())
    assert missing == {"source", "function", "args", "grid", "configs", "backward"}


def test_defaults_of_options_are_documented() -> None:
    documented = {row.name: row.default for row in OPTIONS.rows}
    assert documented == {
        "num_warps": "4",
        "num_stages": "3",
        "maxnreg": "none",
        "enable_fp_fusion": "true",
        "launch_cooperative_grid": "false",
    }
    assert list(documented) == list(DEFAULT_OPTIONS)


def test_every_row_is_documented() -> None:
    text = docs.reference()
    for section in SECTIONS:
        for row in section.record.rows:
            assert row.doc.endswith("."), row.name
            assert f"| `{row.name}` |" in text


def test_hints_know_where_keys_belong() -> None:
    assert KERNEL.elsewhere["num_warps"] == "num_warps belongs in options = { … }"
    assert TOP.elsewhere["targets"] == "targets belongs in [build]"
    assert BUILD.elsewhere["edition"] == "edition belongs at the top, before the first [table]"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(docs.JSON_SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("case", cases(GOLDEN), ids=lambda case: case.name)
def test_right_manifests_fit_the_json_schema(case: Path, validator: jsonschema.Draft202012Validator) -> None:
    document = tomllib.loads((case / "kernels.toml").read_text(encoding="utf-8"))
    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize(
    "name",
    [
        "top_unknown_table",
        "build_unknown_key",
        "kernel_misplaced_keys",
        "const_values",
        "options_values",
        "assume_values",
        "configs_values",
        "grid_entries",
        "edition_missing",
        "kernel_source_missing",
        "exclude_lists",
        "build_targets_empty",
    ],
)
def test_wrong_shapes_do_not(name: str, validator: jsonschema.Draft202012Validator) -> None:
    text = (FAILING / name / "kernels.toml").read_text(encoding="utf-8")
    assert not validator.is_valid(json.loads(json.dumps(tomllib.loads(text), default=str)))
