"""docs/accuracy.md says what is measured now."""

from __future__ import annotations

from .accuracy_page import PAGE, page


def test_the_page_is_what_is_measured() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.language.update"
