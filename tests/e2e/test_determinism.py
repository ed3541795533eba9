"""The same bytes wherever, whenever and by whichever Python the library is compiled."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import llvmlite
import pytest

from tests.e2e import digests

ROOT = Path(__file__).parents[2]


@cache
def here() -> dict[str, str]:
    """What this process makes of the library."""
    return digests.digests(ROOT)


def elsewhere(python: str, directory: Path, environment: dict[str, str]) -> dict[str, str]:
    """What another process makes of a copy of the library: another path, user directory, and nothing of our environment."""
    project = directory / "a project, somewhere else"
    project.mkdir()
    shutil.copy(ROOT / "kernels.toml", project)
    shutil.copytree(ROOT / "kernels", project / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    # llvmlite reaches LLVM through ctypes: one installation serves every Python.
    (directory / "packages").mkdir()
    (directory / "packages" / "llvmlite").symlink_to(Path(llvmlite.__file__).parent)
    done = subprocess.run(
        [python, "-B", digests.__file__, str(project)],
        cwd=directory,
        env={
            "PYTHONPATH": f"{ROOT}{os.pathsep}{directory / 'packages'}",
            "HOME": str(directory),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
        {
            "PYTHONHASHSEED": "424242",
            "LC_ALL": "tr_TR.UTF-8",
            "TZ": "Asia/Kolkata",
            "USER": "somebody",
            "PYTHONOPTIMIZE": "2",
        },
    ],
    ids=["c-locale", "optimised"],
)
def test_another_process(environment: dict[str, str], tmp_path: Path) -> None:
    assert elsewhere(sys.executable, tmp_path, environment) == here()


def other_pythons() -> list[str]:
    """Pythons on this machine of other versions than this one, that teenybuild supports."""
    found: list[str] = []
    environment = dict(os.environ)
    if shutil.which("pyenv"):
        # pyenv's launchers answer for versions that are switched on.
        asked = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True, check=False)
        environment["PYENV_VERSION"] = ":".join(asked.stdout.split())
    for minor in range(11, 20):
        command = shutil.which(f"python3.{minor}")
        if command is not None and minor != sys.version_info.minor:
            # What PATH finds may be a launcher, which a bare environment would break.
            asked = subprocess.run(
                [command, "-c", "import sys; print(sys.executable)"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if asked.returncode == 0:
                found.append(asked.stdout.strip())
    return found


def test_another_version_of_python(tmp_path: Path) -> None:
    pythons = other_pythons()
    if not pythons:
        pytest.skip("this machine has one Python only")
    for number, python in enumerate(pythons):
        directory = tmp_path / str(number)
        directory.mkdir()
        assert elsewhere(python, directory, {}) == here()


def test_the_order_of_work_does_not_matter() -> None:
    """What was compiled before leaves nothing behind in the process."""
    first = here()
    here.cache_clear()
    assert here() == first
