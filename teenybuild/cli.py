"""The command line. The only module that prints or exits.

Exit codes: 0 done; 1 the input is wrong or a kernel failed; 2 usage; 70 a bug of ours.
Errors go to stderr, ``--json`` to stdout.  Commands import what they need when they run: a build with nothing to do loads almost nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teenybuild.diagnostics import BugError, Diagnostic, UserError, error, show

if TYPE_CHECKING:
    import argparse

    from teenybuild.build import Report
    from teenybuild.project import Project

DONE, WRONG, USAGE, BUG = 0, 1, 2, 70


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    internal = _INTERNAL.get(arguments[0]) if arguments else None
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        # Names of files and lines of sources have what the terminal's encoding may lack: it is spelled, as stderr does it.
        reconfigure(errors="backslashreplace")
    try:
        if internal is not None:
            return internal(arguments[1:])
        from teenybuild.arguments import parser

        parsed = parser().parse_args(arguments)
        return _COMMANDS[parsed.command](parsed)
    except UserError as wrong:
        return _fail(arguments, wrong.diagnostics)
    except BugError as bug:
        _error(f"teenybuild: bug: {bug}")
        return BUG
    except BrokenPipeError:
        # Whoever read our output has gone: so do we, quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        _error("teenybuild: interrupted")
        return 130
    except OSError as wrong:
        where = f"{wrong.filename}: " if wrong.filename is not None else ""
        return _fail(arguments, [Diagnostic(f"{where}{wrong.strerror or wrong}")])
    except Exception:  # whatever else comes out is ours: say so, with all there is to report
        import traceback

        _error(
            f"{traceback.format_exc()}teenybuild: bug: this is a bug in teenybuild, not in your input; please report it."
        )
        return BUG


def _fail(arguments: Sequence[str], diagnostics: Sequence[Diagnostic]) -> int:
    for diagnostic in diagnostics:
        _error(show(diagnostic))
    if "--json" in arguments:
        command = next((a for a in arguments if not a.startswith("-")), "")
        _print_json(command, False, diagnostics=_diagnostics_json(diagnostics))
    return WRONG


def _error(text: str) -> None:
    print(text, file=sys.stderr)


def _print_json(command: str, ok: bool, **fields: Any) -> None:
    from teenybuild import __version__

    print(json.dumps({"version": __version__, "command": command, "ok": ok, **fields}, indent=1))


def _diagnostics_json(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    return [
        {
            "severity": d.severity,
            "message": d.message,
            "file": d.span.file if d.span else None,
            "line": d.span.line if d.span else None,
            "column": d.span.column if d.span else None,
            "hint": d.hint,
            "notes": [
                {
                    "message": n.message,
                    "file": n.span.file if n.span else None,
                    "line": n.span.line if n.span else None,
                    "column": n.span.column if n.span else None,
                }
                for n in d.notes
            ],
        }
        for d in diagnostics
    ]


def _project(parsed: argparse.Namespace) -> Project:
    from teenybuild.project import open_project

    return open_project(
        parsed.manifest,
        build_dir=parsed.build_dir,
        targets=tuple(getattr(parsed, "target", ())),
        cache_dir=getattr(parsed, "cache_dir", None) or os.environ.get("TEENYBUILD_CACHE_DIR"),
        loader_dir=getattr(parsed, "loader_dir", None),
        ptx_version=os.environ.get("TEENYBUILD_PTX_VERSION"),
        allow_import=getattr(parsed, "allow_import", False),
    )


# Commands -----------------------------------------------------------------------------------------------------


def _init(parsed: argparse.Namespace) -> int:
    from teenybuild.scaffold import create

    made = create(Path(parsed.directory))
    for path in made:
        print(f"made {path}")
    elsewhere = "" if parsed.directory == "." else f" -m {parsed.directory.rstrip('/')}/kernels.toml"
    print(f"next: teenybuild build{elsewhere}")
    return DONE


def _build(parsed: argparse.Namespace) -> int:
    from teenybuild.build import build

    started = time.monotonic()
    if parsed.depfile is not None and parsed.stamp is None:
        raise error(
            "--depfile says what a stamp is made from, and none is asked for", hint="add --stamp FILE"
        )
    project = _project(parsed)
    _limit(parsed)
    before = None
    if parsed.stamp is not None:
        from teenybuild.outer import seen

        before = seen(project)
    with _Progress(parsed.quiet or parsed.json) as progress:
        report = build(project, jobs=parsed.jobs, force=parsed.force, progress=progress.step)
    if report.ok and parsed.locked:
        from teenybuild.locked import differences

        report.diagnostics += differences(project)
    compared = 0
    if report.ok and parsed.check_reproducible:
        from teenybuild.reproducible import compare

        result = compare(project)
        report.diagnostics += result.differences
        compared = result.files
    if report.ok and parsed.stamp is not None:
        _tell_outer_build(parsed, project, before)
    seconds = time.monotonic() - started
    _say_what_is_wrong(report)
    if parsed.json:
        _print_json(
            "build",
            report.ok,
            specialisations=report.specialisations,
            artifacts=report.artifacts,
            targets=list(report.targets),
            compiled=report.compiled,
            cached=report.cached,
            failed=report.failed,
            package=report.package,
            seconds=round(seconds, 3),
            diagnostics=_diagnostics_json(report.diagnostics),
            bugs=report.bugs,
        )
    elif not parsed.quiet:
        _print_resources(report)
        print(_build_summary(report, seconds))
        if compared and report.ok:
            print(f"reproducible: {_counted(compared, 'file')} came out of two builds alike")
    return BUG if report.bugs else (DONE if report.ok else WRONG)


def _tell_outer_build(parsed: argparse.Namespace, project: Project, before: tuple[int, int] | None) -> None:
    from teenybuild.outer import write_depfile, write_stamp

    if parsed.depfile is not None:
        more: list[Path] = []
        if parsed.locked:
            from teenybuild.locked import lock_path

            more.append(lock_path(project))
        write_depfile(project, Path(parsed.depfile), parsed.stamp, more)
    # Last: it is newer than everything that it stands for.
    write_stamp(project, Path(parsed.stamp), before=before)


def _limit(parsed: argparse.Namespace) -> None:
    """Has every edge know what a compile may take: by the environment, as bare ninja says it."""
    if parsed.time_limit is None and parsed.memory_limit is None:
        return
    from teenybuild.limits import MEMORY_VARIABLE, TIME_VARIABLE

    if parsed.time_limit is not None:
        os.environ[TIME_VARIABLE] = repr(parsed.time_limit)
    if parsed.memory_limit is not None:
        os.environ[MEMORY_VARIABLE] = str(parsed.memory_limit)


def _say_what_is_wrong(report: Report) -> None:
    for text in report.damaged:
        _error(f"teenybuild: a cache entry was damaged and has been rebuilt: {text}")
    for diagnostic in report.diagnostics:
        _error(show(diagnostic))
    for text in report.bugs:
        _error(f"teenybuild: bug: {text}\nThis is a bug in teenybuild, not in your input; please report it.")


def _lock(parsed: argparse.Namespace) -> int:
    from teenybuild.build import build
    from teenybuild.locked import lock_path, write_lock

    project = _project(parsed)
    lock = lock_path(project)
    with _Progress(parsed.json) as progress:
        report = build(project, jobs=parsed.jobs, progress=progress.step)
    _say_what_is_wrong(report)
    changed = report.ok and write_lock(project)
    if parsed.json:
        _print_json(
            "lock",
            report.ok,
            artifacts=report.artifacts,
            changed=changed,
            lock=str(lock),
            diagnostics=_diagnostics_json(report.diagnostics),
            bugs=report.bugs,
        )
    elif report.ok:
        how = "locked" if changed else "locked already"
        print(f"{how}: {_counted(report.artifacts, 'artifact')} in {lock.name}")
    return BUG if report.bugs else (DONE if report.ok else WRONG)


def _build_summary(report: Report, seconds: float) -> str:
    from teenybuild.unchanged import said_of, what_of

    if report.up_to_date:
        return said_of(report.summary())
    what = what_of(report.summary())
    counts = f"{report.compiled} compiled, {report.cached} cached"
    if report.failed:
        return f"failed: {report.failed} of {what}; {counts}; what did build is kept"
    if not report.compiled:
        return f"nothing to compile: {what} cached, in {seconds:.2f} s: {report.package}"
    return f"built {what}: {counts}, in {seconds:.2f} s: {report.package}"


def _counted(number: int, what: str, many: str = "") -> str:
    return f"{number} {what if number == 1 else many or what + 's'}"


class _Progress:
    """A bar on a terminal, nothing otherwise: the summary says it all in a log."""

    def __init__(self, silent: bool) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._show = not silent and sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        return self

    def step(self, done: int, total: int, what: str) -> None:
        """One step of the build is done."""
        if not self._show:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=total)
        self._bar.update(self._task, completed=done, total=total, description=what)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _check(parsed: argparse.Namespace) -> int:
    from teenybuild.inspection import check

    result = check(_project(parsed))
    if result.diagnostics:
        raise UserError(result.diagnostics)
    if parsed.json:
        _print_json("check", True, specialisations=result.specialisations, kernels=result.kernels)
    else:
        print(
            f"ok: {_counted(result.kernels, 'kernel')}, {_counted(result.specialisations, 'specialisation')}"
        )
    return DONE


def _list(parsed: argparse.Namespace) -> int:
    from teenybuild.inspection import listing

    rows = listing(_project(parsed))
    if parsed.json:
        _print_json("list", True, specialisations=[row.json() for row in rows])
        return DONE
    header: tuple[str, ...] = ("id", "target", "key", "state")
    if any(row.resources is not None for row in rows):
        from teenybuild.assembler import HEADER

        header += HEADER
    _print_table(header, [row.cells() for row in rows])
    return DONE


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as what is in them; a row may end early."""
    lines = [[*row, *[""] * (len(header) - len(row))] for row in (header, *rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _print_resources(report: Report) -> None:
    """What was assembled now takes, what spills first: the first of many."""
    if not report.resources:
        return
    from teenybuild.assembler import HEADER, Resources

    found = [(id_, target, Resources(**taken)) for (id_, target), taken in report.resources.items()]
    found.sort(key=lambda each: (-each[2].spill_stores - each[2].spill_loads, -each[2].registers, each[:2]))
    _print_table(("id", "target", *HEADER), [(id_, target, *r.cells()) for id_, target, r in found[:_SHOWN]])
    if len(found) > _SHOWN:
        print(f"… and {len(found) - _SHOWN} more: teenybuild list has all")


#: Rows of what was assembled that a build shows.
_SHOWN = 20


def _show(parsed: argparse.Namespace) -> int:
    from teenybuild.inspection import stage

    target = parsed.target[0] if parsed.target else None
    text = stage(_project(parsed), parsed.id, target, parsed.stage, sass=parsed.sass)
    if parsed.json:
        _print_json("show", True, id=parsed.id, stage=parsed.stage, text=text)
    else:
        print(text.rstrip("\n"))
    return DONE


def _explain(parsed: argparse.Namespace) -> int:
    from teenybuild.explain import explain

    found = explain(_project(parsed), parsed.id)
    if parsed.json:
        _print_json("explain", True, id=parsed.id, targets=[each.json() for each in found])
    else:
        print("\n".join(each.text() for each in found))
    return DONE


def _clean(parsed: argparse.Namespace) -> int:
    from teenybuild.inspection import clean

    removed = clean(_project(parsed), cache=parsed.cache)
    if parsed.json:
        _print_json("clean", True, removed=removed)
    else:
        print(f"removed {removed} files")
    return DONE


def _cache_directory(parsed: argparse.Namespace) -> Path:
    """The cache that is meant: by the command line or the environment, else the manifest's, else the user's."""
    said = parsed.cache_dir or os.environ.get("TEENYBUILD_CACHE_DIR")
    if said:
        return Path(said)
    from teenybuild.arguments import MANIFEST

    if parsed.manifest == MANIFEST and not Path(MANIFEST).exists():
        from teenybuild.cache import default_directory

        return default_directory()
    from teenybuild.inspection import cache_of

    return cache_of(_project(parsed))


def _cache(parsed: argparse.Namespace) -> int:
    from teenybuild.units import show_size
    from teenybuild.upkeep import contents, counts

    found = contents(_cache_directory(parsed))
    asked = counts(found.directory)
    if parsed.json:
        _print_json(
            "cache",
            True,
            directory=str(found.directory),
            entries=len(found.entries),
            leftovers=len(found.leftovers),
            bytes=found.bytes,
            hits=asked.hits,
            misses=asked.misses,
        )
        return DONE
    left = f", {_counted(len(found.leftovers), 'leftover file')}" if found.leftovers else ""
    entries = _counted(len(found.entries), "entry", "entries")
    print(f"{found.directory}: {entries}{left}, {show_size(found.bytes)}")
    print(f"builds found {asked.hits} artifacts there, and compiled {asked.misses}")
    return DONE


#: Days after which what was not used goes, if nothing is said.
_UNUSED_DAYS = 30.0


def _gc(parsed: argparse.Namespace) -> int:
    from teenybuild.units import show_size
    from teenybuild.upkeep import DAY, collect

    directory = _cache_directory(parsed)
    days = parsed.max_age
    if days is None and parsed.max_size is None:
        days = _UNUSED_DAYS
    result = collect(
        directory,
        max_age=None if days is None else days * DAY,
        max_bytes=parsed.max_size,
        dry_run=parsed.dry_run,
    )
    if parsed.json:
        _print_json(
            "gc",
            True,
            directory=str(directory),
            removed=result.entries,
            leftovers=result.leftovers,
            bytes=result.bytes,
            entries_left=result.entries_left,
            bytes_left=result.bytes_left,
            dry_run=parsed.dry_run,
        )
        return DONE
    how = "would remove" if parsed.dry_run else "removed"
    entries = _counted(result.entries, "entry", "entries")
    print(
        f"{how} {entries} and {_counted(result.leftovers, 'leftover file')}, {show_size(result.bytes)}; "
        f"{result.entries_left} left, {show_size(result.bytes_left)}"
    )
    return DONE


def _doctor(parsed: argparse.Namespace) -> int:
    from teenybuild.doctor import examine

    findings = examine(parsed.manifest)
    if parsed.json:
        _print_json("doctor", all(f.ok for f in findings), findings=[f.json() for f in findings])
    else:
        for finding in findings:
            print(f"{'ok ' if finding.ok else 'NO '} {finding.what}: {finding.text}")
    return DONE if all(f.ok for f in findings) else WRONG


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "init": _init,
    "build": _build,
    "lock": _lock,
    "check": _check,
    "list": _list,
    "show": _show,
    "explain": _explain,
    "clean": _clean,
    "cache": _cache,
    "gc": _gc,
    "doctor": _doctor,
}


# What ninja calls ---------------------------------------------------------------------------------------------


def _in_build_directory() -> tuple[Project, Path]:
    """The project ninja is building, seen from where the build was started, so that messages name files alike."""
    from teenybuild.project import reopen

    build = Path.cwd()
    project = reopen(build)
    if Path(project.settings.cwd).is_dir():
        os.chdir(project.settings.cwd)
    return project, build


def _chunk(arguments: list[str]) -> int:
    from teenybuild.build import FORCE_VARIABLE, RUN_VARIABLE
    from teenybuild.limits import limits_of
    from teenybuild.project import CACHE, KEYS, RESULTS, STAMPS
    from teenybuild.worker import result_json, run_chunk, write_keys, write_stamp

    project, build = _in_build_directory()
    plan_path, stamp_path = (build / a for a in arguments)
    plan = json.loads(plan_path.read_bytes())
    cache_dir = Path(json.loads((build / CACHE).read_bytes())["directory"])
    force = bool(os.environ.get(FORCE_VARIABLE))
    outcome = run_chunk(plan, project.directory, project.prefix, cache_dir, limits_of(), force=force)
    run = os.environ.get(RUN_VARIABLE, "")
    result = build / RESULTS / stamp_path.relative_to(build / STAMPS)
    from teenybuild.cache import write_if_changed

    write_if_changed(result, (json.dumps(result_json(outcome, run), indent=1) + "\n").encode())
    if outcome.ok:
        write_keys(build / KEYS / stamp_path.relative_to(build / STAMPS), plan, outcome)
        write_stamp(stamp_path, plan, outcome)
        return DONE
    if not run:
        # Bare ninja: nobody else will say it.
        for diagnostic in outcome.diagnostics:
            _error(show(diagnostic))
        for text in outcome.bugs:
            _error(f"teenybuild: bug: {text}")
    return BUG if outcome.bugs else WRONG


def _package(arguments: list[str]) -> int:
    from teenybuild.build import RUN_VARIABLE
    from teenybuild.cache import write_if_changed
    from teenybuild.packaging import package
    from teenybuild.project import PACKAGE_RESULT, RESULTS
    from teenybuild.worker import Outcome, result_json

    project, build = _in_build_directory()
    try:
        missing = package(project, build / arguments[0])
    except UserError as wrong:
        run = os.environ.get(RUN_VARIABLE, "")
        if not run:
            raise
        # The driver says it, as it says what went wrong with chunks.
        result = result_json(Outcome(diagnostics=list(wrong.diagnostics)), run)
        write_if_changed(build / RESULTS / PACKAGE_RESULT, (json.dumps(result, indent=1) + "\n").encode())
        return WRONG
    for text in missing:
        _error(f"teenybuild: {text}")
    return WRONG if missing else DONE


def _generate(arguments: list[str]) -> int:
    from teenybuild.generate import generate

    project, _ = _in_build_directory()
    generate(project)
    return DONE


_INTERNAL: dict[str, Callable[[list[str]], int]] = {
    "_chunk": _chunk,
    "_package": _package,
    "_generate": _generate,
}
