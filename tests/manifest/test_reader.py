"""Reading a manifest: the model that comes out, and every way a file can fail to be one."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teenybuild.diagnostics import UserError
from teenybuild.dtypes import bf16, f16, f32, i32
from teenybuild.manifest import Config, Manifest, read_manifest
from teenybuild.manifest.grid import Call, Name, Number
from teenybuild.manifest.locate import KeyPath, Part
from teenybuild.manifest.reader import read
from teenybuild.manifest.toml import LARGEST
from teenybuild.manifest.typespec import Variable
from teenybuild.targets import CPU, TARGETS
from teenybuild.types import Absent, Assume, Pointer, Scalar

from .corpus import GOLDEN


def write(directory: Path, text: str, name: str = "kernels.toml") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def complaint(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_manifest(path)
    return str(caught.value)


@pytest.fixture(scope="module")
def full() -> Manifest:
    return read_manifest(GOLDEN / "full" / "kernels.toml")


def test_build(full: Manifest) -> None:
    build = full.build
    assert [str(target) for target in build.targets] == ["sm_90a", "cpu", "cpu:sm_80"]
    assert (build.kernels, build.roots, build.loader) == ("kernels", ("lib",), "full_kernels")
    assert (build.emit, build.include, build.lineinfo) == (("ptx",), ("more/*.toml",), True)
    assert build.cache == "/var/cache/teenybuild"
    assert build.ptx_version(TARGETS["sm_90a"]) == "8.6"
    assert build.ptx_version(TARGETS["sm_80"]) is None
    assert build.ptx_version(CPU) is None


def test_files_and_kernels_are_in_order(full: Manifest) -> None:
    directory = GOLDEN / "full"
    assert full.path == directory / "kernels.toml"
    assert full.directory == directory
    assert full.files == (
        directory / "kernels.toml",
        directory / "more" / "a.toml",
        directory / "more" / "b.toml",
    )
    names = ["add", "values", "matmul", "a_name_so_long_that_its_ids_are_cut", "plain"]
    assert [kernel.name for kernel in full.kernels] == names
    assert full.kernel("nothing") is None


def test_a_kernel(full: Manifest) -> None:
    kernel = full.kernel("add")
    assert kernel is not None
    assert (kernel.source, kernel.function) == ("elementwise.py", "add")
    assert dict(kernel.args)["out_ptr"] == Variable("D", pointer=True)
    assert dict(kernel.args)["n"] == Scalar(i32)
    assert list(kernel.args) == ["n", "a_ptr", "b_ptr", "out_ptr"]
    # [defaults] had D and UNUSED: what no argument uses is ignored.
    assert kernel.dtypes == {"D": (Scalar(f32), Scalar(bf16))}
    assert list(kernel.const.items()) == [
        ("NOT_HERE", (1, 2)),
        ("ROUND", ("rn", "rz", "to nearest")),
        ("BLOCK", (128, 1024)),
    ]
    assert kernel.configs == (Config({}, {}),)
    assert kernel.options == {"num_warps": (4,), "enable_fp_fusion": (True,)}
    assert kernel.grid == (Call("cdiv", (Name("n"), Name("BLOCK"))),)
    assert kernel.assume == {name: Assume("div", 16) for name in ("n", "a_ptr", "out_ptr")}
    assert kernel.autos == ("n", "out_ptr")
    assert kernel.exclude == ({"D": "bf16", "ROUND": "rz"}, {"D": "f32", "BLOCK": 128, "ROUND": "rn"})
    assert (kernel.outputs, kernel.mutates) == (("out_ptr",), ())
    assert [str(target) for target in kernel.targets] == ["sm_90a", "cpu"]
    assert kernel.globals == {"EPS": 1e-6}


def test_what_a_kernel_says_wins(full: Manifest) -> None:
    values, matmul = full.kernel("values"), full.kernel("matmul")
    assert values is not None
    assert matmul is not None
    assert values.dtypes == {"B": (Scalar(f32), Absent(), Pointer(f16))}
    assert values.assume == {"n": Assume("eq", 1)}
    assert values.autos == ()
    assert values.targets == (CPU,)
    assert values.globals == {"EPS": 0.0, "NAME": "scale", "COUNT": 3, "FLAG": False}
    assert matmul.configs[1] == Config({"BK": 64, "BN": 128, "BM": 64}, {"enable_fp_fusion": False})
    assert matmul.consts == ("BLOCK", "NOT_HERE", "GROUP", "BM", "BN", "BK")
    assert matmul.option_order == ("num_warps", "enable_fp_fusion", "num_stages", "maxnreg")
    assert matmul.grid[2] == Number(2)


def test_the_least_manifest(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path, 'edition = 1\n[kernel.k]\nsource = "k.py"\n'))
    [kernel] = manifest.kernels
    assert (manifest.build.targets, manifest.build.kernels, manifest.build.loader) == (
        (CPU,),
        "kernels",
        "teeny_kernels",
    )
    assert (kernel.function, kernel.grid, kernel.targets, kernel.count) == ("k", (), (CPU,), 1)


@pytest.mark.parametrize(
    ("path", "part", "file", "line", "covered"),
    [
        (("kernel", "add", "args", "n"), "key", "kernels.toml", "args = { n", "n"),
        (("kernel", "add", "args", "n"), "value", "kernels.toml", "args = { n", '"i32"'),
        (("kernel", "values", "dtypes", "B", 1), "value", "kernels.toml", "dtypes.B", '"none"'),
        (("kernel", "matmul", "configs", 1, "BN"), "key", "kernels.toml", "BN = 128", "BN"),
        (("kernel", "matmul"), "key", "kernels.toml", '["kernel"."matmul"]', '"matmul"'),
        (("kernel", "plain", "source"), "value", "b.toml", "source", '"elementwise.py"'),
        # What is not written gives what is around it.
        (("kernel", "plain", "args", "missing"), "key", "b.toml", "[kernel.plain]", "plain"),
        (("build", "loader"), "value", "kernels.toml", "loader", '"full_kernels"'),
        # What a kernel has from [defaults] is found there.
        (
            ("kernel", "add", "options", "num_warps"),
            "value",
            "kernels.toml",
            "options = { num_warps = 4",
            "4",
        ),
        (("kernel", "add", "const", "NOT_HERE"), "key", "kernels.toml", "const = { BLOCK = 256", "NOT_HERE"),
        (("kernel", "add", "const", "BLOCK"), "key", "kernels.toml", "const = { ROUND", "BLOCK"),
    ],
)
def test_spans_of_any_key(
    full: Manifest, path: KeyPath, part: Part, file: str, line: str, covered: str
) -> None:
    span = full.span(path, part)
    assert Path(span.file).name == file
    assert span.text.startswith(line)
    assert span.text[span.column - 1 : span.end_column - 1] == covered
    kernel = full.kernel(str(path[1]))
    assert kernel is None or kernel.span(*path[2:], part=part) == span


def test_good_manifests_are_read_without_positions(tmp_path: Path) -> None:
    """Neither our scan nor a second parser costs anything where nothing is wrong."""
    code = (
        "import sys; from pathlib import Path; from teenybuild.manifest import read_manifest\n"
        f"manifest = read_manifest(Path({str(GOLDEN / 'full' / 'kernels.toml')!r}))\n"
        "assert 'positions' not in manifest.main.__dict__ and 'lines' not in manifest.main.__dict__\n"
        "assert 'tomlkit' not in sys.modules and 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_may_be_declined(tmp_path: Path) -> None:
    [kernel] = read_manifest(
        write(tmp_path, 'edition = 1\n[kernel.k]\nsource = "k.py"\nimport = false\n')
    ).kernels
    assert kernel.name == "k"


def test_an_assumption_of_defaults_is_taken_back(tmp_path: Path) -> None:
    text = 'edition = 1\n[defaults]\nassume = { n = "auto" }\n[kernel.k]\nsource = "k.py"\nargs = { n = "i32" }\n'
    assert read_manifest(write(tmp_path, text)).kernels[0].autos == ("n",)
    [kernel] = read_manifest(write(tmp_path, text + "assume = { n = { div = 1 } }\n")).kernels
    assert (kernel.assume, kernel.autos) == ({}, ())


# Files.


def test_missing(tmp_path: Path) -> None:
    text = complaint(tmp_path / "kernels.toml")
    assert text.startswith(f"error: {tmp_path / 'kernels.toml'}: there is no such manifest")
    assert "teenybuild init" in text


def test_directory(tmp_path: Path) -> None:
    assert "this is a directory" in complaint(tmp_path)


def test_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kernels.toml")
    assert "not a regular file" in complaint(tmp_path / "kernels.toml")


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, flags: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr("teenybuild.manifest.toml._open", refuse)  # root may read everything
    assert "cannot be read: Permission denied" in complaint(write(tmp_path, "edition = 1"))


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    assert "cannot be read" in complaint(Path("a\0b"))
    assert "cannot be read" in complaint(tmp_path / ("x" * 300))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in complaint(tmp_path / "loop")
    assert "cannot be read: Not a directory" in complaint(write(tmp_path, "") / "kernels.toml")


def test_too_large_is_refused_by_size(tmp_path: Path) -> None:
    path = tmp_path / "kernels.toml"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    tracemalloc.start()
    try:
        text = complaint(path)
        assert tracemalloc.get_traced_memory()[1] < LARGEST / 4
    finally:
        tracemalloc.stop()
    assert f"has {LARGEST + 1} bytes; at most {LARGEST} are read" in text


def test_included_files_count_towards_the_size(tmp_path: Path) -> None:
    path = write(tmp_path, 'edition = 1\n[build]\ninclude = ["*.more"]\n[kernel.k]\nsource = "k.py"\n')
    for name in ("a.more", "b.more"):
        write(tmp_path, "# comment\n" * (LARGEST // 18), name)
    text = complaint(path)
    assert f"{tmp_path / 'b.more'}: the included file has" in text
    assert "included here" in text


def test_a_product_too_large_is_refused_before_it_is_made(tmp_path: Path) -> None:
    values = list(range(1000))
    path = write(
        tmp_path,
        f'edition = 1\n[kernel.k]\nsource = "k.py"\nconst = {{ A = {values}, B = {values}, C = {values} }}\n',
    )
    assert "kernel k has 1,000,000,000 specialisations" in complaint(path)


def test_included_files(tmp_path: Path) -> None:
    path = write(tmp_path, 'edition = 1\n[build]\ninclude = ["**/*.toml", "sub/a.toml"]\n')
    write(tmp_path, '[kernel.b]\nsource = "k.py"\n', "sub/b.toml")
    write(tmp_path, '[kernel.a]\nsource = "k.py"\n', "sub/a.toml")
    (tmp_path / "sub" / "c.toml").symlink_to(tmp_path / "sub" / "a.toml")
    manifest = read_manifest(path)
    # Itself and what it has already read are not read again.
    assert [kernel.name for kernel in manifest.kernels] == ["a", "b"]
    assert manifest.files == (path, tmp_path / "sub" / "a.toml", tmp_path / "sub" / "b.toml")


def test_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "kernels.toml"
    path.write_bytes(b'edition = 1\r\n[kernel.k]\r\nsorce = "k.py"\r\n')
    assert "kernels.toml:3:1: error" in complaint(path)
    assert "\r" not in complaint(path)


def test_hex_integers_of_any_size_are_only_wrong(tmp_path: Path) -> None:
    """Python refuses to print them; messages must not try."""
    huge = "0x" + "f" * 6000
    keys = f"edition = {huge}"
    assert "an integer of more than 20 digits" in complaint(write(tmp_path, keys))
    text = f"""edition = 1
