"""Every wrong call has its message, and nothing has run when it is raised."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.fake_driver import FakeDriver

from .manifests import VECTOR_ADD, ZOO
from .packages import imported, install
from .update import corpus_driver
from .wrong_calls import CASES, complaint, read_golden

EXPECTED = read_golden()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeDriver, Any, Any]]:
    """The driver, the zoo, vector_add. The cases run in order: one may find what another has loaded."""
    directory: Path = tmp_path_factory.mktemp("corpus")
    driver = corpus_driver()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "cuda.bindings.driver", driver)
        with imported(install(ZOO, directory)) as zoo, imported(install(VECTOR_ADD, directory)) as vector_add:
            yield driver, zoo, vector_add


def test_the_corpus_is_complete() -> None:
    assert list(EXPECTED) == list(CASES)
    assert len(CASES) >= 60
    assert len(set(EXPECTED.values())) > 0.9 * len(EXPECTED), "cases that say the same show little"


@pytest.mark.parametrize("name", CASES)
def test_message(corpus: tuple[FakeDriver, Any, Any], name: str) -> None:
    driver, zoo, vector_add = corpus
    assert complaint(CASES[name], zoo, vector_add) == EXPECTED[name]
    assert not driver.launches
    assert not driver.stack


def test_errors_are_python_errors_too(corpus: tuple[FakeDriver, Any, Any]) -> None:
    """What Python raises for a like mistake catches ours, and a worker process can send it."""
    _, zoo, vector_add = corpus
    for name, kind in {
        "one missing": TypeError,
        "float for an integer": TypeError,
        "integer above i32": ValueError,
        "grid of zero": ValueError,
        "const that is not built": LookupError,
        "use after unload": RuntimeError,
    }.items():
        with pytest.raises(kind) as caught:
            CASES[name](zoo, vector_add)
        error = caught.value
        assert isinstance(error, vector_add.LaunchError)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.kernel, again.argument) == (
            type(error),
            str(error),
            error.kernel,
            error.argument,
        )
