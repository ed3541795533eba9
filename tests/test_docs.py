"""The documentation does what it says: its files are written, its commands run, its output compared, in order.

A fence is preceded by a comment that says what it is: ``file: NAME`` (written), ``file: NAME replace: A -> B`` (an edit, before the
fence), ``run`` (Python that must end well), ``fails`` (Python that must raise a TypeError or ValueError of the package).  ``console`` fences need none.
In expected output, ``…`` stands for anything.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from teenybuild.scaffold import create

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"(?:<!-- (?P<comment>.*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)```\n", re.S)


@dataclass(frozen=True, slots=True)
class Block:
    """One fence of a document."""

    comment: str
    language: str
    text: str


def blocks(document: str) -> Iterator[Block]:
    """The fences of a document, in order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield Block(match["comment"] or "", match["language"], match["text"])


def matches(expected: str, output: str) -> bool:
    """Whether output is what was expected, ``…`` standing for anything."""
    return (
        re.fullmatch(".*".join(map(re.escape, expected.strip("\n").split("…"))), output.strip("\n"), re.S)
        is not None
    )


def run(arguments: list[str], directory: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=directory,
        env={
            "PATH": "",
            "HOME": str(directory),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            **env,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def console(block: Block, directory: Path) -> None:
    """Runs a session of ``$ command`` lines, each with its output."""
    for session in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, expected = session.partition("\n")
        program, *arguments = command.split("#")[0].split()
        assert program == "teenybuild", command
        output = run(["-m", "teenybuild", *arguments], directory).stdout
        assert matches(expected, output), f"{command}\n--- expected\n{expected}\n--- came\n{output}"


def edit(block: Block, directory: Path) -> None:
    """Writes a block's file, or changes one before the block."""
    change = re.fullmatch(r"file: (\S+) replace: (.+) -> (.+)", block.comment)
    if change:
        path = directory / change[1]
        assert change[2] in path.read_text()
        path.write_text(path.read_text().replace(change[2], change[3]))
    elif block.comment.startswith("file: "):
        path = directory / block.comment.removeprefix("file: ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)


def test_the_first_kernel(tmp_path: Path) -> None:
    done = 0
    for block in blocks("docs/first-kernel.md"):
        edit(block, tmp_path)
        if block.language == "console":
            console(block, tmp_path)
        elif block.comment in ("run", "fails"):
            output = run(["-c", block.text], tmp_path)
            assert (output.returncode == 0) == (block.comment == "run"), output.stdout
            if block.comment == "fails":
                assert "weight_ptr" in output.stdout.splitlines()[-1] or "weight_ptr" in output.stdout
        done += 1
    assert done == 9


def test_reading(tmp_path: Path) -> None:
    """What the page shows of three kernels is what comes out."""
    found = list(blocks("docs/reading.md"))
    for block in found[:2]:
        edit(block, tmp_path)
    assert run(["-m", "teenybuild", "build", "-q"], tmp_path).returncode == 0
    sessions = [block for block in found if block.language == "console"]
    assert len(sessions) == 4
    for block in sessions:
        console(block, tmp_path)
    edit(found[-1], tmp_path)
    pytest_ = ["-m", "pytest", "-q", "-p", "teenybuild.pytest_plugin"]
    for arguments in ([*pytest_, "--kernel-snapshot-update"], pytest_):
        done = run(arguments, tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        assert "3 passed" in done.stdout, done.stdout
    kept = "tests/__kernel_snapshots__/test_kernels/test_scale_is_what_it_was.scale__1024.mlir"
    assert (tmp_path / kept).is_file()


def test_kernels_in_ci(tmp_path: Path) -> None:
    """The commands of the page, and those of its workflow: in order, each ending well."""
    done = 0
    for block in blocks("docs/ci.md"):
        edit(block, tmp_path)
        if block.language == "console":
            console(block, tmp_path)
        done += 1
    assert done == 4
    (workflow,) = (b.text for b in blocks("docs/ci.md") if b.language == "yaml")
    commands = [c.split() for c in re.findall(r"- run: (.+)", workflow) if c.startswith("teenybuild")]
    assert [c[1] for c in commands] == ["check", "build", "gc"]
    assert run(["-m", "teenybuild", "lock"], tmp_path).returncode == 0
    for _, *arguments in commands:
        output = run(["-m", "teenybuild", *arguments], tmp_path)
        assert output.returncode == 0, output.stdout


def test_the_readme_in_a_minute(tmp_path: Path) -> None:
    """What the README shows is what ``init`` makes and what the commands do."""
    create(tmp_path)
    manifest, kernel, use = (b.text for b in blocks("README.md") if b.language in ("toml", "python"))
    assert (tmp_path / "kernels.toml").read_text() == manifest
    assert kernel in (tmp_path / "kernels/vector_add.py").read_text().replace(
        "as tl\n", "as tl  # or: import triton.language as tl\n"
    )
    built = run(["-m", "teenybuild", "build"], tmp_path)
    assert built.returncode == 0, built.stdout
    used = run(
        ["-c", f"import sys; sys.path.insert(0, 'build')\n{use}\nassert (out == a + b).all()"], tmp_path
    )
    assert used.returncode == 0, used.stdout
    (wrong,) = (b.text for b in blocks("README.md") if b.language == "text")
    path = tmp_path / "kernels/vector_add.py"
    path.write_text(path.read_text().replace("a = tl.load", "a = tl.lode"))
    assert wrong.strip() in run(["-m", "teenybuild", "check"], tmp_path).stdout


@pytest.mark.parametrize(
    "document",
    sorted(
        p.relative_to(ROOT).as_posix()
        for p in (ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md"))
    ),
)
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"


def test_paths_that_architecture_names_exist() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\*\*`([\w/.]+\.py)`\*\*|`([\w/]+/[\w.]+\.py)`", text))
    there = [
        "/" + p.relative_to(ROOT).as_posix()
        for d in ("teenybuild", "kernels")
        for p in (ROOT / d).rglob("*.py")
    ]
    names = sorted(name for pair in named for name in pair if name)
    assert len(names) > 20
    assert [name for name in names if not any(path.endswith(f"/{name}") for path in there)] == []
