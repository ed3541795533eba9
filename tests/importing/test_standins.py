"""What takes the place of ``triton`` and ``torch`` where they are not installed. Run without site-packages, so that they are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import teenybuild.importing

CHILD = Path(teenybuild.importing.__file__).with_name("child.py")


def run(directory: Path, text: str) -> dict[str, Any]:
    source = directory / "k.py"
    source.write_text(text)
    request = {
        "source": str(source.resolve()),
        "roots": [str(directory.resolve())],
        "own": [str(directory.resolve())],
    }
    done = subprocess.run(
        [sys.executable, "-S", "-s", "-P", CHILD],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def names(directory: Path, text: str) -> dict[str, Any]:
    answer = run(directory, text)
    assert "error" not in answer, answer
    return answer["modules"][str((directory / "k.py").resolve())]


USES = """
import dataclasses
import functools
from typing import Any, Dict, Optional, Tuple, Union
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
import triton
import triton.language as tl
import triton.language.extra.cuda.libdevice as device
from triton.runtime import driver
from triton.language.extra import libdevice


class Module(nn.Module):
    def forward(self, x: torch.Tensor, y: Optional[Tensor] = None) -> "Tensor":
        return F.silu(x)


class Function(torch.autograd.Function):
    @staticmethod
    @once_differentiable
    def backward(ctx, g: Tensor | None) -> Tuple[torch.Tensor, ...]:
        return g


@dataclasses.dataclass
class Options:
    dtype: torch.dtype = torch.float16
    device: Union[str, torch.device, None] = None


@torch.compile
@torch.no_grad()
def compiled(x: Dict[str, Tensor]):
    return x


@torch.library.custom_op("a::b", mutates_args=())
def operator(x: Tensor) -> Tensor:
    return x


DTYPES = {torch.float16: 1, torch.bfloat16: 2}
HALF = DTYPES[torch.float16]
IS_HALF = torch.float16 in (torch.bfloat16, torch.float16)
IS_OTHER = torch.float16 == torch.bfloat16
SMALLEST = torch.finfo(torch.float32).min * 2
CUDA = torch.cuda.is_available()
HIP = torch.version.hip is not None
BACKEND = driver.active.get_current_target().backend == "cuda"
VERSION = triton.__version__
THREE = tl.constexpr(3)
SUM = 2 * THREE + 1
LESS = THREE < 4
SIZES = [triton.cdiv(100, 16), triton.next_power_of_2(100), range(5)[THREE]]
EXP = libdevice.exp
TYPE = tl.float32
LOW = torch.float16
"""


def test_what_sources_do_with_them(tmp_path: Path) -> None:
    found = names(tmp_path, USES)
    expected = {
        "HALF": 1, "IS_HALF": True, "IS_OTHER": False, "CUDA": False, "HIP": False, "BACKEND": True, "VERSION": "3.6.0", "THREE": 3,
        "SUM": 7, "LESS": True,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == {
        name: ["constant", value] for name, value in expected.items()
    }
    assert found["SIZES"] == ["tuple", [["constant", 7], ["constant", 128], ["constant", 3]]]
    assert found["EXP"] == ["language", "tl.extra.libdevice.exp"]
    assert found["TYPE"] == ["language", "tl.float32"]
    assert found["tl"] == ["namespace", "tl"]
    # What only torch knows is not told.
    assert not {"SMALLEST", "LOW", "DTYPES", "torch", "Module"} & found.keys()


@pytest.mark.parametrize(
    "question",
    [
        "torch.cuda.get_device_capability()[0] >= 9",
        "bool(torch.backends.cuda.matmul.allow_tf32)",
        "torch.__version__.split('.')[0] == '2'",
        "torch.cuda.get_device_name() == 'x'",
        "len(torch.cuda.get_arch_list())",
        "[d for d in torch.dtypes]",
        "int(torch.cuda.get_device_properties(0).shared_memory)",
        "torch.empty(1).dtype == torch.float32",
        "triton.runtime.driver.active.get_current_target().arch >= 90",
    ],
)
def test_nobody_answers_for_them(tmp_path: Path, question: str) -> None:
    """Nor may a source take what it is told for a failure that it knows how to deal with."""
    answer = run(
        tmp_path, f"import torch\nimport triton\ntry:\n    K = {question}\nexcept Exception:\n    K = 0\n"
    )
    assert "is asked for, and" in answer["error"]
    assert "is not installed" in answer["error"]
    assert answer["frames"][-1][1] == 4


def test_a_launch_is_refused(tmp_path: Path) -> None:
    answer = run(tmp_path, "import triton\n@triton.jit\ndef k(x):\n    pass\nk[(1,)](None, num_warps=4)\n")
    assert answer["error"] == "k is launched, and triton is not installed"


def test_what_the_source_prints_is_no_answer(tmp_path: Path) -> None:
    found = names(
        tmp_path,
        "import sys\nprint('{')\nsys.stdout.write('[')\nsys.stdout.flush()\nimport atexit\natexit.register(print, 1)\nK = 1\n",
    )
    assert found["K"] == ["constant", 1]


def test_what_was_read_is_listed(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text("[64]")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/a.py").write_text("A = 1\n")
    answer = run(
        tmp_path,
        "import json, pathlib\nfrom inner.a import A\nSIZES = json.loads((pathlib.Path(__file__).parent / 'data.json').read_text())\n"
        "try:\n    import nowhere_at_all\nexcept ImportError:\n    pass\n",
    )
    root = str(tmp_path.resolve())
    assert set(answer["files"]) == {
        root,
        f"{root}/k.py",
        f"{root}/data.json",
        f"{root}/inner",
        f"{root}/inner/a.py",
    }
    assert not list(tmp_path.rglob("__pycache__"))


def test_files_of_any_name_and_place(tmp_path: Path) -> None:
    """A package above it, a name that is none, and a name that something else has."""
    (tmp_path / "pack/inner").mkdir(parents=True)
    for name in ("pack/__init__.py", "pack/inner/__init__.py"):
        (tmp_path / name).write_text("B = 3\n")
    files = {
        "pack/inner/k.py": "from .. import B\nfrom . import B as C\nK = B + C\n",
        "my-kernels.py": "K = 6\n",
        "json.py": "K = 6\n",
        "inner/other.py": "from . import beside\nK = beside.B\n",
    }
    for name, text in {"inner/beside.py": "B = 6\n", **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    root = str(tmp_path.resolve())
    for name in files:
        request = {"source": f"{root}/{name}", "roots": [root], "own": [root]}
        done = subprocess.run(
            [sys.executable, "-S", "-s", "-P", CHILD],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout)["modules"][f"{root}/{name}"]["K"] == ["constant", 6], name
