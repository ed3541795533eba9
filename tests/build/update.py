"""Rewrites what is expected of a build: ``python -m tests.build.update``. Look at the diff."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tests.build.goldens import CONTENTS, DIRECTORY, contents
from tests.build.project import TestProject


def main() -> str | None:
    """Rewrite every expectation. Returns why not, or None."""
    if os.environ.get("CI"):
        return "expectations are updated by hand and reviewed, not in CI"
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        project = TestProject(Path(directory) / "project")
        for name in CONTENTS:
            project.build()
            (DIRECTORY / name).write_text(contents(name, project), encoding="utf-8")
    return None


if __name__ == "__main__":
    raise SystemExit(main())
