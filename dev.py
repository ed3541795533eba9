#!/usr/bin/env python3
"""Sets up this checkout and runs a task in it. Needs Python 3.11 or later and nothing else.

python3 dev.py demo     build kernels.toml, run every kernel, check it against NumPy
python3 dev.py test     the tests (options go to pytest)
python3 dev.py lint     ruff, pyright
python3 dev.py setup    just the environment, in .venv
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
#: What an environment was made for: another pyproject.toml or interpreter makes a new one.
STAMP = VENV / "teenybuild.stamp"
#: Extras that CI takes in too: real peers to check against. They are large; a plain `test` goes without them.
EXTRAS = {"demo": "", "setup": "[test]", "test": "[test]", "lint": "[test]", "peer": "[test,peer]"}


def wanted(extra: str) -> str:
    text = (HERE / "pyproject.toml").read_bytes() + sys.version.encode() + extra.encode()
    return hashlib.sha256(text).hexdigest()


def setup(extra: str) -> None:
    """An environment in .venv with teenybuild itself, editable, and what the task needs."""
    have = set(STAMP.read_text().split()) if STAMP.is_file() else set()
    if wanted(extra) in have:
        return
    if not PYTHON.exists():
        print("setting up .venv (once)", file=sys.stderr)
        venv.create(VENV, with_pip=True)
    command = [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--editable",
        f"{HERE}{extra}",
    ]
    subprocess.run(command, check=True)
    STAMP.write_text("\n".join({*have, wanted(extra)}) + "\n")


def run(*command: str) -> int:
    environment = {**os.environ, "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    return subprocess.run(command, cwd=HERE, env=environment, check=False).returncode


def main() -> int:
    task, *rest = sys.argv[1:] or ["help"]
    if task not in EXTRAS:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036  # said in words, to whoever runs it with an old one
        print(f"teenybuild needs Python 3.11 or later; this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    setup(EXTRAS[task])
    python = str(PYTHON)
    if task == "demo":
        return run(python, "-m", "teenybuild", "build") or run(python, "examples/demo.py", *rest)
    if task in ("test", "peer"):
        return run(python, "-m", "pytest", "-n", "auto", *rest)
    if task == "lint":
        return (
            run(python, "-m", "ruff", "check")
            or run(python, "-m", "ruff", "format", "--check")
            or run(python, "-m", "pyright")
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
