"""The driver: generate, run ninja, gather what happened."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teenybuild import state
from teenybuild.diagnostics import BugError, Diagnostic
from teenybuild.project import PACKAGE_MISSING, PACKAGE_RESULT, PACKAGE_STAMP, RESULTS, STAMPS, Project
from teenybuild.unchanged import unchanged

#: Names a run, so that results of an earlier one are not taken for this one's.
RUN_VARIABLE = "TEENYBUILD_RUN"
#: Has edges compile what the cache has.
FORCE_VARIABLE = "TEENYBUILD_FORCE"
#: ninja's exit status after an interrupt.
_INTERRUPTED = 130
#: ninja's status line, as we ask for it: finished, total, running.
_STATUS = "[%f/%t] "
_STATUS_LINE = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")

#: Told how many steps are done, of how many, and what the last one was.
Progress = Callable[[int, int, str], None]


@dataclass(slots=True)
class Report:
    """What a build did."""

    #: Ids; artifacts are one a specialisation and target.
    specialisations: int = 0
    artifacts: int = 0
    targets: tuple[str, ...] = ()
    compiled: int = 0
    cached: int = 0
    failed: int = 0
    seconds: float = 0.0
    up_to_date: bool = False
    package: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    bugs: list[str] = field(default_factory=list[str])
    damaged: list[str] = field(default_factory=list[str])
    #: What those take that were assembled now, by id and target.
    resources: dict[tuple[str, str], dict[str, int]] = field(
        default_factory=dict[tuple[str, str], dict[str, int]]
    )

    @property
    def ok(self) -> bool:
        """Whether everything that was asked for is there."""
        return not self.failed and not self.diagnostics and not self.bugs

    def summary(self) -> dict[str, Any]:
        """The part that stays true while nothing changes."""
        return {
            "specialisations": self.specialisations,
            "artifacts": self.artifacts,
            "targets": list(self.targets),
            "package": self.package,
        }


def ninja_binary() -> str:
    """The ninja this program depends on. Two versions taking turns on one directory would rebuild everything each time."""
    import ninja

    path = Path(ninja.BIN_DIR) / "ninja"
    if not path.is_file():
        raise BugError(f"the ninja package has no binary at {path}")
    return str(path)


def build(
    project: Project, *, jobs: int | None = None, force: bool = False, progress: Progress | None = None
) -> Report:
    """Brings everything up to date. Raises :class:`UserError` for what is wrong before anything is compiled."""
    settings = project.settings.json()
    if not force:
        last = unchanged(str(project.build), settings)
        if last is not None:
            return Report(
                specialisations=last["specialisations"],
                artifacts=last["artifacts"],
                targets=tuple(last["targets"]),
                cached=last["artifacts"],
                package=last["package"],
                up_to_date=True,
            )
    return _full(project, jobs, force, progress)


def _full(project: Project, jobs: int | None, force: bool, progress: Progress | None) -> Report:
    from teenybuild.generate import generate
    from teenybuild.packaging import intact, recorded_directory, recorded_package

    started_ns = time.time_ns()
    generated = generate(project)
    stamps = [project.build / STAMPS / c.path for c in generated.chunks]
    package_stamp = project.build / PACKAGE_STAMP
    for path in stamps if force else state.damaged_outputs(project.build, stamps):
        path.unlink(missing_ok=True)
    if force or not intact(package_stamp):
        package_stamp.unlink(missing_ok=True)
    state.forget(project.build)
    run = os.urandom(8).hex()
    status, output = _run_ninja(project.build, run, jobs, force, progress)
    if status != 0 and _package_wants_more(project.build):
        # Entries have gone from the cache since they were stamped: their stamps are gone now too, so build them again.
        status, output = _run_ninja(project.build, run, jobs, force, progress)
    report = _gather(project.build, [*(c.path for c in generated.chunks), PACKAGE_RESULT], run)
    report.specialisations = len({m.id for c in generated.chunks for m in c.members})
    report.artifacts = sum(len(c.members) for c in generated.chunks)
    report.targets = tuple(t.name for t in generated.targets)
    report.cached = report.artifacts - report.compiled - report.failed
    report.package = str(recorded_directory(package_stamp) or project.build)
    if status == 0:
        state.record(
            project.build,
            project.settings.json(),
            report.summary(),
            generated.inputs,
            [*stamps, package_stamp, *recorded_package(package_stamp)],
            started_ns=started_ns,
        )
    elif report.ok:
        raise BugError(f"ninja failed (exit status {status}):\n{output}")
    return report


def _package_wants_more(build: Path) -> bool:
    marker = build / PACKAGE_MISSING
    if marker.is_file():
        marker.unlink()
        return True
    return False


def _run_ninja(
    build: Path, run: str, jobs: int | None, force: bool, progress: Progress | None
) -> tuple[int, str]:
    """Runs ninja to the end of what can be built; its exit status and what it printed beyond its status lines."""
    import subprocess

    command = [ninja_binary(), "-C", str(build), "-k", "0"]
    if jobs is not None:
        command += ["-j", str(jobs)]
    environment = {**os.environ, RUN_VARIABLE: run, "NINJA_STATUS": _STATUS}
    if force:
        environment[FORCE_VARIABLE] = "1"
    lines: list[str] = []
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            matched = _STATUS_LINE.match(line.rstrip("\n"))
            if matched is None:
                lines.append(line)
            elif progress is not None:
                progress(int(matched[1]), int(matched[2]), matched[3])
        status = process.wait()
        if status == _INTERRUPTED:
            # The signal was ninja's alone, or came to us where Python drops it.
            raise KeyboardInterrupt
        return status, "".join(lines)
    except KeyboardInterrupt:
        # ninja has the signal too: it stops its children and cleans up after itself.
        process.wait()
        raise
    finally:
        process.stdout.close()


def _gather(build: Path, paths: list[str], run: str) -> Report:
    """Adds up the results of the chunks that ran now."""
    report = Report()
    from teenybuild.worker import diagnostic_from

    for path in paths:
        try:
            raw = json.loads((build / RESULTS / path).read_bytes())
        except (OSError, ValueError):
            continue
        if raw["run"] != run:
            continue
        report.compiled += raw["compiled"]
        report.failed += raw["failed"]
        report.seconds += raw["seconds"]
        report.bugs += raw["bugs"]
        report.damaged += raw["damaged"]
        target = path.partition("/")[0]
        report.resources |= {(id_, target): taken for id_, taken in raw["resources"].items()}
        for d in raw["diagnostics"]:
            diagnostic = diagnostic_from(d)
            if diagnostic not in report.diagnostics:
                report.diagnostics.append(diagnostic)
    return report
