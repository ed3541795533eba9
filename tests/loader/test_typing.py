"""Type checkers accept right calls of a generated package, and reject wrong ones. Both are run, strict."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from .manifests import NESTED, VECTOR_ADD, ZOO
from .packages import install

RIGHT = """
    from typing import Literal

    import numpy as np
    from numpy.typing import NDArray

    from nested import affine_of, concat, shift
    from vectors import LaunchError, vector_add
    from zoo import affine, awkward, nothing, only_gpu, scalars, transpose_copy, where_am_i


    class Tensor:
        def data_ptr(self) -> int:
            return 0


    class CudaArray:
        @property
        def __cuda_array_interface__(self) -> dict[str, object]:
            return {}


    class JaxArray:
        def __dlpack_device__(self) -> tuple[Literal[2], int]:
            return 2, 0


    class Descriptor:
        base = Tensor()
        shape = [16, 32]
        strides = [32, 1]
        block_shape = [16, 32]
        padding = "nan"


    class Stream:
        cuda_stream: int = 0


    def calls(a: NDArray[np.float32], b: NDArray[np.generic], m: np.int32, x: np.float16) -> None:
        vector_add(a, a, a, 1024)
        vector_add(a, b, a, m, BLOCK_SIZE=1024)
        vector_add(a_ptr=a, b_ptr=a, out_ptr=a, n_elements=3)
        vector_add(Tensor(), CudaArray(), JaxArray(), 1024, grid=(8,), stream=Stream(), target="sm_90a")
        vector_add(a, a, a, 1024, grid=[8, np.int64(8), m], stream=0, target=None)
        vector_add.spec(D="f32", BLOCK_SIZE=128).launch((a, a, a, 1024), grid=(8,), stream=0)
        vector_add.spec(D="bf16").launch((b, b, b, m))
        vector_add.spec(D="bf16", BLOCK_SIZE=1024, auto=True).load(device=0)
        vector_add.pick(a, a, a, 1024, BLOCK_SIZE=128).launch((a, a, a, 1024))
        affine(a, None, a, 10, 2, False)
        affine(a, a, a, 10, 2.5, not a.size)
        affine(a, a, a, 10, x, True)
        affine.spec(D="f64", B="none", N="i32").launch((a, None, a, 10, x, True))
        transpose_copy(a, a, 4, 4, 4, 1)
        transpose_copy(a, a, 4, 4, 4, 1, BM=32, BN=16)
        transpose_copy(a, a, 4, 4, 4, 1, num_warps=8)
        scalars(a, True, 1, 2, 3, 4, 5, 6, 7, 8, 1.0, 2, x, 4.0)
        where_am_i(a, grid=(1,))
        nothing(target="cpu")
        awkward(1, 2, 3, 4, a, auto=2, grid_=(1,), target_="cpu")
        only_gpu(a, target="sm_80")
        concat((a, b), (3, m), (1, 2), a)
        concat((a, b, Tensor()), (3, m, 4), (1, 2), a, BLOCK=64)
        concat.pick((a, b), (3, m), (1, 2), a).launch(((a, b), (3, m), (1, 2), a), grid=(1,))
        affine_of(((a, a), None, 2.0), 3)
        affine_of(((a, a), a, x), n=m)
        shift(a, Descriptor(), 3)
        shift.spec(D="f16", BM=8, BN=16).launch((Descriptor(), Tensor(), 3))


    def names() -> tuple[str, ...]:
        print(vector_add.dtypes["D"], vector_add.consts, vector_add.options, vector_add.targets)
        vector_add.load()
        vector_add.unload()
        try:
            return tuple(each.id for each in vector_add.specialisations)
        except LaunchError as error:
            return (error.kernel, error.argument or "")
