"""Runs kernels in Triton's interpreter: ``python -m tests.peer.interpret JOBS RESULTS`` with TRITON_INTERPRET=1.

In a process of its own, because Triton decides when it is imported whether it interprets.  JOBS is a pickled
``{name: (path of the source, arguments, grid, constants)}``, RESULTS becomes ``{name: arrays, or the text of an error}``.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.support.run import Described

Array = np.ndarray
ROOT = Path(__file__).parents[2]
Job = tuple[str, Mapping[str, Any], tuple[int, ...], Mapping[str, Any]]


def tensor(array: Array) -> Any:
    """A torch tensor with the array's bits."""
    import torch

    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def array(tensor: Any) -> Array:
    """Back again."""
    import torch

    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def interpret(
    path: str, arguments: Mapping[str, Any], grid: tuple[int, ...], const: Mapping[str, Any]
) -> dict[str, Array]:
    """Runs ``kernel`` of a file; its arrays afterwards."""
    spec = importlib.util.spec_from_file_location(f"interpreted_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = {name: torch_value(value) for name, value in arguments.items()}
    module.kernel[grid](**given, **const)
    return {n: array(v) for name, value in given.items() for n, v in tensors(name, value)}


def torch_value(value: Any) -> Any:
    """An argument with tensors for arrays, and Triton's descriptors for ours."""
    if isinstance(value, np.ndarray):
        return tensor(value)
    if isinstance(value, tuple):
        return tuple(map(torch_value, value))
    if isinstance(value, Described):
        from triton.tools.tensor_descriptor import TensorDescriptor

        base, sizes = tensor(value.base), (value.shape, value.strides, value.block_shape)
        return TensorDescriptor(base, *map(list, sizes), value.padding)
    return value


def tensors(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors of an argument, by the names of the ABI."""
    if isinstance(value, tuple):
        for place, each in enumerate(value):
            yield from tensors(f"{name}[{place}]", each)
    elif hasattr(value, "block_shape"):
        yield name, value.base
    elif hasattr(value, "data_ptr"):
        yield name, value


def interpreted(jobs: Mapping[str, Job], directory: Path) -> Mapping[str, Any]:
    """The results of jobs, in a process for all of them."""
    (directory / "jobs").write_bytes(pickle.dumps(dict(jobs)))
    command = [
        sys.executable,
        "-m",
        "tests.peer.interpret",
        str(directory / "jobs"),
        str(directory / "results"),
    ]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return pickle.loads((directory / "results").read_bytes())


def main(jobs: Path, results: Path) -> None:
    """See the module's text."""
    found: dict[str, dict[str, Array] | str] = {}
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for name, job in pickle.loads(jobs.read_bytes()).items():
        try:
            found[name] = interpret(*job)
        except Exception as wrong:
            found[name] = f"{type(wrong).__name__}: {wrong}"
    results.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
