"""The page of what shows each name is as the tests are, and every name is shown."""

from __future__ import annotations

import pytest

from . import support_page

TEXTS = support_page.texts()


def test_the_page_is_as_the_tests_are() -> None:
    """``python -m tests.language.update`` writes it anew."""
    assert support_page.PAGE.read_text(encoding="utf-8") == support_page.page()


@pytest.mark.parametrize("name", support_page.names())
def test_every_name_is_shown(name: str) -> None:
    assert support_page.shown_by(name, TEXTS), f"no kernel of tests/language uses {name}"


def test_a_name_that_nobody_uses_is_found() -> None:
    assert support_page.shown_by("tl.no_such_function", TEXTS) == []