[build]
targets = {huge}
ptx = {huge}
[kernel.k]
source = {huge}
const = {{ A = {huge}, B = [{huge}, {huge}] }}
options = {{ num_warps = {huge}, num_stages = {huge} }}
grid = [{huge}]
assume = {{ x = {{ div = {huge} }} }}
outputs = {huge}
"""
    assert complaint(write(tmp_path, text)).count("error: ") >= 9


def test_what_is_wrong_in_one_place_is_said_once(tmp_path: Path) -> None:
    text = 'edition = 1\n[defaults]\ndtypes = { D = ["f33"] }\n'
    text += "".join(f'[kernel.k{i}]\nsource = "k.py"\nargs = {{ x = "*D" }}\n' for i in range(5))
    assert complaint(write(tmp_path, text)).count("error: ") == 1


def test_a_reading_with_faults_keeps_what_is_right(tmp_path: Path) -> None:
    text = """edition = 1
[kernel.k]
source = "k.py"
args = { x = "*f33", n = "i32" }
const = { A = [1, 1], B = 2 }
"""
    reading = read(write(tmp_path, text))
    [kernel] = reading.manifest.kernels
    assert len(reading.diagnostics) == 2
    assert dict(kernel.args) == {"n": Scalar(i32)}
    assert kernel.const == {"B": (2,)}
    assert kernel.is_broken("args", "x")
    assert kernel.is_broken("const", "A")
    assert not kernel.is_broken("args", "n")


# Whatever stands in the file: a manifest, or a UserError with a place.

_words = st.sampled_from(
    [
        "edition",
        "build",
        "kernel",
        "defaults",
        "k",
        "source",
        "args",
        "dtypes",
        "const",
        "configs",
        "options",
        "grid",
        "assume",
        "exclude",
        "outputs",
        "mutates",
        "targets",
        "globals",
        "ptx",
        "include",
        "import",
        "num_warps",
        "x",
        "D",
        "B",
    ]
)
_plain = st.one_of(
    st.integers(-3, 20),
    st.integers(),
    st.booleans(),
    st.sampled_from(
        [
            "*D",
            "i32",
            "none",
            "auto",
            "autotune",
            "cpu",
            "sm_90a",
            "k.py",
            "x",
            "cdiv(x, B)",
            "8.0",
            "",
            "é",
            "*.toml",
        ]
    ),
)
_trees = st.recursive(
    _plain, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_words, inner, max_size=4))
)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml(each) for each in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return f'"{value}"'


_kernels = st.dictionaries(_words, _trees, max_size=6)
_documents = st.fixed_dictionaries(
    {"edition": st.just(1)},
    optional={
        "build": _kernels,
        "defaults": _kernels,
        "kernel": st.dictionaries(_words, _kernels, max_size=2),
        "x": _trees,
    },
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_documents)
def test_any_tree_is_a_manifest_or_a_user_error(tmp_path: Path, document: dict[str, object]) -> None:
    text = "".join(f"{key} = {_toml(value)}\n" for key, value in document.items())
    try:
        read_manifest(write(tmp_path, text))
    except UserError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.span is not None
            assert diagnostic.span.text in text
        str(error)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_any_bytes_are_a_manifest_or_a_user_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "kernels.toml"
    path.write_bytes(data)
    with pytest.raises(UserError) as caught:
        read_manifest(path)
    assert str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000,
        "x = " + "{a=" * 100_000,
        "a." * 100_000 + "a = 1",
        "[" + "a." * 100_000 + "a]",
        'x = "' + "\\" * 100_000,
        "x = " + "9" * 100_000,
        "x = 1" + "_1" * 100_000,
        "'" * 100_000,
        '"' * 100_000,
        "#" * 100_000 + "\nx",
        "\n" * 100_000 + "x",
        "x" * 1_000_000,
        "x = [" + "1," * 300_000,
    ],
    ids=lambda text: text[:12].strip(),
)
def test_hostile_texts_end_soon(tmp_path: Path, text: str) -> None:
    assert "error: " in complaint(write(tmp_path, text))
