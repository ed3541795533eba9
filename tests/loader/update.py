"""Rewrites what the loader's tests expect: ``python -m tests.loader.update``. Look at the diff."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from tests.runtime.fake_driver import FakeDevice, FakeDriver

from . import goldens
from .manifests import VECTOR_ADD, ZOO
from .packages import imported, install
from .test_abi_schema import GOLDEN, images, settled
from .wrong_calls import CASES, complaint, write_golden

#: What the corpus of wrong calls runs on: device 2 is too old for everything, device 3 not the one of sm_90a.
DEVICES = (FakeDevice(), FakeDevice(), FakeDevice("Old GPU", (7, 5)), FakeDevice("New GPU", (10, 0)))


def corpus_driver() -> FakeDriver:
    """The driver of the corpus."""
    found = FakeDriver(*DEVICES)
    found.pointers[0x7F0000000000] = 0
    return found


def main() -> str | None:
    """Rewrite every expectation. Returns why not, or None."""
    if os.environ.get("CI"):
        return "expectations are updated by hand and reviewed, not in CI"
    sys.modules["cuda.bindings.driver"] = corpus_driver()  # type: ignore[assignment]
    with (
        tempfile.TemporaryDirectory() as directory,
        imported(install(ZOO, Path(directory))) as zoo,
        imported(install(VECTOR_ADD, Path(directory))) as add,
    ):
        write_golden({name: complaint(make, zoo, add) for name, make in CASES.items()})
    goldens.write()
    image = images()["sm_90a/vector_add__f32__128__a"]
    GOLDEN.write_text(json.dumps(settled(image), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return None


if __name__ == "__main__":
    raise SystemExit(main())
