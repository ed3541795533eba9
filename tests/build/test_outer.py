"""``build --stamp --depfile``: what an outer build system is told, and when."""

from __future__ import annotations

import re
from pathlib import Path

from teenybuild import ninja
from tests.build.project import TestProject

TOLD = ("--stamp", "out/my kernels.stamp", "--depfile", "out/kernels.d")


def rule(project: TestProject) -> tuple[str, list[str]]:
    """(target, prerequisites) of the depfile, as it spells them."""
    text = project.read("out/kernels.d").replace("\\\n", "")
    target, _, rest = text.partition(": ")
    return target, re.split(r"(?<!\\) +", rest.strip())


def test_the_stamp_is_the_packages_and_the_depfile_names_what_was_read(built: TestProject) -> None:
    built.write("kernels/unread.py", "x")
    built.build(*TOLD)
    assert built.read("out/my kernels.stamp") == built.read("build/stamps/package.json")
    target, inputs = rule(built)
    assert target == "out/my\\ kernels.stamp"
    ours = [i for i in inputs if i.startswith(str(built.directory))]
    assert ours == [
        str(built.directory / name)
        for name in ("kernels.toml", "kernels", "kernels/helpers.py", "kernels/scale.py")
    ]
    others = [Path(i) for i in inputs[len(ours) :]]
    assert others == sorted(others)
    assert Path(ninja.__file__) in others


def test_the_lock_is_one_of_them_where_it_decides(built: TestProject) -> None:
    lock = str(built.directory / "kernels.lock")
    assert built.run("lock").returncode == 0
    built.build(*TOLD)
    assert lock not in rule(built)[1]
    built.build(*TOLD, "--locked")
    assert lock in rule(built)[1]


def test_nothing_is_written_again(built: TestProject) -> None:
    files = [built.directory / name for name in ("out/my kernels.stamp", "out/kernels.d")]

    def written() -> list[tuple[int, int]]:
        return [(found.st_ino, found.st_mtime_ns) for found in (path.stat() for path in files)]

    built.build(*TOLD)
    before = written()
    built.build(*TOLD)
    built.replace("kernels/scale.py", "def total(", "# A comment.\ndef total(")
    built.build(*TOLD)
    assert written() == before
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.sum(x, axis=0) + 1")
    built.build(*TOLD)
    stamp, depfile = written()
    assert (stamp != before[0], depfile) == (True, before[1])


def test_an_old_stamp_is_renewed_where_somebody_asks_again(built: TestProject) -> None:
    """A file that was written again as it was: ninja asks once, and make until the stamp is newer."""
    built.build(*TOLD)
    stamp, source = built.directory / "out/my kernels.stamp", built.directory / "kernels/scale.py"
    text, time = stamp.read_bytes(), stamp.stat().st_mtime_ns
    source.touch()
    built.build(*TOLD)
    assert stamp.stat().st_mtime_ns == time < source.stat().st_mtime_ns
    built.build(*TOLD)
    assert stamp.stat().st_mtime_ns >= source.stat().st_mtime_ns
    assert stamp.read_bytes() == text


def test_a_build_that_goes_wrong_tells_nothing(fresh: TestProject) -> None:
    fresh.replace("kernels/helpers.py", "return x * factor", "return tl.expp(x)")
    assert fresh.run("build", *TOLD).returncode == 1
    assert not (fresh.directory / "out").exists()


def test_a_depfile_needs_a_stamp(fresh: TestProject) -> None:
    done = fresh.run("build", "--depfile", "kernels.d")
    assert done.returncode == 1
    assert (
        "error: --depfile says what a stamp is made from, and none is asked for\nhint: add --stamp FILE"
        in done.stderr
    )


def test_a_directory_in_which_something_else_builds_is_left_alone(fresh: TestProject) -> None:
    fresh.write("out/build.ninja", "rule theirs\n  command = true\n")
    done = fresh.run("build", "--build-dir", "out")
    assert done.returncode == 1
    assert "is not teenybuild's" in done.stderr
    assert "--build-dir DIR" in done.stderr
    assert [path.name for path in (fresh.directory / "out").iterdir()] == ["build.ninja"]
    assert fresh.read("out/build.ninja").startswith("rule theirs")
