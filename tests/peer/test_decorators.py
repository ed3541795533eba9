"""What is read off decorators is what Triton's own hold when the file runs; importing a file with the real triton and torch tells it too."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from teenybuild.compiler.frontend import tuning
from tests.importing.test_alike import imported, plain, read, told
from tests.support.decorated import TUNED

pytestmark = pytest.mark.peer

triton = pytest.importorskip("triton", reason="the optional extra 'peer'")


def real(path: Path) -> Any:
    """The kernel as Triton makes it."""
    spec = importlib.util.spec_from_file_location("decorated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


@pytest.mark.parametrize("name", TUNED)
def test_configs(tmp_path: Path, name: str) -> None:
    found = plain(tuning.autotune(read(tmp_path, TUNED[name])))
    tuned = real(tmp_path / "k.py")
    assert isinstance(tuned, triton.runtime.Autotuner)
    expected = []
    for config in tuned.configs:
        consts = dict(config.kwargs)
        if name == "one left open":
            consts.setdefault("SPLIT", 1)
        options = {n: getattr(config, n) for n in ("num_warps", "num_stages", "maxnreg")}
        expected.append((list(consts.items()), {n: v for n, v in options.items() if v is not None}))
    assert found == expected


@pytest.mark.parametrize("name", TUNED)
def test_imported_with_the_real_ones(tmp_path: Path, name: str) -> None:
    configs = plain(tuning.autotune(read(tmp_path, TUNED[name])))
    assert told(imported(tmp_path, "import torch\nassert torch.__version__\n" + TUNED[name])) == configs
