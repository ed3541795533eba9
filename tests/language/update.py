"""Measures the functions and writes docs/accuracy.md: ``python -m tests.language.update``. Look at the diff."""

from __future__ import annotations

import os

from .accuracy_page import PAGE, page


def main() -> str | None:
    """Writes the page. Returns why not, or None."""
    if os.environ.get("CI"):
        return "the page is updated by hand and reviewed, not in CI"
    PAGE.write_text(page(), encoding="utf-8")
    return None


if __name__ == "__main__":
    raise SystemExit(main())
