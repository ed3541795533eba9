"""Rewrites what is expected of kernels: ``python -m tests.compiler.update``. Look at the diff."""

from __future__ import annotations

import os

from .corpus import FAILING, GOLDEN, cases, complaints, goldens


def main() -> str | None:
    """Rewrite every expectation. Returns why not, or None."""
    if os.environ.get("CI"):
        return "expectations are updated by hand and reviewed, not in CI"
    for case in cases(FAILING):
        (case / "expected.txt").write_text(complaints(case), encoding="utf-8")
    for name, text in goldens().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    raise SystemExit(main())
