"""``teenybuild explain``: which part of a key moved."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from tests.build.project import TestProject

ID = "scale__f32__128"


def explained(project: TestProject, id_: str = ID) -> dict[str, Any]:
    """What is said of each target."""
    done = project.run("explain", id_, "--json")
    assert done.returncode == 0, done.stderr
    return {each["target"]: each for each in json.loads(done.stdout)["targets"]}


def states(project: TestProject, id_: str = ID) -> set[object]:
    return {each["state"] for each in explained(project, id_).values()}


def test_nothing_was_built(fresh: TestProject) -> None:
    assert states(fresh) == {"new"}


def test_nothing_has_moved(built: TestProject) -> None:
    built.replace("kernels/helpers.py", "return x + 1", "return x + 2  # nobody calls it")
    assert states(built) == {"built"}
    (line, key) = built.run("explain", ID, "--target", "sm_90a").stdout.splitlines()
    assert line == f"{ID} for sm_90a up to date: no part of its key has moved since the last build"
    assert key.startswith("  key: ")


#: An edit, and the parts of the key of ``scale__f32__128`` for sm_90a that it moves: part, name, then, now.
EDITS: dict[str, tuple[Callable[[TestProject], None], list[tuple[str, str, str, str]]]] = {
    "an assumption": (
        lambda p: p.replace("kernels.toml", 'outputs = ["out_ptr"]', 'outputs = ["out_ptr"]\nassume = { n = { div = 16 } }'),
        [("assume", "n", "", "div=16")],
    ),
    "a PTX version": (
        lambda p: p.replace("kernels.toml", 'cache = "cache"', 'cache = "cache"\nptx = "8.4"'),
        [("ptx", "", "8.0", "8.4")],
    ),
    "line information": (
        lambda p: p.replace("kernels.toml", 'cache = "cache"', 'cache = "cache"\nlineinfo = true'),
        [("lineinfo", "", "0", "1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_what_the_manifest_says(built: TestProject, name: str) -> None:
    edit, wanted = EDITS[name]
    edit(built)
    said = explained(built)["sm_90a"]
    assert said["state"] == "moved"
    assert said["moved"] == [dict(zip(("part", "name", "then", "now"), row, strict=True)) for row in wanted]
    assert said["diff"] == []
    assert said["then"] != said["now"]


def test_an_option_makes_another_id(built: TestProject) -> None:
    outputs = 'outputs = ["out_ptr"]'
    built.replace("kernels.toml", outputs, f"{outputs}\noptions = {{ num_stages = 4 }}")
    assert states(built, f"{ID}__s4") == {"new"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("kernels/helpers.py", "return x * factor", "return x / factor"),
        ("kernels/scale.py", "FACTOR: tl.constexpr = 2.0", "FACTOR: tl.constexpr = 3.0"),
        ("kernels/scale.py", "mask = offsets < n", "mask = offsets <= n"),
    ],
)
def test_what_the_source_says(built: TestProject, file: str, old: str, new: str) -> None:
    """A helper in another file, a constant, the kernel itself: the lines that have changed are shown, as they are canonically written."""
    built.replace(file, old, new)
    for said in explained(built).values():
        assert said["state"] == "moved"
        (moved,) = said["moved"]
        assert (moved["part"], moved["name"]) == ("source", "")
        changed = [line for line in said["diff"] if line[0] in "+-" and line[:3] not in ("---", "+++")]
        assert [line[0] for line in changed] == ["-", "+"]
    text = built.run("explain", ID, "--target", "cpu").stdout
    assert f"{ID} for cpu would be compiled: its key has moved since the last build" in text
    assert "\n    +" in text
    # Another kernel of the file does not care.
    assert states(built, "total__256") == {"built"}


def test_what_the_cache_has(built: TestProject) -> None:
    """An edit that was built once and taken back; a cache that was emptied."""
    built.replace("kernels/helpers.py", "return x * factor", "return x / factor")
    built.build()
    built.replace("kernels/helpers.py", "return x / factor", "return x * factor")
    assert states(built) == {"elsewhere"}
    shutil.rmtree(built.directory / "build")
    assert states(built) == {"known"}
    built.build()
    shutil.rmtree(built.directory / "cache")
    assert states(built) == {"gone"}


def test_an_old_entry_that_has_gone(built: TestProject) -> None:
    """Then there is nothing to compare the source with; that it moved is still known. And of a build that wrote down no fields, that alone."""
    built.replace("kernels/helpers.py", "return x * factor", "return x / factor")
    shutil.rmtree(built.directory / "cache")
    said = explained(built)["cpu"]
    assert [m["part"] for m in said["moved"]] == ["source"]
    assert said["diff"] == []
    shutil.rmtree(built.directory / "build" / "keys")
    said = explained(built)["cpu"]
    assert (said["state"], said["moved"]) == ("moved", [])


def test_an_id_that_is_not_there(built: TestProject) -> None:
    done = built.run("explain", "scale__f32__127")
    assert done.returncode == 1
    assert "there is no specialisation scale__f32__127" in done.stderr
    assert "did you mean scale__f32__128?" in done.stderr


def test_an_entry_that_is_damaged(built: TestProject) -> None:
    """A build would not take it. Nor would it compile anything while its package is whole."""
    built.build()
    for path in (built.directory / "cache").glob("*.ptx"):
        path.write_text("damaged")
    assert explained(built)["sm_90a"]["state"] == "gone"
    assert explained(built)["cpu"]["state"] == "built"
    assert built.build()["compiled"] == 0


@pytest.mark.parametrize("fields", ["null", "[]", '{"types": "9:x"}', '{"types": "x"}', '{"types": 3}'])
def test_fields_that_are_damaged(built: TestProject, fields: str) -> None:
    """They say nothing; that the key has moved is still known."""
    for path in (built.build_dir / "keys").glob("*/*.json"):
        path.write_text(f'{{"{ID}": {fields}}}')
    built.replace("kernels/helpers.py", "return x * factor", "return x / factor")
    said = explained(built)["cpu"]
    assert (said["state"], said["moved"]) == ("moved", [])


def test_fields_of_kernels_that_are_no_more(built: TestProject) -> None:
    keys = built.build_dir / "keys"
    assert len(list(keys.glob("*/total.*"))) == 2
    built.write("kernels.toml", built.read("kernels.toml").partition("[kernel.total]")[0])
    built.build()
    assert not list(keys.glob("*/total.*"))
    assert len(list(keys.glob("*/scale.*"))) == 2
