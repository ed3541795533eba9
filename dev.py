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
#: Task → extras, best first: where one cannot be had, the next is taken. CI runs `peer`, whose peers are large; a plain `test` goes without.
EXTRAS = {
    "demo": ("",),
    "setup": ("[test]",),
    "test": ("[test]",),
    "lint": ("[test]",),
    "peer": ("[test,peer,interpreter]", "[test,peer]"),
}


def wanted(extra: str) -> str:
    text = (HERE / "pyproject.toml").read_bytes() + sys.version.encode() + extra.encode()
    return hashlib.sha256(text).hexdigest()


def setup(task: str) -> None:
    """An environment in .venv with teenybuild itself, editable, and what the task needs."""
    have = set(STAMP.read_text().split()) if STAMP.is_file() else set()
    if any(wanted(extra) in have for extra in EXTRAS[task]):
        return
    if not PYTHON.exists():
        print("setting up .venv (once)", file=sys.stderr)
        venv.create(VENV, with_pip=True)
    *better, last = EXTRAS[task]
    extra = next((e for e in better if install(e)), last)
    if extra == last and not install(last):
        raise SystemExit("the packages could not be installed: see above")
    if extra != EXTRAS[task][0]:
        print(f"{EXTRAS[task][0]} could not be installed: going on with {extra}", file=sys.stderr)
    STAMP.write_text("\n".join({*have, wanted(extra)}) + "\n")


def install(extra: str) -> bool:
    """Whether pip could install this checkout with ``extra``."""
    options = ("--quiet", "--disable-pip-version-check", "--editable")
    return (
        subprocess.run([PYTHON, "-m", "pip", "install", *options, f"{HERE}{extra}"], check=False).returncode
        == 0
    )


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
    setup(task)
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
