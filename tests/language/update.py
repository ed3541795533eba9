"""Writes docs/accuracy.md, measured anew, and docs/support.md: ``python -m tests.language.update``. Look at the diff."""

from __future__ import annotations

import os

from . import accuracy_page, support_page


def main() -> str | None:
    """Writes the pages. Returns why not, or None."""
    if os.environ.get("CI"):
        return "the pages are updated by hand and reviewed, not in CI"
    for each in (accuracy_page, support_page):
        each.PAGE.write_text(each.page(), encoding="utf-8")
    return None


if __name__ == "__main__":
    raise SystemExit(main())
