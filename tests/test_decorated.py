"""``teenybuild.compile`` of kernels with ``@triton.autotune`` and ``@triton.heuristics`` above them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from teenybuild import UserError, compile

HEAD = "import triton\nimport triton.language as tl\n"
KERNEL = """

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, SPLIT: tl.constexpr = 1):
    i = tl.arange(0, BLOCK)
    if EVEN:
        v = tl.load(x + i)
    else:
        v = tl.load(x + i, mask=i < n, other=0.0)
    tl.static_print(tl.extra.cuda.num_warps(), BLOCK, EVEN, SPLIT)
    tl.store(y + i, v * SPLIT, mask=i < n)
"""
TUNED = "\n@triton.autotune(configs=[triton.Config({'BLOCK': b, 'SPLIT': b // 32}, num_warps=b // 32) for b in (64, 128)], key=['n'])"
COMPUTED = "\n@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})"
TYPES = {"x": "*f32", "y": "*f32", "n": "i32"}


@pytest.fixture
def made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Compiles a kernel with decorators; what it was compiled with."""

    def make(decorators: str, **said: Any) -> list[str]:
        path = tmp_path / "kernel.py"
        path.write_text(HEAD + decorators + KERNEL)
        capsys.readouterr()
        artifact = compile(
            f"{path}:kernel", "sm_90a", TYPES, cache_dir=tmp_path / "cache", force=True, **said
        )
        printed = capsys.readouterr().err.split()
        assert f".reqntid {32 * int(printed[0])}" in str(artifact.ptx)
        return printed

    return make


def test_a_config_gives_constants_and_options(made: Any) -> None:
    assert made(TUNED, const={"EVEN": True}, config=0) == ["2", "64", "True", "2"]
    assert made(TUNED, const={"EVEN": False}, config=1) == ["4", "128", "False", "4"]


def test_without_a_config_all_is_said_by_hand(made: Any) -> None:
    assert made(TUNED, const={"EVEN": True, "BLOCK": 16}, num_warps=8) == ["8", "16", "True", "1"]


def test_heuristics_compute_what_is_not_said(made: Any) -> None:
    """From what the specialisation fixes: constants, among them a config's, and assumptions."""
    divides, known = {"n": {"div": 64}}, {"n": {"eq": 100}}
    assert made(COMPUTED, const={"BLOCK": 32}, assume=divides) == ["4", "32", "True", "1"]
    assert made(COMPUTED, const={"BLOCK": 32}, assume=known) == ["4", "32", "False", "1"]
    assert made(COMPUTED, const={"BLOCK": 32, "EVEN": False}, assume=divides) == ["4", "32", "False", "1"]
    assert made(TUNED + COMPUTED, config=0, assume=divides) == ["2", "64", "True", "2"]


WRONG = [
    (TUNED, {"const": {"EVEN": True}}, r"leaves BLOCK to @triton.autotune.*which of its 2 configs: config=0 is BLOCK = 64, SPLIT = 2, num_warps = 2"),
    (TUNED, {"const": {"EVEN": True}, "config": 2}, "config is 2, and @triton.autotune of kernel has configs 0 to 1"),
    (TUNED, {"const": {"EVEN": True}, "config": -1}, "config is -1"),
    (TUNED, {"const": {"EVEN": True, "BLOCK": 32}, "config": 0}, "BLOCK of kernel is given by const and by config 0"),
    ("", {"const": {"EVEN": True}, "config": 0}, "kernel has no @triton.autotune"),
    (COMPUTED, {"const": {"BLOCK": 32}, "config": 0}, "kernel has no @triton.autotune"),
    (COMPUTED, {"const": {"BLOCK": 32}}, "EVEN of @triton.heuristics needs the value of n, which is known at launch only"),
    ("\nimport json\n@triton.autotune(configs=json.load(open('x')), key=[])", {"const": {"EVEN": True}, "config": 0}, "cannot be read without running the file"),
    ("\n@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_ctas=2)], key=[])", {"const": {"EVEN": True}, "config": 0}, "clusters of blocks"),
    ("\n@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=3)], key=[])", {"const": {"EVEN": True}, "config": 0}, "num_warps is 1, 2, 4"),
]  # fmt: skip


@pytest.mark.parametrize(("decorators", "said", "message"), WRONG)
def test_what_cannot_be_chosen(made: Any, decorators: str, said: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"(?s){message}"):
        made(decorators, **said)
