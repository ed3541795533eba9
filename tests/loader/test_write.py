"""Packages on disk: only what changed, nothing of anyone else's."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from teenybuild.diagnostics import UserError
from teenybuild.loader import remove_package, write_package
from teenybuild.loader.write import FILES

SOME = {"__init__.py": b"1", "_kernels/a.py": b"2", "_artifacts/cpu/a.so": b"3", "py.typed": b""}


def tree(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def times(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in directory.rglob("*") if path.is_file()}


def test_writes_everything(tmp_path: Path) -> None:
    package = tmp_path / "deep" / "package"
    assert write_package(SOME, package)
    found = tree(package)
    assert json.loads(found.pop(FILES)) == sorted(SOME)
    assert found == SOME


def test_nothing_to_do(tmp_path: Path) -> None:
    write_package(SOME, tmp_path)
    before = times(tmp_path)
    assert not write_package(SOME, tmp_path)
    assert times(tmp_path) == before


def test_only_what_changed(tmp_path: Path) -> None:
    write_package(SOME, tmp_path)
    for path in tmp_path.rglob("*"):
        os.utime(path, ns=(0, 0))
    assert write_package({**SOME, "_kernels/a.py": b"new"}, tmp_path)
    touched = {name for name, when in times(tmp_path).items() if when}
    assert touched == {"a.py", FILES}
    assert tree(tmp_path)["_kernels/a.py"] == b"new"


def test_removes_what_is_no_more(tmp_path: Path) -> None:
    write_package({**SOME, "_artifacts/sm_90a/a.ptx": b"4"}, tmp_path)
    (tmp_path / "_kernels" / "mine.py").write_bytes(b"mine")
    (tmp_path / "notes.txt").write_bytes(b"mine too")
    fewer = {name: data for name, data in SOME.items() if "_kernels" not in name}
    assert write_package(fewer, tmp_path)
    assert tree(tmp_path).keys() == {*fewer, FILES, "_kernels/mine.py", "notes.txt"}
    assert not (tmp_path / "_artifacts" / "sm_90a").exists()
    assert not write_package(fewer, tmp_path)


def test_what_is_damaged_is_repaired(tmp_path: Path) -> None:
    write_package(SOME, tmp_path)
    (tmp_path / "_kernels" / "a.py").write_bytes(b"edited")
    (tmp_path / "_artifacts" / "cpu" / "a.so").unlink()
    assert write_package(SOME, tmp_path)
    assert {name: tree(tmp_path)[name] for name in SOME} == SOME


def test_files_of_others_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_bytes(b"my own package")
    with pytest.raises(
        UserError, match=r"has files that teenybuild did not generate and would replace: __init__\.py"
    ):
        write_package(SOME, tmp_path)
    assert tree(tmp_path) == {"__init__.py": b"my own package"}


def test_a_file_of_others_with_the_same_contents_is_no_reason(tmp_path: Path) -> None:
    (tmp_path / "py.typed").write_bytes(b"")
    assert write_package(SOME, tmp_path)


@pytest.mark.parametrize("listed", [b"", b"{", b"5", b"null", b'["../outside", "/etc/passwd", 7]'])
def test_a_list_that_was_tampered_with(tmp_path: Path, listed: bytes) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"not ours")
    package = tmp_path / "package"
    package.mkdir()
    (package / FILES).write_bytes(listed)
    assert write_package(SOME, package)
    assert outside.read_bytes() == b"not ours"
    assert {name: tree(package)[name] for name in SOME} == SOME


def test_an_interrupted_call_is_finished_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package({**SOME, "old.py": b"5"}, tmp_path)
    new = {**{name: data + b"!" for name, data in SOME.items()}, "new.py": b"6"}
    real = Path.replace
    for stop in range(1, 20):

        def replace(self: Path, target: Path, left: list[int] = [stop]) -> Path:  # noqa: B006  # counts down
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return real(self, target)

        monkeypatch.setattr(Path, "replace", replace)
        try:
            write_package(new, tmp_path)
        except KeyboardInterrupt:
            found = tree(tmp_path)
            assert not [name for name in found if name.endswith(".tmp")]
            monkeypatch.setattr(Path, "replace", real)
            assert write_package(new, tmp_path)
            assert tree(tmp_path).keys() == {*new, FILES}
            write_package({**SOME, "old.py": b"5"}, tmp_path)
        else:
            break
    else:
        raise AssertionError("it never came to an end")
    monkeypatch.setattr(Path, "replace", real)
    assert {name: tree(tmp_path)[name] for name in new} == new


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cannot write the package"):
        write_package(SOME, tmp_path / "file" / "package")


def test_two_at_once(tmp_path: Path) -> None:
    wrong: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(20):
                write_package(SOME, tmp_path)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert {name: tree(tmp_path)[name] for name in SOME} == SOME


def test_removing_a_package(tmp_path: Path) -> None:
    package = tmp_path / "package"
    write_package(SOME, package)
    (package / "_kernels" / "__pycache__").mkdir()
    (package / "_kernels" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"")
    (package / "notes.txt").write_bytes(b"mine")
    assert remove_package(package) == len(SOME) + 1
    assert tree(package) == {"notes.txt": b"mine"}
    (package / "notes.txt").unlink()
    write_package(SOME, package)
    remove_package(package)
    assert not package.exists()
    assert remove_package(package) == 0
