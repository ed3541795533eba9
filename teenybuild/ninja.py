"""``build.ninja.in`` and the edges of one build → ``build.ninja``. Pure text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teenybuild.diagnostics import BugError, error


@dataclass(frozen=True, slots=True)
class Edge:
    """One ``build`` statement. Paths are relative to the build directory."""

    outputs: tuple[str, ...]
    rule: str
    inputs: tuple[str, ...] = ()
    implicit: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def escape_path(path: str) -> str:
    """A path in a ``build`` statement. Raises :class:`UserError` for what ninja cannot name at all."""
    if any(c in path for c in "\n\r\0|"):
        raise error(f"ninja has no way to write a path with a line break or a bar: {path!r}")
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def escape_value(text: str) -> str:
    """A variable's value."""
    if "\n" in text or "\r" in text:
        raise BugError(f"a ninja variable with a line break: {text!r}")
    text = text.replace("$", "$$")
    return f"${text}" if text.startswith(" ") else text


def shell_word(text: str) -> str:
    """One word of a command: quoted for the shell, then for ninja."""
    return escape_value(shlex.quote(text))


def statement(edge: Edge) -> str:
    """An edge as ninja reads it."""
    outputs = " ".join(escape_path(p) for p in edge.outputs)
    inputs = "".join(f" {escape_path(p)}" for p in edge.inputs)
    implicit = "".join(f" {escape_path(p)}" for p in edge.implicit)
    text = f"build {outputs}: {edge.rule}{inputs}"
    if implicit:
        text += f" |{implicit}"
    return (
        text + "".join(f"\n  {name} = {escape_value(value)}" for name, value in edge.variables.items()) + "\n"
    )


def render(template: str, values: Mapping[str, str], edges: Iterable[Edge]) -> str:
    """The template with ``@NAME@`` replaced, ``@EDGES@`` by the statements."""
    text = template
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text.replace("@EDGES@\n", "\n".join(statement(e) for e in edges))


#: What a depfile has no way to write within a name, and at its end.
_UNSAYABLE = re.compile(r"[\x00-\x1f\x7f*;<>^`|]|\\\$|[:\\]$")
#: Stands for a name that cannot be written: it is not there, so nobody takes what depends on it for up to date.
UNSAID = "a-name-that-no-depfile-has"


def in_depfile(path: str) -> bool:
    """Whether a depfile can name a path."""
    return _UNSAYABLE.search(path) is None


def depfile(target: str, inputs: Sequence[str]) -> str:
    """A Makefile rule that says what ``target`` was made from, as ninja, CMake and make read depfiles.

    Raises :class:`UserError` for a line break. Of other names that none of them can read, it says that they have changed.
    """
    return f"{_in_depfile(target)}: \\\n  " + " \\\n  ".join(map(_in_depfile, inputs)) + "\n"


def depfile_of(target: str, rule: str, more: Sequence[str]) -> str:
    """The ``rule`` that :func:`depfile` gave for another target, and for ``more`` inputs."""
    inputs = rule.partition(": ")[2].rstrip("\n")
    return f"{_in_depfile(target)}: {inputs}" + "".join(f" \\\n  {_in_depfile(p)}" for p in more) + "\n"


def _in_depfile(path: str) -> str:
    if "\n" in path:
        raise error(f"depfiles have no way to write a path with a line break: {path!r}")
    if not in_depfile(path):
        return UNSAID
    # Backslashes stand for themselves, but before a space, which takes one for each, and one more.
    spaces = re.sub(r"(\\*) ", r"\1\1\\ ", path)
    return re.sub(r"([#:])", r"\\\1", spaces).replace("$", "$$")


def template() -> str:
    """The text of ``build.ninja.in``: beside the package where it is installed, at the top of a checkout."""
    here = Path(__file__).parent
    for place in (here / "build.ninja.in", here.parent / "build.ninja.in"):
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise BugError("build.ninja.in is not where it was installed")
