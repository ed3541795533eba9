"""A project that was built once, copied for every test: a copy is cheaper than a build."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.build.project import TestProject


@pytest.fixture(scope="session")
def _built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = TestProject(tmp_path_factory.mktemp("built") / "project")
    report = project.build()
    assert report["compiled"] == 10
    return project.directory


@pytest.fixture
def built(_built_once: Path, tmp_path: Path) -> TestProject:
    """A project with everything built, at a path it was not built at."""
    directory = tmp_path / "project"
    shutil.copytree(_built_once, directory)
    return TestProject.at(directory)


@pytest.fixture
def fresh(tmp_path: Path) -> TestProject:
    """A project nothing was built of."""
    return TestProject(tmp_path / "project")
