"""Random calls against the rules, written down a second time: which error, or which launch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.runtime.fake_arrays import Tensor
from tests.runtime.fake_driver import FakeDevice, FakeDriver

from .manifests import VECTOR_ADD
from .packages import imported, install

NAMES = ("a_ptr", "b_ptr", "out_ptr", "n_elements")
DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}


@dataclass(frozen=True)
class A:
    """An array argument."""

    dtype: str = "float32"
    device: str = "cuda:0"
    address: int = 0x10000
    elements: int = 1024
    contiguous: bool = True

    @property
    def tensor(self) -> Tensor:
        return Tensor(
            self.dtype, self.device, address=self.address, elements=self.elements, contiguous=self.contiguous
        )


@dataclass(frozen=True)
class Call:
    """A call: arguments in order, consts and launch options by name."""

    args: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...] = ()


def usually(value: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Mostly right: a call in which everything is wrong shows only what is looked at first."""
    return st.integers(0, 11).flatmap(lambda n: st.sampled_from(others) if n == 0 else st.just(value))


@st.composite
def arrays(draw: st.DrawFn, dtype: str) -> Any:
    found = A(
        draw(usually(dtype, *SIZES)),
        draw(usually("cuda:0", "cuda:1", "cpu", "meta")),
        draw(usually(0x10000, 0x10010, 0x10008, 0x10004, 0x10002, 0x10001, 0)),
        draw(usually(1024, 0, 1)),
        draw(usually(True, False)),
    )
    return draw(usually(found, 5, 2.5, None, True, "array"))


NUMBERS = st.one_of(
    st.sampled_from((1024, 1000, 0, 1, 2**31 - 1)),
    usually(1024, -1, -200, 2**31, -(2**31) - 1, 1024.0, True, None, "5", A()),
)


@st.composite
def calls(draw: st.DrawFn) -> Call:
    dtype = draw(st.sampled_from(list(DTYPES)))
    args = [draw(arrays(dtype)), draw(arrays(dtype)), draw(arrays(dtype)), draw(NUMBERS)]
    named: dict[str, Any] = {}
    choices = {
        "BLOCK_SIZE": st.one_of(st.sampled_from((128, 1024)), usually(1024, 256, True, 128.0, "128")),
        "num_warps": usually(4, 8),
        "grid": st.one_of(st.just((3, 2)), usually((8,), (0,), (1, 65536), 8, (1.0,), ())),
        "target": usually("sm_90a", "cpu", None),
    }
    for name, values in choices.items():
        if draw(st.integers(0, 2)) == 0:
            named[name] = draw(values)
    wrong = draw(usually("", "n_elements", "b"))
    if wrong:
        named[wrong] = 5
    count = draw(usually(4, 3, 5, 0))
    return Call(tuple((*args, 7)[:count]), tuple(named.items()))


def expected(call: Call) -> str | tuple[str, tuple[int, int, int]]:
    """The class of the error, or the id that runs and its grid (an extent of 0: nothing is launched)."""
    named = dict(call.named)
    # The names.
    if len(call.args) > 4 or "b" in named or (len(call.args) == 4 and "n_elements" in named):
        return "CallError"
    values = dict(zip(NAMES, call.args, strict=False))
    if "n_elements" in named:
        values["n_elements"] = named["n_elements"]
    if len(values) < 4:
        return "CallError"
    args = [values[name] for name in NAMES]
    # Where it runs: where the first array is.
    target = named.get("target")
    if target not in ("sm_90a", None):
        return "TargetError"
    found = [arg for arg in args if isinstance(arg, A)]
    if found and not found[0].device.startswith("cuda"):
        return "ArgumentTypeError"
    # What it is, by kind and dtype.
    if not all(isinstance(arg, A) and arg.dtype in DTYPES for arg in args[:3]) or type(args[3]) is not int:
        return "ArgumentTypeError"
    block = named.get("BLOCK_SIZE")
    if (
        type(block) not in (int, type(None))
        or block not in (128, 1024, None)
        or named.get("num_warps", 4) != 4
    ):
        return "ChoiceError"
    dtype, *others = {arg.dtype for arg in args[:3]}
    if others or (dtype == "bfloat16" and block == 128):
        return "ChoiceError"
    block = block or (1024 if dtype == "bfloat16" else 128)
    # Each argument by itself.
    for number, arg in enumerate(args[:3]):
        if arg.device != args[0].device:
            return "ArgumentTypeError"
        align = 16 if number == 0 else SIZES[arg.dtype]
        if not arg.contiguous or (arg.elements and (not arg.address or arg.address % align)):
            return "ArgumentValueError"
    n = args[3]
    if not -(2**31) <= n < 2**31:
        return "ArgumentValueError"
    # How many programs.
    grid = named.get("grid")
    if grid is None:
        if n < 0 and -(-n // block) < 0:
            return "GridError"
        extents = (-(-n // block), 1, 1)
    elif grid in ((8,), (3, 2)):
        extents = (*grid, 1, 1)[:3]
    else:
        return "GridError"
    auto = "__a" if n % 16 == 0 and args[0].address % 16 == 0 else ""
    return f"vector_add__{DTYPES[dtype]}__{block}{auto}", extents


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeDriver, Any]]:
    driver = FakeDriver(FakeDevice(), FakeDevice())
    text = VECTOR_ADD.replace('targets = ["sm_90a", "cpu"]', 'targets = ["sm_90a"]')
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cuda.bindings.driver", driver)
        with imported(install(text, tmp_path_factory.mktemp("oracle"))) as kernels:
            yield driver, kernels


@given(calls())
@example(Call((A(), A(), A(), 1024)))
@example(Call((A(), A(), A(), 0)))
@example(Call((A(device="cuda:1"),) * 3 + (5,), (("grid", (3, 2)),)))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_calls(package: tuple[FakeDriver, Any], call: Call) -> None:
    driver, kernels = package
    driver.launches.clear()
    args = [arg.tensor if isinstance(arg, A) else arg for arg in call.args]
    named = dict(call.named)
    result = expected(call)
    if isinstance(result, str):
        with pytest.raises(kernels.LaunchError) as caught:
            kernels.vector_add(*args, **named)
        assert type(caught.value).__name__ == result, str(caught.value)
        assert not driver.launches
        return
    id, extents = result
    picked = {name: value for name, value in named.items() if name != "grid"}
    assert kernels.vector_add.pick(*args, **picked).id == id
    kernels.vector_add(*args, **named)
    if 0 in extents:
        assert not driver.launches
        return
    [launch] = driver.launches
    arrays = [arg for arg in call.args if isinstance(arg, A)]
    n = named.get("n_elements", call.args[-1])
    assert launch.integers == [*(each.address for each in arrays), n % 2**32, *extents, 0]
    assert launch.grid == extents
    assert launch.device == int(arrays[0].device[-1])