"""

WRONG = """
    import numpy as np
    from numpy.typing import NDArray

    from nested import affine_of, concat, shift
    from vectors import vector_add
    from zoo import affine, awkward, only_gpu, transpose_copy, where_am_i


    def calls(a: NDArray[np.float32]) -> None:
        vector_add(a, a, a)  # wrong: one missing
        vector_add(a, a, a, 1024, 128)  # wrong: one too many
        vector_add(a, a, a, 1024, BLOCK_SIZE=256)  # wrong: not built
        vector_add(a, a, a, 1024, BLOCK_SIZE="128")  # wrong: a string
        vector_add(a, a, a, 1024, BLOCKSIZE=128)  # wrong: no such name
        vector_add(a, a, a, 1024, D="f32")  # wrong: not in a call
        vector_add(a, a, a, 1024.0)  # wrong: a float
        vector_add(a, a, a, "1024")  # wrong: a string
        vector_add(a, a, a, a)  # wrong: an array
        vector_add(a, a, 5, 1024)  # wrong: not an array
        vector_add(a, a, None, 1024)  # wrong: never absent
        vector_add([1.0], a, a, 1024)  # wrong: a list
        vector_add(a, a, a, 1024, grid=8)  # wrong: not a tuple
        vector_add(a, a, a, 1024, grid=(8.0,))  # wrong: a float
        vector_add(a, a, a, 1024, stream="0")  # wrong: a string
        vector_add(a, a, a, 1024, target="sm_80")  # wrong: not built
        vector_add(a, a, a, 1024, num_warps=4)  # wrong: the manifest does not say it
        vector_add.spec(D="f64")  # wrong: not built
        vector_add.spec(D="bf16", BLOCK_SIZE=128)  # wrong: excluded
        vector_add.spec(D="f32").launch((a, a, a), grid=(8,))  # wrong: one missing
        vector_add.spec(D="f32").launch((a, a, a, 1024, 5), grid=(8,))  # wrong: one too many
        vector_add.spec(D="f32").launch((a, a, a, 2.5), grid=(8,))  # wrong: a float
        vector_add.nonsense  # wrong: no such attribute
        affine(a, 0, a, 10, 2.5, True)  # wrong: neither an array nor None
        affine(a, None, a, 10, "2.5", True)  # wrong: a string
        affine(a, None, a, 10, a, True)  # wrong: an array
        affine(a, None, a, 10, 2.5, 1)  # wrong: a number for a bool
        affine.spec(B="none", D="f32", N="i32").launch((a, a, a, 10, 2.5, True))  # wrong: absent here
        affine.spec(B="*f32", D="f32", N="i32").launch((a, None, a, 10, 2.5, True))  # wrong: not absent here
        transpose_copy(a, a, 4, 4, 4, 1, BM=16, BN=16)  # wrong: no such pair
        transpose_copy(a, a, 4, 4, 4, 1, BM=16, num_warps=8)  # wrong: no such pair
        where_am_i(a)  # wrong: no grid
        awkward(1, 2, 3, 4, a, target="cpu")  # wrong: given twice
        only_gpu(a, target="cpu")  # wrong: not built
        concat((a, a, a, a), (3, 4), (1, 2), a)  # wrong: one too many
        concat((a, a), (3, 4, 5), (1, 2), a)  # wrong: they do not go together
        concat((a, 3), (3, 4), (1, 2), a)  # wrong: a number in it
        concat(a, (3, 4), (1, 2), a)  # wrong: no tuple
        affine_of(((a, None), None, 2.0), 3)  # wrong: never absent
        affine_of((a, a, None, 2.0), 3)  # wrong: nothing nested
        affine_of.spec(D="f32", B="none").launch((((a, a), a, 1.0), 4))  # wrong: absent here
        shift(a, 3, 3)  # wrong: a number
        shift((a, a), a, 3)  # wrong: a tuple


    from vectors import vectoradd  # wrong: no such kernel
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with three packages and two files that use them."""
    directory = tmp_path_factory.mktemp("typed")
    install(VECTOR_ADD, directory, "vectors")
    install(ZOO, directory, "zoo")
    install(NESTED, directory, "nested")
    for name, text in (("right", RIGHT), ("wrong", WRONG)):
        (directory / f"{name}.py").write_text(textwrap.dedent(text).lstrip("\n"))
    config = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "reportMissingTypeStubs": False,
        # What is under test is what calls mean, not whether anything is done with them.
        "reportUnusedExpression": False,
        "reportUnusedImport": False,
    }
    (directory / "pyrightconfig.json").write_text(json.dumps(config))
    return directory


def pyright(directory: Path, *paths: str) -> list[tuple[str, int, str]]:
    """(file, line, message) of every error."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *paths]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in found
        if each["severity"] == "error"
    ]


def mypy(directory: Path, *paths: str) -> list[tuple[str, int, str]]:
    """(file, line, message) of every error."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", *paths]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300, check=False)
    assert not done.stderr, done.stderr
    found = [re.match(r"(.*?):(\d+): error: (.*)", line) for line in done.stdout.splitlines()]
    return [(Path(each[1]).name, int(each[2]), each[3]) for each in found if each is not None]


Checker = Callable[..., list[tuple[str, int, str]]]

CHECKERS = pytest.mark.parametrize("check", [pyright, mypy])


@CHECKERS
def test_right_calls(project: Path, check: Checker) -> None:
    assert check(project, "right.py") == []


@CHECKERS
def test_wrong_calls(project: Path, check: Checker) -> None:
    lines = (project / "wrong.py").read_text().splitlines()
    expected = {number for number, line in enumerate(lines, 1) if "# wrong" in line}
    found = {line for file, line, _ in check(project, "wrong.py") if file == "wrong.py"}
    assert {number: lines[number - 1] for number in expected ^ found} == {}


@CHECKERS
def test_the_package_itself(project: Path, check: Checker) -> None:
    """Whoever keeps a generated package in their own tree checks it with it."""
    assert check(project, "vectors", "zoo", "nested") == []
