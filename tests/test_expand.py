"""Expansion: ids, order, exclude, and that it is fast and the same everywhere."""

from __future__ import annotations

import hashlib
import itertools
import json
import keyword
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teenybuild.diagnostics import UserError
from teenybuild.dtypes import f16, f32
from teenybuild.expand import LONGEST_ID, Specialisation, expand, expand_all, plan, spell
from teenybuild.manifest import Kernel, Parameter, Signature, bind, read_manifest
from teenybuild.manifest.schema import DEFAULT_OPTIONS
from teenybuild.types import Absent, Assume, Pointer, Scalar, Type, Value, canonical


def signature(*names: str) -> Signature:
    return Signature("k", tuple(Parameter(name) for name in names))


def expanded(directory: Path, keys: str, *parameters: str, before: str = "") -> tuple[Specialisation, ...]:
    path = directory / "kernels.toml"
    path.write_text(f'edition = 1\n{before}\n[kernel.k]\nsource = "k.py"\n{keys}', encoding="utf-8")
    return plan(path, lambda _: lambda _: signature(*parameters)).specialisations


def ids(directory: Path, keys: str, *parameters: str, before: str = "") -> list[str]:
    return [each.id for each in expanded(directory, keys, *parameters, before=before)]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-5, "n5"),
        (0, "0"),
        (128, "128"),
        (0.5, "0p5"),
        (-0.5, "n0p5"),
        (-0.0, "n0p0"),
        (123456789.25, "123456789p25"),
        (1e30, digest("1e+30")),
        (1e-7, digest("1e-07")),
        (math.inf, digest("inf")),
        (math.nan, digest("nan")),
        (True, "true"),
        (False, "false"),
        (None, "none"),
        ("rn", "rn"),
        ("_x9", "_x9"),
        ("class", "class"),
        ("", digest('""')),
        ("a__b", digest('"a__b"')),
        ("9a", digest('"9a"')),
        ("é", digest('"\\u00e9"')),
        ("a-b", digest('"a-b"')),
        (Scalar(f32), "f32"),
        (Absent(), "none"),
        (Pointer(f32), digest("*f32")),
    ],
)
def test_spelling(value: Value | Type, expected: str) -> None:
    assert spell(value) == expected


def test_order(tmp_path: Path) -> None:
    keys = """
    args = { x = "*D", y = "*E", n = "i32" }
    dtypes = { E = ["f32", "f16"], D = ["bf16", "f64"] }
    const = { B = [2, 1] }
    configs = [{ A = 8, num_stages = 2 }, { A = 4 }]
    options = { num_warps = [8, 4] }
    assume = { n = "auto" }
    """
    found = ids(tmp_path, keys, "n", "x", "y", "A", "B")
    assert found[:10] == [
        "k__f32__bf16__2__8__w8__s2",
        "k__f32__bf16__2__8__w8__s2__a",
        "k__f32__bf16__2__8__s2",
        "k__f32__bf16__2__8__s2__a",
        "k__f32__bf16__2__4__w8",
        "k__f32__bf16__2__4__w8__a",
        "k__f32__bf16__2__4",
        "k__f32__bf16__2__4__a",
        "k__f32__bf16__1__8__w8__s2",
        "k__f32__bf16__1__8__w8__s2__a",
    ]
    assert len(found) == 2 * 2 * 2 * 2 * 2 * 2
    assert found[16] == "k__f32__f64__2__8__w8__s2"


def test_a_specialisation_is_in_source_order(tmp_path: Path) -> None:
    keys = """
    args = { n = "i32", y = "*D", bias = "*B" }
    dtypes = { D = "f16", B = ["none", "f32"] }
    const = { ALPHA = 1, MODE = "fast" }
    assume = { y = "auto", n = { eq = 1 }, bias = { div = 8 } }
    """
    first, auto, second, *_ = expanded(tmp_path, keys, "MODE", "y", "bias", "ALPHA", "n")
    assert first.id == "k__f16__none__1__fast"
    assert first.kernel == "k"
    assert [(name, str(type)) for name, type in first.types] == [
        ("y", "*f16"),
        ("bias", "none"),
        ("n", "i32"),
    ]
    assert first.dtypes == (("D", "f16"), ("B", "none"))
    assert first.consts == (("MODE", "fast"), ("ALPHA", 1))
    assert first.options == tuple(DEFAULT_OPTIONS.items())
    # Nothing is assumed of an argument that is not there.
    assert first.assume == (("n", Assume("eq", 1)),)
    assert auto.assume == (("y", Assume("div", 16)), ("n", Assume("eq", 1)))
    assert (first.auto, auto.auto) == (False, True)
    assert second.assume == (("bias", Assume("div", 8)), ("n", Assume("eq", 1)))
    assert hash(first) != hash(second)


