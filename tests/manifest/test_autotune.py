"""``const = "autotune"`` and ``configs = "autotune"``: what a manifest with them expands to."""

from __future__ import annotations

from pathlib import Path

import pytest

from teenybuild.diagnostics import UserError
from teenybuild.expand import Specialisation, plan
from teenybuild.sources import Sources

KERNEL = """import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({{'BM': m, 'BN': n}}, num_warps=w) for m, n, w in {sets}], key=['n'])
@triton.heuristics({{'EVEN': lambda args: args['n'] % args['BM'] == 0, 'HAS': lambda args: args['y'] is not None}})
@triton.jit
def k(x, y, n, BM: tl.constexpr, BN: tl.constexpr, EVEN: tl.constexpr = False, HAS: tl.constexpr = True, D: tl.constexpr = 1):
    tl.store(x + tl.arange(0, BM), BN)


@triton.jit
def plain(x, BM: tl.constexpr):
    tl.store(x + tl.arange(0, BM), BM)
"""

#: Two sets of constants, one of them with two numbers of warps, and one config twice.
SETS = "[(64, 32, 4), (64, 32, 8), (16, 16, 4), (64, 32, 4)]"
ARGS = 'args = { x = "*f32", y = "*f32", n = "i32" }\nassume = { n = { div = 16 } }\nconst.EVEN = false\n'


def expanded(
    directory: Path, keys: str, before: str = "", sets: str = SETS, more: str = ""
) -> tuple[Specialisation, ...]:
    (directory / "kernels").mkdir(exist_ok=True)
    (directory / "kernels/k.py").write_text(KERNEL.format(sets=sets))
    path = directory / "kernels.toml"
    path.write_text(f'edition = 1\n{before}\n[kernel.k]\nsource = "k.py"\n{keys}\n{more}')
    return plan(path, lambda manifest: Sources.of(manifest, directory).signature).specialisations


def ids(specialisations: tuple[Specialisation, ...]) -> list[str]:
    return [each.id for each in specialisations]


TYPES = 'args = { x = "*f32", y = "*f32", n = "i32" }\n'
EVEN = "assume = { n = { div = 64 } }\n"


def test_configs_are_sets_of_constants_and_options_each_once(tmp_path: Path) -> None:
    found = expanded(tmp_path, TYPES + EVEN + 'configs = "autotune"')
    assert ids(found) == ["k__64__32", "k__64__32__w8", "k__16__16"]
    assert dict(found[1].options) == {
        "num_warps": 8,
        "num_stages": 3,
        "maxnreg": None,
        "enable_fp_fusion": True,
        "launch_cooperative_grid": False,
    }
    assert found[0].consts == (("BM", 64), ("BN", 32))


def test_consts_are_sets_of_constants_and_leave_the_options(tmp_path: Path) -> None:
    found = expanded(
        tmp_path, TYPES + EVEN + 'const = "autotune"\noptions = { num_warps = [2, 4], num_stages = 2 }'
    )
    assert ids(found) == [
        f"k__{sizes}{warps}__s2" for sizes in ("64__32", "16__16") for warps in ("__w2", "")
    ]


def test_options_of_a_config_win(tmp_path: Path) -> None:
    found = expanded(
        tmp_path,
        TYPES
        + EVEN
        + 'configs = "autotune"\noptions = { num_warps = 2, enable_fp_fusion = false, maxnreg = [32, 64] }',
    )
    assert {dict(each.options)["num_warps"] for each in found} == {4, 8}
    assert [dict(each.options)["maxnreg"] for each in found] == [32, 64] * 3
    assert not any(dict(each.options)["enable_fp_fusion"] for each in found)


def test_both_are_what_configs_says(tmp_path: Path) -> None:
    one = expanded(tmp_path, TYPES + EVEN + 'configs = "autotune"')
    assert expanded(tmp_path, TYPES + EVEN + 'configs = "autotune"\nconst = "autotune"') == one


