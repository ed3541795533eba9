"""What a build system that has teenybuild as one of its steps (CMake, Meson, make) goes by: a stamp and a depfile.

Nothing heavy is imported here: an outer build asks for this also where there is nothing to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from teenybuild import ninja, state
from teenybuild.cache import write_if_changed
from teenybuild.project import DEPFILE, PACKAGE_STAMP, Project
from teenybuild.unchanged import STATE


def seen(project: Project) -> tuple[int, int] | None:
    """Tells apart what builds have recorded: the same before a build and after it, if it has found nothing new, not even another time of a file."""
    try:
        found = (project.build / STATE).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def write_stamp(project: Project, stamp: Path, *, before: tuple[int, int] | None) -> None:
    """Writes the package's own stamp to a place that the outer build knows, after a build that went well. ``before``: what was :func:`seen` before that.

    The same package leaves it alone, time and all, so that ninja's ``restat`` stops there.  What goes by times only (make) then asks again, with nothing
    new to see, and needs a stamp that is as new as what it is made from.
    """
    written = write_if_changed(stamp, (project.build / PACKAGE_STAMP).read_bytes())
    again = before == seen(project)
    if again and not written and stamp.stat().st_mtime_ns < state.newest(project.build):
        os.utime(stamp)


def write_depfile(project: Project, depfile: Path, stamp: str, more: Iterable[Path] = ()) -> None:
    """Writes what a build that went well was made from, and ``more``, as the rule of ``stamp``, which is spelled as the outer build spells it."""
    rule = (project.build / DEPFILE).read_bytes().decode("utf-8", "surrogateescape")
    text = ninja.depfile_of(stamp, rule, [str(path) for path in more])
    write_if_changed(depfile, text.encode("utf-8", "surrogateescape"))