def test_no_extra_variant_where_every_auto_is_absent(tmp_path: Path) -> None:
    keys = 'args = { b = "*B" }\ndtypes = { B = ["none", "f32"] }\nassume = { b = "auto" }\n'
    assert ids(tmp_path, keys, "b") == ["k__none", "k__f32", "k__f32__a"]


def test_options_that_differ_from_their_default(tmp_path: Path) -> None:
    keys = (
        "options = { maxnreg = [128, 64], enable_fp_fusion = [true, false], num_stages = 3, num_warps = 1 }\n"
    )
    assert ids(tmp_path, keys) == ["k__r128__w1", "k__r128__nofuse__w1", "k__r64__w1", "k__r64__nofuse__w1"]


def test_an_option_of_a_config_wins(tmp_path: Path) -> None:
    keys = "options = { num_warps = [1, 2] }\nconfigs = [{ A = 1, num_warps = 8 }, { A = 2 }]\n"
    assert ids(tmp_path, keys, "A") == ["k__1__w8", "k__2__w1", "k__2__w2"]


def test_a_config_hides_a_const_of_defaults(tmp_path: Path) -> None:
    keys = "configs = [{ A = 1 }, { A = 2 }]\n"
    assert ids(tmp_path, keys, "A", before="[defaults]\nconst = { A = [5, 6] }\n") == ["k__1", "k__2"]


def test_own_keys_come_after_inherited_ones(tmp_path: Path) -> None:
    before = '[defaults]\nconst = { A = 1, B = 2 }\ndtypes = { D = "f32", E = "f16" }\n'
    keys = 'args = { x = "*D", y = "*E", z = "*F" }\nconst = { C = 3, A = 4 }\ndtypes = { F = "f64", D = "i8" }\n'
    assert ids(tmp_path, keys, "x", "y", "z", "A", "B", "C", before=before) == ["k__f16__f64__i8__2__3__4"]


def test_exclude(tmp_path: Path) -> None:
    keys = """
    args = { x = "*D" }
    dtypes = { D = ["f32", "f16"] }
    const = { A = [1, 1.0, true, "1"] }
    options = { num_warps = [4, 8] }
    exclude = [{ A = 1, D = "f16" }, { num_warps = 8, A = true }, { A = "1", num_stages = 3 }, { num_warps = 4, A = 1.0, D = "f32" }]
    """
    assert ids(tmp_path, keys, "x", "A") == [
        "k__f32__1",
        "k__f32__1__w8",
        "k__f32__1p0__w8",
        "k__f32__true",
        "k__f16__1p0",
        "k__f16__1p0__w8",
        "k__f16__true",
    ]


def test_exclude_of_defaults_may_match_nothing(tmp_path: Path) -> None:
    before = '[defaults]\nexclude = [{ A = 1 }, { NOWHERE = 1 }, { A = 9 }, { D = "f32", A = 2 }]\n'
    assert ids(tmp_path, "const = { A = [1, 2] }\n", "A", before=before) == ["k__2"]


def test_long_ids_are_cut(tmp_path: Path) -> None:
    values = [f"{'x' * 115}{i}" for i in range(12)]
    found = ids(tmp_path, f"const = {{ A = {json.dumps(values)} }}\n", "A")
    assert len(set(found)) == 12
    whole = f"k__{values[0]}"
    assert len(whole) < LONGEST_ID
    assert found[0] == whole
    assert found[10] == f"k__{values[10]}"  # exactly as long as allowed
    [longer] = ids(tmp_path, f"const = {{ A = {json.dumps('y' * 118)} }}\n", "A")
    assert longer == f"k__{'y' * 108}_{digest('k__' + 'y' * 118)}"
    assert len(longer) == LONGEST_ID


def test_expand_one_kernel(tmp_path: Path) -> None:
    path = tmp_path / "kernels.toml"
    path.write_text(
        'edition = 1\n[kernel.k]\nsource = "k.py"\nconst = { A = [1, 2] }\nexclude = [{ A = 1 }]\n'
    )
    [kernel] = read_manifest(path).kernels
    assert [each.id for each in expand(kernel, ("A",))] == ["k__2"]
    path.write_text(
        'edition = 1\n[kernel.k]\nsource = "k.py"\nconst = { A = [1, 2] }\nexclude = [{ A = 1 }, { A = 2 }]\n'
    )
    [kernel] = read_manifest(path).kernels
    with pytest.raises(UserError, match="has no specialisation"):
        expand(kernel, ("A",))


