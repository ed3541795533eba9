"""What may stand in a string: names, paths, types, expressions, targets, versions. Each gives a problem, or None."""

from __future__ import annotations

import keyword
import posixpath
import re
import sys
import unicodedata
from collections.abc import Container

from teenybuild.diagnostics import did_you_mean
from teenybuild.manifest import grid
from teenybuild.manifest.shapes import Check, Problem, quoted
from teenybuild.manifest.typespec import VARIABLE, parse_spec
from teenybuild.targets import (
    ARCHITECTURES,
    PTX_VERSIONS,
    TARGETS,
    Target,
    TargetError,
    parse_target,
    ptx_number,
)
from teenybuild.types import TypeSyntaxError, is_entry_name, parameter_of, parse_type

#: Names of kernels and functions become file names, with a digest after them.
LONGEST_NAME = 100

#: Of a pattern for files, which is matched part by part.
_LONGEST_PATTERN = 500

#: Names in the build directory, where the package lies unless something else is said.
_IN_BUILD_DIRECTORY = ("imported", "lines", "plan", "results", "stamps")
#: What a generated package imports: a package of that name would hide it.
_NEEDED_BY_LOADER = ("cuda", "ml_dtypes", "numpy", "teenybuild")

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def identifier_problem(name: str, what: str) -> Problem | None:
    """Why ``name`` cannot be a name in Python, or None. ``what`` is what messages call it."""
    if not _IDENTIFIER.fullmatch(name):
        hint = "a name has letters A to Z, digits and _, and does not start with a digit"
        return Problem(f"{what} {quoted(name)} is not an ASCII identifier", hint)
    if keyword.iskeyword(name):
        return Problem(f"{what} {quoted(name)} is a keyword of Python", f"call it {name}_")
    if len(name) > LONGEST_NAME:
        return Problem(
            f"{what} {quoted(name)} has {len(name)} characters; at most {LONGEST_NAME} make a file name"
        )
    return None


def kernel_name_problem(name: str) -> Problem | None:
    """Why ``name`` cannot be the name of a kernel, or None: it becomes a module of the generated package."""
    problem = identifier_problem(name, "the kernel name")
    if problem is None and name.startswith("_"):
        return Problem(
            f"the kernel name {quoted(name)} starts with _, which the generated package keeps for itself",
            f"call it {name.lstrip('_') or 'kernel'}; function = {quoted(name)} names the function",
        )
    return problem


def loader_problem(name: str) -> Problem | None:
    """Why ``name`` cannot be the name of the generated package, or None."""
    problem = identifier_problem(name, "the package name")
    if problem is not None:
        return problem
    if name in sys.stdlib_module_names:
        return Problem(
            f"the package name {quoted(name)} would hide a module of Python", f"call it {name}_kernels"
        )
    if name in _IN_BUILD_DIRECTORY:
        return Problem(
            f"the package {quoted(name)} would lie among the build's own files of that name",
            f"call it {name}_kernels",
        )
    if name in _NEEDED_BY_LOADER:
        return Problem(
            f"the package name {quoted(name)} would hide a package that it needs", f"call it {name}_kernels"
        )
    return None


def cache_problem(text: str) -> Problem | None:
    """Why ``text`` cannot be a path that may lead anywhere, or None."""
    if any(unicodedata.category(char) == "Cc" for char in text):
        return Problem(f"the path {quoted(text)} has a control character", "rename what it leads to")
    if "\\" in text:
        return Problem(
            f"the path {quoted(text)} has a backslash", "paths are written with /, on every system"
        )
    if text.startswith("~"):
        return Problem(
            f"the path {quoted(text)} starts with ~, which stands for nothing here", "write the path out"
        )
    return None


def path_problem(text: str) -> Problem | None:
    """Why ``text`` cannot be a path that stays in its directory, or None."""
    if text.startswith("/") or re.match(r"[A-Za-z]:", text):
        hint = "write it relative, so that the build is the same everywhere"
        return Problem(f"the path {quoted(text)} is absolute", hint)
    if posixpath.normpath(text).split("/")[0] == "..":
        return Problem(
            f"the path {quoted(text)} climbs out of its directory", "move the file, or the manifest"
        )
    return cache_problem(text)