def test_consts_multiply_with_configs_of_the_manifest(tmp_path: Path) -> None:
    found = expanded(
        tmp_path, TYPES + EVEN + 'const = "autotune"\nconfigs = [{ D = 2, num_warps = 1 }, { D = 4 }]'
    )
    assert ids(found) == ["k__64__32__2__w1", "k__64__32__4", "k__16__16__2__w1", "k__16__16__4"]


def test_configs_multiply_with_other_consts(tmp_path: Path) -> None:
    found = expanded(tmp_path, TYPES + EVEN + 'configs = "autotune"\nconst = { D = [2, 4] }')
    assert ids(found)[:4] == ["k__2__64__32", "k__2__64__32__w8", "k__2__16__16", "k__4__64__32"]


def test_exclude_and_the_grid_know_them(tmp_path: Path) -> None:
    found = expanded(
        tmp_path,
        TYPES + EVEN + 'configs = "autotune"\nexclude = [{ BM = 64, num_warps = 8 }]\ngrid = ["cdiv(n, BM)"]',
    )
    assert ids(found) == ["k__64__32", "k__16__16"]


def test_defaults(tmp_path: Path) -> None:
    """Consts of [defaults] give way to those of the decorator; "autotune" in [defaults] is for kernels that have one."""
    found = expanded(
        tmp_path, TYPES + EVEN + 'configs = "autotune"', "[defaults]\nconst = { BM = 8, D = 3, OTHER = 1 }"
    )
    assert ids(found) == ["k__3__64__32", "k__3__64__32__w8", "k__3__16__16"]
    plain = '[kernel.plain]\nsource = "k.py"\nargs = { x = "*f32" }\nconfigs = [{ BM = 16 }]'
    found = expanded(tmp_path, TYPES + EVEN, '[defaults]\nconst = "autotune"', more=plain)
    assert ids(found) == ["k__64__32", "k__16__16", "plain__16"]
    found = expanded(tmp_path, TYPES + EVEN + "const = { BM = 16, BN = 4 }", '[defaults]\nconst = "autotune"')
    assert ids(found) == ["k__16__4"]
    found = expanded(tmp_path, TYPES + EVEN + 'const = "autotune"', "[defaults]\nconst = { D = 3 }")
    assert ids(found) == ["k__64__32", "k__16__16"]


def test_heuristics_follow_from_the_rest(tmp_path: Path) -> None:
    types = 'args = { x = "*f32", y = "Y", n = "i32" }\ndtypes = { Y = ["*f32", "none"] }\n'
    found = expanded(tmp_path, types + EVEN + 'configs = "autotune"')
    assert [dict(each.heuristics) for each in found] == [
        {"EVEN": True, "HAS": has} for has in (True, False) for _ in range(3)
    ]
    assert all("EVEN" not in dict(each.consts) for each in found)


def test_what_an_auto_assumes_is_no_fact(tmp_path: Path) -> None:
    """It holds in one variant only, and both have the same constants."""
    sets = "[(16, 16, 4)]"
    with pytest.raises(UserError, match=r"EVEN of @triton\.heuristics needs the value of n"):
        expanded(tmp_path, TYPES + 'configs = "autotune"\nassume = { n = "auto" }', sets=sets)
    found = expanded(
        tmp_path, TYPES + 'configs = "autotune"\nassume = { n = "auto" }\nconst = { EVEN = true }', sets=sets
    )
    assert [(each.auto, dict(each.heuristics)) for each in found] == [
        (False, {"HAS": True}),
        (True, {"HAS": True}),
    ]


def test_what_the_manifest_says_wins_over_heuristics(tmp_path: Path) -> None:
    found = expanded(tmp_path, TYPES + 'configs = "autotune"\nconst = { EVEN = [true, false], HAS = false }')
    assert ids(found)[0] == "k__true__false__64__32"
    assert not any(each.heuristics for each in found)


def test_the_number_of_specialisations_is_limited(tmp_path: Path) -> None:
    sets = "[(2 * i, 1, 4) for i in range(100)]"
    with pytest.raises(UserError, match="has 1,100,000 specialisations"):
        expanded(
            tmp_path,
            TYPES + EVEN + f'configs = "autotune"\nconst = {{ D = {list(range(11000))} }}',
            sets=sets,
        )
