"""One edge: failures are kept apart, a compiler that dies takes nothing with it."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from teenybuild import worker
from teenybuild.cache import Cache
from teenybuild.diagnostics import BugError
from tests.build.project import HELPERS, KERNEL


def plan(directory: Path, blocks: tuple[int, ...], target: str = "sm_90a", **changes: Any) -> dict[str, Any]:
    (directory / "kernels").mkdir(exist_ok=True)
    (directory / "kernels/scale.py").write_text(KERNEL)
    (directory / "kernels/helpers.py").write_text(HELPERS)
    options = [
        ["num_warps", 4],
        ["num_stages", 3],
        ["maxnreg", None],
        ["enable_fp_fusion", True],
        ["launch_cooperative_grid", False],
    ]
    return {
        "kernel": "scale", "function": "scale", "source": "scale.py", "kernels": "kernels", "roots": [], "globals": {}, "imported": None,
        "target": target, "ptx": "8.0" if target != "cpu" else "", "lineinfo": False, "debug": False, "outputs": ["out_ptr"], "mutates": [],
        "members": [
            {
                "id": f"scale__{block}",
                "types": [["x_ptr", "*f32"], ["out_ptr", "*f32"], ["n", "i32"]],
                "dtypes": [], "consts": [["BLOCK", block]], "options": options, "assume": [], "auto": False, "heuristics": [],
            }
            for block in blocks
        ],
        **changes,
    }  # fmt: skip


def run(tmp_path: Path, plan_: dict[str, Any], **keywords: Any) -> worker.Outcome:
    return worker.run_chunk(plan_, tmp_path, "", tmp_path / "cache", **keywords)


def test_a_chunk_is_compiled_then_found(tmp_path: Path) -> None:
    made = plan(tmp_path, (64, 128))
    first, second = run(tmp_path, made), run(tmp_path, made)
    assert (first.compiled, first.cached, first.failed) == (2, 0, 0)
    assert (second.compiled, second.cached, second.failed) == (0, 2, 0)
    assert worker.stamp_json(made, first) == worker.stamp_json(made, second)
    forced = run(tmp_path, made, force=True)
    assert forced.compiled == 2
    assert worker.stamp_json(made, forced) == worker.stamp_json(made, first)


def test_one_wrong_member_does_not_cost_the_others(tmp_path: Path) -> None:
    outcome = run(tmp_path, plan(tmp_path, (64, 100, 128)))
    assert (outcome.compiled, outcome.failed) == (2, 1)
    assert len(outcome.diagnostics) == 1
    assert "which is not a power of two" in outcome.diagnostics[0].message
    assert not outcome.ok


def test_a_damaged_entry_is_rebuilt_and_said(tmp_path: Path) -> None:
    made = plan(tmp_path, (64, 128))
    run(tmp_path, made)
    victim = next((tmp_path / "cache").glob("*.ptx"))
    victim.write_bytes(victim.read_bytes()[:-1])
    outcome = run(tmp_path, made)
    assert (outcome.compiled, outcome.cached) == (1, 1)
    assert outcome.damaged == [f"{victim.name}: its contents do not match its digest"]


@pytest.mark.parametrize("last_words", [signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV])
def test_a_compiler_that_dies_is_named_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_words: signal.Signals
) -> None:
    compile_ = worker.build_entry

    def dying(job: Any, cache: Cache, *, force: bool = False) -> Any:
        faulthandler.disable()  # pytest's would print a stack for a death that is meant
        if job.instance.consts["BLOCK"] == 128:
            os.kill(os.getpid(), last_words)
        return compile_(job, cache, force=force)

    monkeypatch.setattr(worker, "build_entry", dying)
    outcome = run(tmp_path, plan(tmp_path, (32, 64, 128, 256, 512)))
    assert (outcome.compiled, outcome.failed) == (4, 1)
    assert outcome.bugs == [
        f"scale__128: the compiler process died ({last_words.name}) while compiling it for sm_90a"
    ]


def test_one_that_dies_only_after_another_gets_a_second_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_ = worker.build_entry
    seen: list[int] = []

    def fragile(job: Any, cache: Cache, *, force: bool = False) -> Any:
        if job.instance.consts["BLOCK"] == 128 and seen:
            faulthandler.disable()
            os.abort()
        seen.append(job.instance.consts["BLOCK"])
        return compile_(job, cache, force=force)

    monkeypatch.setattr(worker, "build_entry", fragile)
    outcome = run(tmp_path, plan(tmp_path, (64, 128, 256)))
    assert (outcome.compiled, outcome.failed, outcome.bugs) == (3, 0, [])


def test_a_bug_of_ours_is_no_users_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: Any, cache: Cache, *, force: bool = False) -> Any:
        raise BugError("LLVM refuses what we wrote")

    monkeypatch.setattr(worker, "build_entry", broken)
    outcome = run(tmp_path, plan(tmp_path, (64,)))
    assert outcome.bugs == ["scale__64: LLVM refuses what we wrote"]
    assert not outcome.diagnostics


def test_outputs_are_checked_against_what_the_kernel_does(tmp_path: Path) -> None:
    made = plan(tmp_path, (64,), outputs=[], mutates=["x_ptr"])
    for _ in range(2):  # compiled, then from the cache
        outcome = run(tmp_path, made)
        assert outcome.failed == 1
        (found,) = outcome.diagnostics
        assert (
            found.message
            == "scale writes out_ptr, which the manifest lists under neither outputs nor mutates"
        )
        assert found.span is not None
        assert found.span.text.strip() == "tl.store(out_ptr + offsets, scaled(x, FACTOR), mask=mask)"
        assert found.hint == "list out_ptr under outputs"


COPIES = """
import triton
import triton.language as tl


@triton.jit
def copies(ptrs, d, BLOCK: tl.constexpr):
    (x, y), z = ptrs
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
    d.store([0], tl.load(z + i))
"""


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        (["ptrs[0][1]", "d"], []),
        (["ptrs[0]", "d"], [("reads ptrs[0][0]", "list those entries of ptrs[0] that it writes")]),
        (["ptrs[0][1]"], [("writes d", "list d under outputs")]),
        (["d"], [("writes ptrs[0][1]", "list ptrs[0][1] under outputs")]),
    ],
)
def test_outputs_may_be_entries_and_descriptors(
    tmp_path: Path, outputs: list[str], told: list[tuple[str, str]]
) -> None:
    types = [["ptrs", "((*f32, *f32), *f32)"], ["d", "desc<f32[64]>"]]
    made = plan(tmp_path, (64,), outputs=outputs, kernel="copies", function="copies", source="copies.py")
    (tmp_path / "kernels/copies.py").write_text(COPIES)
    made["members"][0].update(id="copies__64", types=types)
    outcome = run(tmp_path, made)
    assert [(d.message.split(",")[0], d.hint) for d in outcome.diagnostics] == [
        (f"copies {message}", hint) for message, hint in told
    ]
    assert outcome.failed == bool(told)


def test_diagnostics_survive_the_way_through_a_pipe(tmp_path: Path) -> None:
    outcome = run(tmp_path, plan(tmp_path, (100,)))
    (found,) = outcome.diagnostics
    assert worker.diagnostic_from(json.loads(json.dumps(worker.diagnostic_json(found)))) == found
