"""What benchmarks have that needs no GPU: a kernel of their own, their arithmetic, and their pages."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from teenybuild.testing import run as run_checked
from tests.support.run import HOST_TARGETS

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def loaded(name: str) -> ModuleType:
    """A script's module; they are no package."""
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses ask for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", HOST_TARGETS)
@pytest.mark.parametrize("aligned", [1, 16])
def test_products_of_a_group(target: str, aligned: int) -> None:
    """Each of its own size, found through tables of addresses: few programs share all tiles out."""
    rng = np.random.default_rng()
    sizes = [(64, 48, 32), (17, 96, 48), (1, 16, 80), (100, 32, 16)]
    if aligned == 1:
        sizes = [(64, 33, 32), (17, 96, 40), (1, 5, 70), (100, 32, 1)]
    a, b = (
        [rng.integers(-3, 4, (s[i], s[i + 1])).astype(np.float16) for s in ((m, k, n) for m, n, k in sizes)]
        for i in range(2)
    )
    c = [np.full((m, n), 99, np.float16) for m, n, _ in sizes]
    tables = [np.array([x.ctypes.data for x in arrays]) for arrays in (a, b, c)]
    args: dict[str, Any] = dict(zip(("a_table", "b_table", "c_table"), tables, strict=True))
    args |= {"sizes_ptr": np.array(sizes, np.int32).ravel(), "groups": len(sizes)}
    const = {
        "DTYPE": "tl.float16", "PROGRAMS": 3, "ALIGNED": aligned, "BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16,
    }  # fmt: skip
    source = BENCHMARKS / "sources" / "grouped.py"
    run_checked(f"{source}:grouped_product", args, grid=3, const=const, target=target, debug=True)
    for x, y, found in zip(a, b, c, strict=True):
        assert found.tolist() == (x.astype(np.float32) @ y.astype(np.float32)).astype(np.float16).tolist()


def test_rounds_take_turns() -> None:
    """Every side begins as often as any other, and figures go to who made them."""
    timing = loaded("timing")
    calls: list[str] = []

    def side(name: str, seconds: float) -> Any:
        return lambda: calls.append(name) or seconds

    found = timing.in_turn(
        {name: side(name, s) for name, s in zip("abc", (1.0, 2.0, 4.0), strict=True)}, rounds=4, warmup=1
    )
    assert "".join(calls) == "abc" + "abc" + "bca" + "cab" + "abc"
    assert found == {"a": [1.0] * 4, "b": [2.0] * 4, "c": [4.0] * 4}
    assert timing.ratio_interval(found["b"], found["a"]) == (2.0, 2.0, 2.0)
    compared = timing.compare(side("a", 2.0), side("b", 3.0), rounds=3)
    assert (compared.ours, compared.theirs, compared.ratio) == (2.0, 3.0, 1.5)


def row(name: str, **tflops: float) -> dict[str, Any]:
    sides = {
        side: {"tflops": speed, "config": "128 x 64", "ratio": [1.0, 0.99, 1.01]}
        for side, speed in tflops.items()
    }
    return {"name": name, "sides": sides, "failed": [], "rounds": 21, "tried": {"ours": {"64 x 64": 1.0}}}


def test_a_page_of_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows, the last of each name, a picture in which bars are as high as what they stand for, and the figures of which the same page comes again."""
    pages = loaded("pages")
    results = tmp_path / "results"
    results.mkdir()
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "RESULTS", results)
    said = {"device": "a device", "torch": "2", "triton": "3"}
    first = {**said, "rows": [row("matmul_1", ours=1.0), row("ceiling_bf16", Triton=400.0)]}
    second = {**said, "rows": [row("matmul_1", ours=100.0, Triton=200.0, cuBLAS=50.0), row("thin", ours=7.0)]}
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file, what in zip(files, (first, second), strict=True):
        file.write_text(json.dumps(what))
    pages.write("products", files, "matmul_")
    page = (tmp_path / "products.md").read_text()
    assert "| matmul_1 | 100.0 | 200.0 | 50.0 | 1.000 (0.990–1.010) | 1.000 (0.990–1.010) | 21 |" in page
    assert "| thin | 7.0 | – | – | – | – | 21 |" in page
    kept = results / "products.json"
    assert "tried" not in kept.read_text()
    pages.write("products", [kept], "matmul_")
    assert (tmp_path / "products.md").read_text() == page
    picture = ElementTree.parse(tmp_path / "products.svg").getroot()
    bars = [each for each in picture.iter() if each.tag.endswith("rect") and len(each)]
    heights = [float(bar.get("height", 0)) for bar in bars]
    assert [bar[0].text for bar in bars] == [
        "matmul_1, ours: 100.0",
        "matmul_1, Triton: 200.0",
        "matmul_1, cuBLAS: 50.0",
    ]
    assert heights == pytest.approx([heights[0], 2 * heights[0], heights[0] / 2], abs=0.2)
    assert [each.text for each in picture.iter() if (each.text or "").startswith("ceiling")] == [
        "ceiling 400"
    ]


@pytest.mark.parametrize(("benchmark", "drawn"), [("products", "matmul_bf16_"), ("attention", "attention_")])
def test_pages_are_made_of_the_figures_beside_them(
    benchmark: str, drawn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = loaded("pages")
    docs, results = pages.DOCS, pages.RESULTS
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    pages.write(benchmark, [results / f"{benchmark}.json"], drawn)
    for name in (f"{benchmark}.md", f"{benchmark}.svg"):
        assert (tmp_path / name).read_text() == (docs / name).read_text()
