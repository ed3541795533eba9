"""Keys: what is in them, and what is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenybuild.api import job_key, job_key_fields
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.pipeline import Job
from teenybuild.compiler.targets.base import Settings
from teenybuild.keys import encode, fingerprint
from teenybuild.targets import parse_target
from teenybuild.types import Assume, parse_type
from tests.build.project import HELPERS, KERNEL


def job(
    directory: Path,
    *,
    kernel: str = KERNEL,
    helpers: str = HELPERS,
    function: str = "scale",
    **changes: object,
) -> Job:
    (directory / "scale.py").write_text(kernel)
    (directory / "helpers.py").write_text(helpers)
    library = Library(directory, (directory,), static)
    instance = Instance(
        {"x_ptr": parse_type("*f32"), "out_ptr": parse_type("*f32"), "n": parse_type("i32")}, {"BLOCK": 128}
    )
    made = Job(
        reach(find_function(library.module(directory / "scale.py"), function)),
        instance,
        Settings(),
        parse_target("sm_90a"),
        "8.0",
    )
    from dataclasses import replace

    return replace(made, **changes)  # type: ignore[arg-type]  # fields of Job


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Kernels of a test project."""', '"""Other words."""\n# and a comment'),
        (
            "x = tl.load(x_ptr + offsets, mask=mask)",
            "x = tl.load( x_ptr+offsets,\n                mask = mask )  # why",
        ),
        ("import triton.language as tl", "import triton.language as L".replace("L", "tl")),
        ("@triton.jit\ndef total", "\n\n\n@triton.jit\ndef total"),
        ("tl.store(out_ptr, tl.sum(x, axis=0))", "tl.store(out_ptr, tl.max(x, axis=0))"),
        (
            "def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):",
            'def scale(x_ptr, out_ptr, n, BLOCK: "tl.constexpr"):\n    """Documented."""',
        ),
    ],
    ids=["docstring", "layout", "import", "lines", "another kernel", "hints"],
)
def test_what_means_the_same_has_the_same_key(tmp_path: Path, old: str, new: str) -> None:
    assert old in KERNEL
    assert job_key(job(tmp_path)) == job_key(job(tmp_path, kernel=KERNEL.replace(old, new)))


def test_an_unrelated_helper_is_not_in_the_key(tmp_path: Path) -> None:
    assert job_key(job(tmp_path)) == job_key(job(tmp_path, helpers=HELPERS.replace("x + 1", "x + 2")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mask = offsets < n", "mask = offsets <= n"),
        ("FACTOR: tl.constexpr = 2.0", "FACTOR: tl.constexpr = 3.0"),
        ("FACTOR: tl.constexpr = 2.0", "FACTOR: tl.constexpr = 2"),
        ("scaled(x, FACTOR)", "scaled(FACTOR, x)"),
    ],
)
def test_what_means_something_else_has_another_key(tmp_path: Path, old: str, new: str) -> None:
    assert old in KERNEL
    assert job_key(job(tmp_path)) != job_key(job(tmp_path, kernel=KERNEL.replace(old, new)))


def test_a_helper_in_another_file_is_in_the_key(tmp_path: Path) -> None:
    assert job_key(job(tmp_path)) != job_key(
        job(tmp_path, helpers=HELPERS.replace("x * factor", "factor * x"))
    )


def test_every_field_moves_the_key(tmp_path: Path) -> None:
    plain = job(tmp_path)
    instance = plain.instance
    others = [
        job(tmp_path, function="total"),
        job(tmp_path, instance=Instance({**instance.types, "n": parse_type("i64")}, instance.consts)),
        job(tmp_path, instance=Instance(instance.types, {"BLOCK": 256})),
        job(tmp_path, instance=Instance(instance.types, {"BLOCK": 128.0})),
        job(tmp_path, instance=Instance(instance.types, instance.consts, {"n": Assume("div", 16)})),
        job(tmp_path, instance=Instance(instance.types, instance.consts, {"n": Assume("eq", 1)})),
        job(tmp_path, settings=Settings(num_warps=8)),
        job(tmp_path, settings=Settings(num_stages=4)),
        job(tmp_path, settings=Settings(maxnreg=64)),
        job(tmp_path, settings=Settings(enable_fp_fusion=False)),
        job(tmp_path, settings=Settings(launch_cooperative_grid=True)),
        job(tmp_path, target=parse_target("sm_80")),
        job(tmp_path, target=parse_target("cpu"), ptx=""),
        job(tmp_path, target=parse_target("cpu:sm_90a"), ptx=""),
        job(tmp_path, ptx="8.6"),
        job(tmp_path, lineinfo=True),
    ]
    keys = [job_key(j) for j in (plain, *others)]
    assert len(set(keys)) == len(keys)


def test_the_fields_are_the_contract(tmp_path: Path) -> None:
    fields = job_key_fields(job(tmp_path))
    contract = (Path(__file__).parents[2] / "docs/contracts.md").read_text()
    section = contract.split("\n## Key\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip(" `") for line in section.splitlines() if line.startswith("| `")]
    assert list(fields) == rows
    assert fields["target"] == "sm_90a"
    assert fields["types"] == "5:x_ptr4:*f327:out_ptr4:*f321:n3:i32"
    assert fields["options"] == (
        "16:enable_fp_fusion4:true23:launch_cooperative_grid5:false7:maxnreg4:none10:num_stages1:39:num_warps1:4"
    )


@given(
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4),
)
def test_different_fields_are_different_bytes(a: dict[str, str], b: dict[str, str]) -> None:
    assert (encode(a) == encode(b)) == (list(a.items()) == list(b.items()))


def test_the_key_is_the_same_in_another_process_and_hash_seed_and_place(tmp_path: Path) -> None:
    keys: set[str] = set()
    for seed in ("0", "12345"):
        place = tmp_path / f"somewhere {seed}"
        place.mkdir()
        script = (
            "from pathlib import Path; from tests.build.test_keys import job; from teenybuild.api import job_key; "
            f"print(job_key(job(Path({str(place)!r}))))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2]), "LC_ALL": "C"},
        )  # fmt: skip
        keys.add(done.stdout.strip())
    assert len(keys) == 1


def test_the_fingerprint_is_of_content_alone() -> None:
    assert len(fingerprint()) == 64
    assert fingerprint.__wrapped__() == fingerprint()