def test_everything_wrong_is_said_in_one_go(tmp_path: Path) -> None:
    """What reading, binding and expanding find, of different kernels, in the order of the file."""
    path = tmp_path / "kernels.toml"
    path.write_text(
        """edition = 1
[kernel.a]
source = "k.py"
const = { A = 1 }
exclude = [{ A = 1, num_warps = 8 }]
[kernel.b]
source = "k.py"
const = { B = 1 }
[kernel.c]
sorce = "k.py"
"""
    )
    with pytest.raises(UserError) as caught:
        plan(path, lambda _: lambda _: signature("A"))
    assert [d.message for d in caught.value.diagnostics] == [
        "exclude matches nothing: no combination has all of these values",
        "the parameter A of k has no type",
        "k has no parameter B",
        '[kernel.c] has no key "sorce"',
    ]


# Against a plain reading of the contract.

_letters = st.sampled_from(["A", "B", "C"])
_values = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from([0.5, -0.0, 1.0, 1e30]),
    st.sampled_from(["a", "Z", "a b", "true", "n1"]),
)
_options: Mapping[str, st.SearchStrategy[int]] = {
    "num_warps": st.sampled_from([1, 2, 4]),
    "num_stages": st.integers(2, 4),
    "maxnreg": st.sampled_from([64, 128]),
    "enable_fp_fusion": st.booleans(),
}


def _distinct(values: st.SearchStrategy[Value], most: int = 3) -> st.SearchStrategy[list[Value]]:
    return st.lists(values, min_size=1, max_size=most, unique_by=canonical)


@st.composite
def kernels(draw: st.DrawFn) -> dict[str, dict[str, list[Value]] | list[dict[str, Value]] | bool]:
    dtypes = draw(
        st.dictionaries(st.sampled_from(["D", "E"]), _distinct(st.sampled_from(["f32", "f16", "none"])))
    )
    const = draw(st.dictionaries(_letters, _distinct(_values)))
    names = draw(st.lists(st.sampled_from(sorted(_options)), unique=True, max_size=2))
    options = {name: draw(_distinct(_options[name], 2)) for name in names}
    given = draw(st.lists(st.sampled_from(["X", "Y"]), unique=True))
    configs: list[dict[str, Value]] = []
    for _ in range(draw(st.integers(0, 3))):
        config = {name: draw(_values) for name in given}
        config |= {
            name: draw(_options[name])
            for name in draw(st.lists(st.sampled_from(sorted(_options)), unique=True, max_size=2))
        }
        if config and not any(_same(config, other) for other in configs):
            configs.append(config)
    return {
        "dtypes": dtypes,
        "const": const,
        "options": options,
        "configs": configs,
        "auto": draw(st.booleans()),
    }


def _same(one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    return {k: canonical(v) for k, v in one.items()} == {k: canonical(v) for k, v in other.items()}


def _combinations(kernel: dict[str, dict[str, list[Value]]]) -> list[dict[str, Value]]:
    """Every combination, in the order the contract gives, each as one mapping."""
    found: list[dict[str, Value]] = []
    for dtypes in itertools.product(*kernel["dtypes"].values()):
        for consts in itertools.product(*kernel["const"].values()):
            for config in kernel["configs"] or [{}]:
                open_options = {k: v for k, v in kernel["options"].items() if k not in config}
                for options in itertools.product(*open_options.values()):
                    found.append(
                        dict(zip(kernel["dtypes"], dtypes, strict=True))
                        | dict(zip(kernel["const"], consts, strict=True))
                        | dict(DEFAULT_OPTIONS)
                        | dict(zip(open_options, options, strict=True))
                        | dict(config)  # type: ignore[arg-type]
                    )
    return found


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return canonical(value)  # type: ignore[arg-type]


def _text(kernel: dict[str, dict[str, list[Value]]], exclude: list[dict[str, Value]]) -> str:
    args = {f"{name.lower()}_ptr": f"*{name}" for name in kernel["dtypes"]} | {"n": "i32"}
    lines = ["edition = 1", "[kernel.k]", 'source = "k.py"', f"args = {_toml(args)}"]
    lines += [f"{key} = {_toml(kernel[key])}" for key in ("dtypes", "const", "options")]
    lines += [f"configs = {_toml(kernel['configs'])}"] if kernel["configs"] else []
    lines += ['assume = { n = "auto" }'] if kernel["auto"] else []
    return "\n".join([*lines, f"exclude = {_toml(exclude)}"]) + "\n"


_PARAMETERS = ("Y", "C", "e_ptr", "A", "n", "d_ptr", "B", "X")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kernels(), st.data())
def test_expansion_is_the_product_less_what_is_excluded(
    tmp_path: Path, kernel: dict[str, dict[str, list[Value]]], data: st.DataObject
) -> None:
    everything = _combinations(kernel)
    exclude: list[dict[str, Value]] = []
    for chosen in data.draw(st.lists(st.sampled_from(everything), max_size=2)):
        keys = data.draw(
            st.lists(
                st.sampled_from([k for k, v in chosen.items() if v is not None]), min_size=1, unique=True
            )
        )
        table = {key: chosen[key] for key in keys}
        if not any(_same(table, other) for other in exclude):
            exclude.append(table)
    kept = [
        c
        for c in everything
        if not any(all(canonical(c[k]) == canonical(v) for k, v in t.items()) for t in exclude)
    ]
    path = tmp_path / "kernels.toml"
    path.write_text(_text(kernel, exclude), encoding="utf-8")
    bound = bind(read_manifest(path), lambda _: signature(*_used(kernel)))
    try:
        found = expand_all(bound)
    except UserError as error:
        messages = [d.message for d in error.diagnostics]
        # Spelled alike, though they differ: true and "true", or a and A of two kernels.
        assert not kept or any(
            "two specialisations have the id" in m or "differ only in case" in m for m in messages
        )
        return
    plain = [each for each in found if not each.auto]
    assert [_flat(each) for each in plain] == [{k: canonical(v) for k, v in c.items()} for c in kept]
    assert len(found) == len(kept) * (2 if kernel["auto"] else 1)
    for one, two in itertools.pairwise(found):
        assert not two.auto or (not one.auto and two.id == f"{one.id}__a")
    for each in found:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", each.id)
        assert not keyword.iskeyword(each.id)
        assert len(each.id) <= LONGEST_ID
    assert len({each.id.lower() for each in found}) == len(found)


