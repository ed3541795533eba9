"""What an edit costs: exactly what depends on it is compiled again, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.build.project import TestProject

#: Specialisations of the test project: scale (2 dtypes x 2 blocks) and total, for two targets.
SCALE, TOTAL = 8, 2


def counts(report: dict[str, object]) -> tuple[object, object, object]:
    return report["compiled"], report["cached"], report["failed"]


def changed(before: dict[tuple[str, str], str], after: dict[tuple[str, str], str]) -> set[tuple[str, str]]:
    return {name for name in before | after if before.get(name) != after.get(name)}


def test_a_first_build_compiles_everything(fresh: TestProject) -> None:
    assert counts(fresh.build()) == (SCALE + TOTAL, 0, 0)
    assert counts(fresh.build()) == (0, SCALE + TOTAL, 0)


def test_a_project_that_was_moved_compiles_nothing(built: TestProject) -> None:
    before = built.entry_keys()
    assert counts(built.build()) == (0, SCALE + TOTAL, 0)
    assert built.entry_keys() == before


def test_comments_docstrings_and_layout_compile_nothing(built: TestProject) -> None:
    before = built.entry_keys()
    built.replace("kernels/scale.py", "def scale(", "# twice as much\ndef scale(")
    built.replace(
        "kernels/scale.py",
        "    mask = offsets < n\n",
        "    mask = (\n        offsets < n\n    )  # the tail\n",
    )
    built.replace("kernels/helpers.py", '"""A helper in a file of its own."""', '"""Another docstring."""')
    assert counts(built.build()) == (0, SCALE + TOTAL, 0)
    assert built.entry_keys() == before


def test_a_kernels_body_compiles_that_kernel(built: TestProject) -> None:
    before = built.entry_keys()
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.sum(x + 1, axis=0)")
    assert built.build()["compiled"] == TOTAL
    assert {id_.split("__")[0] for id_, _ in changed(before, built.entry_keys())} == {"total"}


def test_a_helper_compiles_who_calls_it(built: TestProject) -> None:
    before = built.entry_keys()
    built.replace("kernels/helpers.py", "x * factor", "x * factor + 0")
    assert built.build()["compiled"] == SCALE
    assert {id_.split("__")[0] for id_, _ in changed(before, built.entry_keys())} == {"scale"}


def test_a_helper_nobody_calls_compiles_nothing(built: TestProject) -> None:
    built.replace("kernels/helpers.py", "x + 1", "x + 2")
    assert built.build()["compiled"] == 0


def test_a_constant_of_the_module_compiles_who_reads_it(built: TestProject) -> None:
    built.replace("kernels/scale.py", "FACTOR: tl.constexpr = 2.0", "FACTOR: tl.constexpr = 3.0")
    assert built.build()["compiled"] == SCALE


def test_a_dtype_more_compiles_just_that_dtype(built: TestProject) -> None:
    before = built.entry_keys()
    built.replace("kernels.toml", '["f32", "f16"]', '["f32", "f16", "bf16"]')
    assert built.build()["compiled"] == SCALE // 2
    new = changed(before, built.entry_keys())
    assert len(new) == SCALE // 2
    assert all("bf16" in id_ for id_, _ in new)


def test_a_dtype_less_compiles_nothing_and_goes_from_the_package(built: TestProject) -> None:
    built.replace("kernels.toml", '["f32", "f16"]', '["f32"]')
    report = built.build()
    assert counts(report) == (0, SCALE // 2 + TOTAL, 0)
    assert "f16" not in (Path(report["package"]) / "_kernels" / "scale.py").read_text(encoding="utf-8")


def test_a_kernel_less_goes_from_stamps_and_package(built: TestProject) -> None:
    manifest = built.read("kernels.toml")
    built.write("kernels.toml", manifest[: manifest.index("[kernel.total]")])
    report = built.build()
    assert counts(report) == (0, SCALE, 0)
    assert not (Path(report["package"]) / "_kernels" / "total.py").exists()
    assert "total" not in {id_.split("__")[0] for id_, _ in built.entry_keys()}


def test_a_grid_changes_the_package_and_compiles_nothing(built: TestProject) -> None:
    loader = built.build_dir / "teeny_kernels" / "_kernels" / "total.json"
    before = loader.read_bytes()
    built.replace("kernels.toml", 'grid = ["1"]', 'grid = ["2"]')
    assert built.build()["compiled"] == 0
    assert loader.read_bytes() != before


def test_back_to_what_was_finds_it_in_the_cache(built: TestProject) -> None:
    built.replace("kernels/helpers.py", "x * factor", "factor * x")
    assert built.build()["compiled"] == SCALE
    built.replace("kernels/helpers.py", "factor * x", "x * factor")
    assert built.build()["compiled"] == 0


def test_an_older_file_put_back_is_noticed(built: TestProject) -> None:
    path = built.directory / "kernels/helpers.py"
    built.replace("kernels/helpers.py", "x * factor", "factor * x")
    os.utime(path, (1_000_000, 1_000_000))
    assert built.build()["compiled"] == SCALE
    assert built.ninja().stdout.splitlines()[-1] == "ninja: no work to do."


def test_force_compiles_everything_to_the_same_bytes(built: TestProject) -> None:
    before = {p.name: p.read_bytes() for p in (built.directory / "cache").rglob("*.*")}
    assert built.build("--force")["compiled"] == SCALE + TOTAL
    assert {p.name: p.read_bytes() for p in (built.directory / "cache").rglob("*.*")} == before
    assert counts(built.build()) == (0, SCALE + TOTAL, 0)


def test_targets_asked_for_are_those_built(built: TestProject) -> None:
    report = built.build("--target", "sm_90a")
    assert report["targets"] == ["sm_90a"]
    assert counts(report) == (0, (SCALE + TOTAL) // 2, 0)


def test_a_new_file_that_a_pattern_includes_is_noticed(built: TestProject) -> None:
    kernel = '[kernel.{name}]\nsource = "scale.py"\nfunction = "total"\nargs = {{ x_ptr = "*f64", out_ptr = "*f64", n = "i32" }}\nconst = {{ BLOCK = 64 }}\n'
    built.replace("kernels.toml", "[build]\n", '[build]\ninclude = ["more/*/kernels.toml"]\n')
    built.write("more/one/kernels.toml", kernel.format(name="one"))
    assert built.build()["compiled"] == 2
    assert built.build()["artifacts"] == SCALE + TOTAL + 2
    built.write("more/two/kernels.toml", kernel.format(name="two"))
    report = built.build()
    assert report["artifacts"] == SCALE + TOTAL + 4
    assert report["compiled"] == 0  # the same function, types and consts: the same entries
    (built.directory / "more/one/kernels.toml").unlink()
    assert built.build()["artifacts"] == SCALE + TOTAL + 2


# The cache and the build directory come and go ----------------------------------------------------------------


def test_a_new_file_that_an_import_finds_first_is_noticed(built: TestProject) -> None:
    """By teenybuild and by bare ninja: ``helpers`` is looked for in ``kernels`` before the other roots."""
    helper = (built.directory / "kernels/helpers.py").read_text()
    built.replace("kernels.toml", "[build]\n", '[build]\nroots = ["lib"]\n')
    built.write("lib/helpers.py", helper)
    (built.directory / "kernels/helpers.py").unlink()
    assert built.build()["compiled"] == 0
    built.write("kernels/helpers.py", helper.replace("x * factor", "x * factor + 0"))
    assert built.build()["compiled"] == SCALE
    (built.directory / "kernels/helpers.py").unlink()
    before = built.entry_keys()
    assert built.ninja().returncode == 0
    assert {id_.split("__")[0] for id_, _ in changed(before, built.entry_keys())} == {"scale"}
    built.write("kernels/helpers/__init__.py", helper.replace("x * factor", "x * factor - 0"))
    assert built.build()["compiled"] == SCALE
    assert built.ninja().stdout.splitlines()[-1] == "ninja: no work to do."


def test_an_emptied_cache_is_filled_again(built: TestProject) -> None:
    shutil.rmtree(built.directory / "cache")
    package = built.build_dir / "teeny_kernels"
    shutil.rmtree(package)
    assert built.build()["compiled"] == SCALE + TOTAL
    assert (package / "_kernels" / "scale.py").is_file()


def test_an_emptied_build_directory_is_filled_from_the_cache(built: TestProject) -> None:
    before = built.entry_keys()
    shutil.rmtree(built.build_dir)
    assert counts(built.build()) == (0, SCALE + TOTAL, 0)
    assert built.entry_keys() == before


def test_a_package_file_that_went_or_changed_is_written_again(built: TestProject) -> None:
    loader = built.build_dir / "teeny_kernels" / "_kernels" / "scale.py"
    text = loader.read_bytes()
    for damage in (loader.unlink, lambda: loader.write_bytes(text + b"\n")):
        damage()
        assert built.build()["compiled"] == 0
        assert loader.read_bytes() == text


def test_a_stamp_that_was_damaged_is_made_again(built: TestProject) -> None:
    stamp = next((built.build_dir / "stamps").glob("*/*.json"))
    text = stamp.read_bytes()
    for damage in (stamp.unlink, lambda: stamp.write_bytes(text[: len(text) // 2])):
        damage()
        assert built.build()["compiled"] == 0
        assert stamp.read_bytes() == text


def test_a_damaged_entry_is_built_again_and_said(built: TestProject) -> None:
    stamp = next((built.build_dir / "stamps").glob("*/*.json"))
    entry = next((built.directory / "cache").rglob("*.ptx"))
    text = entry.read_bytes()
    entry.write_bytes(text.replace(b".visible", b".vizible", 1))
    shutil.rmtree(built.build_dir)
    done = built.run("build")
    assert done.returncode == 0, done.stderr
    assert "damaged" in done.stderr
    assert entry.name in done.stderr
    assert entry.read_bytes() == text
    assert stamp.is_file()


# Bare ninja ---------------------------------------------------------------------------------------------------


def test_bare_ninja_has_nothing_to_do_after_a_build(built: TestProject) -> None:
    built.build()
    assert built.ninja().stdout.splitlines()[-1] == "ninja: no work to do."


def test_bare_ninja_sees_a_kernel_edit(built: TestProject) -> None:
    built.build()
    before = built.entry_keys()
    built.replace("kernels/helpers.py", "x * factor", "factor * x")
    done = built.ninja()
    assert done.returncode == 0, done.stdout
    assert {id_.split("__")[0] for id_, _ in changed(before, built.entry_keys())} == {"scale"}
    assert built.ninja().stdout.splitlines()[-1] == "ninja: no work to do."
    assert counts(built.build()) == (0, SCALE + TOTAL, 0)


def test_bare_ninja_regenerates_after_a_manifest_edit(built: TestProject) -> None:
    built.build()
    built.replace("kernels.toml", '["f32", "f16"]', '["f32", "f16", "bf16"]')
    done = built.ninja()
    assert done.returncode == 0, done.stdout
    assert sum("bf16" in id_ for id_, _ in built.entry_keys()) == SCALE // 2
    assert built.ninja().stdout.splitlines()[-1] == "ninja: no work to do."


def test_bare_ninja_says_what_is_wrong(built: TestProject) -> None:
    built.build()
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    done = built.ninja()
    assert done.returncode != 0
    assert "summ" in done.stdout
    assert "kernels/scale.py:" in done.stdout


# What fails ---------------------------------------------------------------------------------------------------


def test_a_wrong_kernel_does_not_cost_the_others(fresh: TestProject) -> None:
    fresh.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    done = fresh.run("build")
    assert done.returncode == 1
    assert "kernels/scale.py:" in done.stderr
    assert "tl.sum" in done.stderr
    assert (
        f"failed: {TOTAL} of {SCALE + TOTAL} artifacts (5 specialisations for cpu, sm_90a); {SCALE} compiled, 0 cached"
        in done.stdout
    )
    fresh.replace("kernels/scale.py", "tl.summ(x, axis=0)", "tl.sum(x, axis=0)")
    assert counts(fresh.build()) == (TOTAL, SCALE, 0)


def test_a_failed_build_leaves_the_last_package_as_it_was(built: TestProject) -> None:
    package = built.build_dir / "teeny_kernels"
    before = {p.relative_to(package): p.read_bytes() for p in package.rglob("*") if p.is_file()}
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    assert built.run("build").returncode == 1
    assert {p.relative_to(package): p.read_bytes() for p in package.rglob("*") if p.is_file()} == before


def test_a_wrong_kernel_is_said_again_by_the_next_build(built: TestProject) -> None:
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    first, second = built.run("build"), built.run("build")
    assert first.returncode == second.returncode == 1
    assert first.stderr == second.stderr != ""


def test_a_wrong_manifest_changes_nothing(built: TestProject) -> None:
    before = {p: p.read_bytes() for p in built.build_dir.rglob("*") if p.is_file()}
    built.replace("kernels.toml", 'n = "i32"', 'n = "i33"')
    done = built.run("build")
    assert done.returncode == 1
    assert "kernels.toml:" in done.stderr
    assert "i33" in done.stderr
    after = {p: p.read_bytes() for p in built.build_dir.rglob("*") if p.is_file()}
    assert after == before


def test_outputs_that_are_not_what_the_kernel_writes_are_an_error(built: TestProject) -> None:
    built.replace("kernels.toml", 'outputs = ["out_ptr"]', 'outputs = ["x_ptr"]')
    done = built.run("build")
    assert done.returncode == 1
    assert "scale writes out_ptr" in done.stderr
