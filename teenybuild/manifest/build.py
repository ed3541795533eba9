"""``[build]``: what to build for, and where."""

from __future__ import annotations

import posixpath

from teenybuild.manifest.checks import ptx_too_old
from teenybuild.manifest.model import Build, Origin
from teenybuild.manifest.report import Report
from teenybuild.manifest.schema import BUILD
from teenybuild.manifest.shapes import Fault
from teenybuild.manifest.table import as_table, check_table
from teenybuild.manifest.toml import Table
from teenybuild.targets import CPU, TARGETS, parse_target


def read_build(table: Table, origin: Origin, report: Report) -> Build:
    """``[build]``, checked and typed. What is wrong goes to ``report``, and has its default in what comes back."""
    checked = check_table(table, BUILD, "[build]", origin, report)
    good = checked.good
    standard = Build(tuple(parse_target(name) for name in checked.texts("targets")) or (CPU,))
    ptx = good.get("ptx")
    build = Build(
        targets=standard.targets,
        kernels=posixpath.normpath(str(good.get("kernels", standard.kernels))),
        roots=tuple(posixpath.normpath(root) for root in checked.texts("roots")),
        loader=str(good.get("loader", standard.loader)),
        emit=checked.texts("emit", standard.emit),
        assembler=str(good.get("assembler", standard.assembler)),
        ptx={target: str(version) for target, version in as_table(ptx).items()},
        ptx_any=ptx if isinstance(ptx, str) else None,
        cache=str(good["cache"]) if "cache" in good else None,
        include=checked.texts("include"),
        lineinfo=good.get("lineinfo") is True,
        debug=good.get("debug") is True,
    )
    _check_ptx(build, origin, report)
    return build


def _check_ptx(build: Build, origin: Origin, report: Report) -> None:
    """A version that is for all targets has all of them; one for a target has that."""
    if build.ptx_any is not None:
        problems = [ptx_too_old(build.ptx_any, target) for target in build.targets]
        # The first target that it is too old for is enough to say.
        for problem in [problem for problem in problems if problem is not None][:1]:
            report.fault(Fault(("ptx",), problem.message, problem.hint), origin)
    for name, version in build.ptx.items():
        problem = ptx_too_old(version, TARGETS[name])
        if problem is not None:
            report.fault(Fault(("ptx", name), problem.message, problem.hint), origin)