def _used(kernel: dict[str, dict[str, list[Value]]]) -> list[str]:
    used = {*kernel["const"], *(name for config in kernel["configs"] for name in config), "n"}
    used |= {f"{name.lower()}_ptr" for name in kernel["dtypes"]}
    return [name for name in _PARAMETERS if name in used]


def _flat(each: Specialisation) -> dict[str, str]:
    parts = (*each.dtypes, *each.consts, *each.options)
    return {name: canonical(value) for name, value in parts}


@given(_distinct(_values, 8))
def test_spelling_is_a_piece_of_an_identifier(values: list[Value]) -> None:
    for value in values:
        assert re.fullmatch(r"[A-Za-z0-9_]+", spell(value))
        assert "__" not in spell(value)


def test_ids_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "kernels.toml"
    path.write_text(
        """edition = 1
[defaults]
dtypes = { D = ["f32", "f16"], E = ["i8", "u8"] }
const = { A = [1, 2], B = ["x", "y"], GONE = 1 }
assume = { n = "auto", d = { div = 16 } }
[kernel.k]
source = "k.py"
args = { d = "*D", e = "*E", n = "i32" }
configs = [{ C = 1, num_warps = 8, num_stages = 2 }, { C = 2, maxnreg = 64 }]
exclude = [{ A = 1, C = 2, num_stages = 3 }]
""",
        encoding="utf-8",
    )
    code = (
        "from pathlib import Path; from teenybuild.expand import plan; from teenybuild.manifest import Parameter, Signature\n"
        "signature = Signature('k', tuple(Parameter(n) for n in 'denCBA'))\n"
        f"print(plan(Path({str(path)!r}), lambda m: lambda k: signature).specialisations)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert outputs.pop().count(b"Specialisation(") == 2 * 2 * 2 * 2 * 2 * 2 - 2 * 2 * 2 * 2


def test_ten_thousand_are_expanded_in_well_under_a_second(tmp_path: Path) -> None:
    text = "edition = 1\n"
    for index in range(5):
        text += f"""[kernel.k{index}]
source = "k.py"
args = {{ x = "*D", y = "*E", n = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16", "i32", "i8"], E = ["f32", "f16"] }}
const = {{ A = [16, 32, 64, 128, 256], B = [16, 32, 64, 128, 256], C = [true, false] }}
options = {{ num_warps = [4, 8] }}
assume = {{ n = "auto" }}
exclude = [{{ D = "i8", A = 16, num_warps = 8 }}]
"""
    path = tmp_path / "kernels.toml"
    path.write_text(text, encoding="utf-8")
    bound = bind(read_manifest(path), lambda _: signature("x", "y", "n", "A", "B", "C"))
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        found = expand_all(bound)
        best = min(best, time.perf_counter() - start)
    assert len(found) == 5 * 2 * (1000 * 2 // 2 - 20)
    assert best < 0.5


def test_a_kernel_is_data(tmp_path: Path) -> None:
    path = tmp_path / "kernels.toml"
    path.write_text('edition = 1\n[kernel.k]\nsource = "k.py"\n', encoding="utf-8")
    [one], [two] = read_manifest(path).kernels, read_manifest(path).kernels
    assert isinstance(one, Kernel)
    assert one == two
    assert Scalar(f16) == Scalar(f16)