def pattern_problem(text: str) -> Problem | None:
    """Why ``text`` is not a glob pattern for files, or None. Versions of Python differ in what they make of others."""
    parts = text.split("/")
    if parts.count("**") > 2 or len(text) > _LONGEST_PATTERN:
        hint = f"it has ** twice at most, and up to {_LONGEST_PATTERN} characters"
        return Problem(f"{quoted(text)} would take too long to match", hint)
    if any("**" in part and part != "**" for part in parts) or parts[-1] in ("", ".", "**"):
        hint = "* is part of a name, ** any directories between two /, and a file name comes last: more/**/*.toml"
        return Problem(f"{quoted(text)} is not a pattern for files", hint)
    return path_problem(text)


def ptx_problem(version: str) -> Problem | None:
    """Why ``version`` is not a PTX ISA version, or None."""
    if version not in PTX_VERSIONS:
        return Problem(
            f"{quoted(version)} is not a PTX ISA version",
            f"versions are {PTX_VERSIONS[0]} to {PTX_VERSIONS[-1]}",
        )
    return None


def ptx_too_old(version: str, target: Target) -> Problem | None:
    """Why ``version`` does not do for ``target``, or None."""
    if target.machine == "cpu" or target.arch is None or ptx_number(version) >= ptx_number(target.arch.ptx):
        return None
    return Problem(
        f"PTX ISA {version} does not have {target}, which needs {target.arch.ptx}",
        f'ptx = {{ {target} = "{target.arch.ptx}" }} sets it for this target alone',
    )


def gpu_target_problem(name: str) -> Problem | None:
    """Why ``name`` is not a target that has PTX, or None."""
    if name in ARCHITECTURES:
        return None
    why = "has no PTX" if name in TARGETS else "is not a target"
    hint = did_you_mean(name, ARCHITECTURES) or "PTX is for GPU targets, such as sm_90a"
    return Problem(f"{quoted(name)} {why}", hint)


def target_problem(name: str) -> Problem | None:
    """Why ``name`` is not a target, or None."""
    try:
        parse_target(name)
    except TargetError as problem:
        return Problem(problem.message, problem.hint)
    return None


def source_problem(path: str) -> Problem | None:
    """Why ``path`` cannot be the source of a kernel, or None."""
    if path.endswith(".py"):
        return path_problem(path)
    return path_problem(path) or Problem(f"{quoted(path)} is not the path of a .py file")


def identifier(what: str) -> Check:
    """Checks names in Python that messages call ``what``."""
    return lambda name: identifier_problem(name, what)


def entry_problem(name: str) -> Problem | None:
    """Why ``name`` cannot be an argument or an entry of one (``ptrs[1]``, ``a.shape[0]``), or None."""
    if name != parameter_of(name) and not is_entry_name(name):
        hint = "an entry of a tuple is ptrs[0], an extent of a descriptor a.shape[0]"
        return Problem(f"{quoted(name)} is not the name of an argument or of an entry of one", hint)
    return identifier_problem(parameter_of(name), "the argument")


def const_name(options: Container[str]) -> Check:
    """Checks names of consts: they are parameters, and no ``options``."""

    def check(name: str) -> Problem | None:
        if name in options:
            return Problem(f"{name} is an option, not a const", f"options = {{ {name} = … }}")
        return identifier_problem(name, "the const")

    return check


def variable_problem(name: str) -> Problem | None:
    """Why ``name`` cannot be a dtype variable, or None."""
    problem = identifier_problem(name, "the dtype variable")
    if problem is None and not VARIABLE.fullmatch(name):
        return Problem(
            f"the dtype variable {quoted(name)} is not upper case", f"call it {name.upper().lstrip('_')}"
        )
    return problem


def type_problem(text: str) -> Problem | None:
    """Why ``text`` is not a type, or None."""
    try:
        parse_type(text)
    except TypeSyntaxError as problem:
        return Problem(problem.message, problem.hint, (problem.start, problem.end))
    return None


def spec_problem(text: str) -> Problem | None:
    """Why ``text`` is not a type that may use dtype variables, or None."""
    try:
        parse_spec(text)
    except TypeSyntaxError as problem:
        return Problem(problem.message, problem.hint, (problem.start, problem.end))
    return None


def grid_problem(text: str) -> Problem | None:
    """Why ``text`` is not an expression of the grid language, or None."""
    try:
        grid.parse(text)
    except grid.GridError as problem:
        return Problem(problem.message, problem.hint, (problem.start, problem.end))
    return None
