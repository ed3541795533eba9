"""The text of build.ninja: escaping, statements, depfiles."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenybuild import ninja
from teenybuild.build import ninja_binary
from teenybuild.diagnostics import UserError


def test_a_statement_with_everything() -> None:
    edge = ninja.Edge(("out a", "b:c"), "rule", ("in$",), ("x y",), {"what": "$5 of it"})
    assert ninja.statement(edge) == "build out$ a b$:c: rule in$$ | x$ y\n  what = $$5 of it\n"


@pytest.mark.parametrize("path", ["a\nb", "a|b"])
def test_a_path_that_ninja_cannot_write_is_refused(path: str) -> None:
    with pytest.raises(UserError, match="no way to write"):
        ninja.escape_path(path)


def test_the_template_holds_the_rules_and_says_why() -> None:
    text = ninja.template()
    assert all(f"rule {name}\n" in text for name in ("compile", "package", "generate"))
    assert text.count("#") > 5
    assert "restat = 1" in text


_NAMES = st.text(
    st.characters(blacklist_characters="/\n\r\0|", blacklist_categories=("Cs", "Cc")), min_size=1, max_size=20
).filter(lambda s: s.strip(". ") == s and s not in (".", ".."))


@given(name=_NAMES)
def test_ninja_builds_any_name(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory: Path = tmp_path_factory.mktemp("ninja")
    (directory / name).write_text("x")
    edge = ninja.Edge((f"out-{name}",), "copy", (name,))
    text = "rule copy\n  command = cp -- $in $out\n" + ninja.statement(edge)
    (directory / "build.ninja").write_text(text, encoding="utf-8")
    done = subprocess.run([ninja_binary(), "-C", str(directory)], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (directory / f"out-{name}").read_text() == "x"


#: Names with what depfiles must escape.
AWKWARD = (
    "plain", "with space", "dollar$", "hash#", "co:lon", "$(all) #of: them", "back\\slash", "both\\ of", "two\\\\ of",
)  # fmt: skip


def test_a_depfile_names_what_it_says(tmp_path: Path) -> None:
    """To ninja: each file in it decides."""
    for name in AWKWARD:
        (tmp_path / name).write_text("x")
    (tmp_path / "out.d").write_text(ninja.depfile("out", AWKWARD))
    build = "rule touch\n  command = touch $out\n  depfile = out.d\nbuild out: touch\n"
    (tmp_path / "build.ninja").write_text(build)
    run = [ninja_binary(), "-C", str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True)
    again = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert "no work to do" in again
    for name in AWKWARD:
        (tmp_path / name).unlink()
        broken = subprocess.run(run, capture_output=True, text=True, check=False).stdout
        assert "no work to do" not in broken, name
        (tmp_path / name).write_text("x")
        subprocess.run(run, check=True, capture_output=True)


def test_a_depfile_says_the_same_to_make(tmp_path: Path) -> None:
    """All but backslashes, which no two versions of make read alike."""
    names = [name for name in AWKWARD if "\\" not in name]
    for name in names:
        (tmp_path / name).write_text("x")
    (tmp_path / "Makefile").write_text("out:\n\ttouch out\n" + ninja.depfile("out", names))
    run = ["make", "-C", str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True)
    assert "touch out" not in subprocess.run(run, capture_output=True, text=True, check=True).stdout
    for name in names:
        (tmp_path / name).unlink()
        refused = subprocess.run(run, capture_output=True, text=True, check=False)
        assert f"No rule to make target '{name}'" in refused.stderr, name
        (tmp_path / name).write_text("x")


def test_a_depfile_has_no_line_breaks_in_paths() -> None:
    with pytest.raises(UserError, match="no way to write"):
        ninja.depfile("out", ["a\nb"])
