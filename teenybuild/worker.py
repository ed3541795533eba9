"""One edge: the specialisations of a chunk, each looked up, compiled if it must be, and stamped.

The compiling is done in a child process.  LLVM aborts on what it cannot select; the specialisation it was at is then known, tried once
more alone, and reported as a bug of ours, while the others of the chunk are compiled by a new child.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teenybuild.api import build_entry, job_key_fields
from teenybuild.cache import Cache, Entry, write_if_changed
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.pipeline import Job, front
from teenybuild.diagnostics import BugError, Diagnostic, Note, Span, UserError
from teenybuild.keys import key_of, short
from teenybuild.limits import DEFAULT, Limits
from teenybuild.sources import Sources, job
from teenybuild.specialisation import Specialisation
from teenybuild.targets import parse_target
from teenybuild.types import Assume, parse_type, said_of

STAMP_VERSION = 1

#: A member that the cache lacks, or whose cubin it lacks.
Waiting = tuple[Specialisation, Job]


@dataclass(slots=True)
class Outcome:
    """What became of a chunk: counts, what went wrong, and the stamp's members where all went well."""

    compiled: int = 0
    cached: int = 0
    failed: int = 0
    seconds: float = 0.0
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    bugs: list[str] = field(default_factory=list[str])
    damaged: list[str] = field(default_factory=list[str])
    members: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    #: What each member's key was made of, for ``explain``.
    keys: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    #: What those take that were assembled now.
    resources: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    @property
    def ok(self) -> bool:
        """Whether every member has its entry."""
        return not self.failed


def load_jobs(plan: dict[str, Any], directory: Path, prefix: str) -> list[tuple[Specialisation, Job]]:
    """The compiles of a chunk, from its plan and today's sources. Raises :class:`UserError`."""
    sources = Sources(directory, plan["kernels"], tuple(plan["roots"]), prefix)
    imports = plan["imported"] is not None
    if imports:
        sources.told(plan["source"], plan["imported"])
    reached = sources.reached(plan["source"], plan["function"], plan["globals"], imports)
    target = parse_target(plan["target"])
    found: list[tuple[Specialisation, Job]] = []
    for member in plan["members"]:
        spec = Specialisation(
            id=member["id"],
            kernel=plan["kernel"],
            types=tuple((name, parse_type(t)) for name, t in member["types"]),
            dtypes=tuple((v, d) for v, d in member["dtypes"]),
            consts=tuple((name, value) for name, value in member["consts"]),
            options=tuple((name, value) for name, value in member["options"]),
            assume=tuple((name, Assume(kind, value)) for name, kind, value in member["assume"]),
            auto=member["auto"],
            heuristics=tuple((name, value) for name, value in member["heuristics"]),
        )
        found.append((spec, job(reached, spec, target, plan["ptx"], plan["lineinfo"], plan["debug"])))
    return found


def run_chunk(
    plan: dict[str, Any],
    directory: Path,
    prefix: str,
    cache_dir: Path,
    limits: Limits = DEFAULT,
    *,
    force: bool = False,
) -> Outcome:
    """Brings every member of a chunk into the cache."""
    started = time.monotonic()
    outcome = Outcome()
    cache = Cache(cache_dir)
    try:
        jobs = load_jobs(plan, directory, prefix)
    except UserError as wrong:
        outcome.failed = len(plan["members"])
        outcome.diagnostics = list(wrong.diagnostics)
        return outcome
    waiting: list[Waiting] = []
    for spec, job_ in jobs:
        name, fields = job_.reached.function.name, job_key_fields(job_)
        outcome.keys[spec.id] = short(fields)
        entry = None if force else cache.find(name, key_of(fields))
        cubin = _found_cubin(plan, job_, entry, cache) if entry is not None and plan["cubins"] else None
        if entry is None or (plan["cubins"] and cubin is None):
            waiting.append((spec, job_))
        else:
            outcome.cached += 1
            for each in (entry, cubin):
                if each is not None:
                    cache.used(each)
            _keep(outcome, plan, spec, job_, said_of_entries(entry, cubin))
    outcome.damaged = [f"{d.path.name}: {d.why}" for d in cache.damaged]
    _compile_all(outcome, _Making(plan, cache_dir, limits, force), waiting)
    if not force:
        cache.count(outcome.cached, outcome.compiled)
    outcome.seconds = time.monotonic() - started
    return outcome


def _found_cubin(plan: dict[str, Any], job_: Job, ptx: Entry, cache: Cache) -> Entry | None:
    from teenybuild.cubins import cubin_key

    return cache.find(ptx.name, cubin_key(ptx.digests["ptx"], job_, plan["cubins"]["identity"]))


def said_of_entries(entry: Entry, cubin: Entry | None) -> dict[str, Any]:
    """What becomes of a member, as plain data."""
    return {
        "key": entry.key,
        "description": dict(entry.description),
        "cubin": None if cubin is None else {"key": cubin.key, "files": cubin.digests},
        "resources": None if cubin is None else cubin.description["resources"],
    }


def _keep(
    outcome: Outcome, plan: dict[str, Any], spec: Specialisation, job_: Job, said: dict[str, Any]
) -> None:
    """Enters a member into the stamp, if it writes what the manifest says it does."""
    description = said["description"]
    problems = check_outputs(plan, job_, description["arguments"])
    if problems:
        outcome.failed += 1
        outcome.diagnostics += [p for p in problems if p not in outcome.diagnostics]
        return
    outcome.members[spec.id] = {
        "key": said["key"],
        "name": job_.reached.function.name,
        "files": dict(description["files"]),
        **({"cubin": said["cubin"]} if said["cubin"] else {}),
    }


def check_outputs(plan: dict[str, Any], job_: Job, arguments: Sequence[dict[str, Any]]) -> list[Diagnostic]:
    """What the kernel does to its pointers against ``outputs`` and ``mutates``, where the manifest says any."""
    outputs, mutates = set(plan["outputs"]), set(plan["mutates"])
    if not outputs | mutates:
        return []
    wrong: list[tuple[str, str, str, str]] = []
    kernel = plan["kernel"]
    for argument in arguments:
        name, access = argument["name"], argument["access"]
        if "write" in access and said_of(name, outputs | mutates) is None:
            said = f"{kernel} writes {name}, which the manifest lists under neither outputs nor mutates"
            wrong.append(
                (name, "write", said, f"list {name} under {'mutates' if 'read' in access else 'outputs'}")
            )
        elif "read" in access and (listed := said_of(name, outputs)) is not None:
            said = f"{kernel} reads {name}, which the manifest lists under outputs (written only)"
            way_out = (
                f"list {name} under mutates"
                if "write" in access
                else f"it writes nothing there: do not list {name}"
                if listed == name
                else f"list those entries of {listed} that it writes"
            )
            wrong.append((name, "read", said, way_out))
    if not wrong:
        return []
    function = front(job_)
    from teenybuild.compiler.passes.access import accesses

    found: list[Diagnostic] = []
    for name, kind, message, hint in wrong:
        place = next(
            (op.location for arg, op, how in accesses(function) if arg == name and how == kind), None
        )
        span = place.span() if isinstance(place, Location) else None
        notes = place.chain() if isinstance(place, Location) else ()
        found.append(Diagnostic(message, span, notes, hint))
    return found


# The child ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Making:
    """How members are made: for which plan, where to, within which limits, and whether what the cache has is made again."""

    plan: dict[str, Any]
    cache_dir: Path
    limits: Limits
    force: bool

    def maker(self) -> Callable[[Job], dict[str, Any]]:
        """What makes an entry, and the cubin of it where one is wanted, of whichever is not there."""
        cache, cubins = Cache(self.cache_dir), self.plan["cubins"]
        if not cubins:
            return lambda job_: said_of_entries(build_entry(job_, cache, force=self.force)[0], None)
        from teenybuild.assembler import find_assembler
        from teenybuild.cubins import build_cubin

        assembler = find_assembler(cubins["assembler"])

        def make(job_: Job) -> dict[str, Any]:
            entry, _ = build_entry(job_, cache, force=self.force)
            return said_of_entries(entry, build_cubin(job_, entry, assembler, cache))

        return make


def _compile_all(outcome: Outcome, making: _Making, waiting: list[Waiting]) -> None:
    """Compiles what the cache lacks, in children; a child that dies takes nothing with it but the member it was at."""
    left = list(range(len(waiting)))
    while left:
        left = _run_child(outcome, making, waiting, left)


def _run_child(outcome: Outcome, making: _Making, waiting: list[Waiting], members: list[int]) -> list[int]:
    """One child for some members; those that are still to do afterwards."""
    plan, limits = making.plan, making.limits
    done: set[int] = set()
    at: list[int] = []

    def hear(message: dict[str, Any]) -> None:
        index: int = message["index"]
        spec, job_ = waiting[index]
        if message["event"] == "start":
            at[:] = [index]
            return
        done.add(index)
        at.clear()
        match message["event"]:
            case "done":
                outcome.compiled += 1
                _keep(outcome, plan, spec, job_, message)
                if message["resources"]:
                    outcome.resources[spec.id] = message["resources"]
            case "wrong":
                outcome.failed += 1
                found = [diagnostic_from(d) for d in message["diagnostics"]]
                outcome.diagnostics += [d for d in found if d not in outcome.diagnostics]
            case "memory":
                _over_limit(outcome, waiting[index], *limits.of_memory())
            case _:
                outcome.failed += 1
                outcome.bugs.append(f"{spec.id}: {message['text']}")

    status = _in_child(lambda say: _compile(making, waiting, members, say), hear)
    left = [m for m in members if m not in done]
    if not left:
        return []
    culprit = at[0] if at else left[0]
    rest = [m for m in left if m != culprit]
    if len(members) > 1 and status != -signal.SIGALRM:
        # It may have died of what an earlier member left behind: alone, it gets a second chance.
        _run_child(outcome, making, waiting, [culprit])
        return rest
    over = limits.wrong(status)
    if over is not None:
        _over_limit(outcome, waiting[culprit], *over)
        return rest
    spec, _ = waiting[culprit]
    outcome.failed += 1
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    outcome.bugs.append(
        f"{spec.id}: the compiler process died ({how}) while compiling it for {plan['target']}"
    )
    return rest


def _over_limit(outcome: Outcome, member: tuple[Specialisation, Job], message: str, hint: str) -> None:
    spec, job_ = member
    kernel = job_.reached.function
    span = kernel.module.source.span(kernel.node)
    outcome.failed += 1
    outcome.diagnostics.append(Diagnostic(f"{spec.id} for {job_.target.name}: {message}", span, hint=hint))


Say = Callable[[dict[str, Any]], None]


def _compile(making: _Making, waiting: list[Waiting], members: list[int], say: Say) -> None:
    limits = making.limits
    limits.begin()
    make = making.maker()
    for index in members:
        say({"event": "start", "index": index})
        limits.next()
        try:
            said = make(waiting[index][1])
        except UserError as wrong:
            say(
                {
                    "event": "wrong",
                    "index": index,
                    "diagnostics": [diagnostic_json(d) for d in wrong.diagnostics],
                }
            )
        except BugError as wrong:
            say({"event": "bug", "index": index, "text": wrong.message})
        except MemoryError:
            if limits.bytes is None:
                raise
            say({"event": "memory", "index": index})
        except RecursionError:
            say({"event": "bug", "index": index, "text": "the kernel is nested too deeply for the compiler"})
        except Exception:  # an assertion of ours, say: with all there is to report
            say({"event": "bug", "index": index, "text": f"the compiler failed\n{traceback.format_exc()}"})
        else:
            say({"event": "done", "index": index, **said})


def _in_child(work: Callable[[Say], None], hear: Callable[[dict[str, Any]], None]) -> int:
    """Runs ``work`` in a forked child, hears what it says as it says it, and gives its exit status (negative: a signal)."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            with os.fdopen(write, "w", encoding="utf-8") as pipe:

                def say(message: dict[str, Any]) -> None:
                    pipe.write(json.dumps(message) + "\n")
                    pipe.flush()

                work(say)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        for line in pipe:
            # What a child that is killed was saying breaks off; that it died is seen by its status.
            if line.endswith("\n"):
                hear(json.loads(line))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# Diagnostics as data ------------------------------------------------------------------------------------------


def span_json(span: Span | None) -> dict[str, Any] | None:
    """A span as plain data."""
    if span is None:
        return None
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "text": span.text,
    }


def diagnostic_json(d: Diagnostic) -> dict[str, Any]:
    """A diagnostic as plain data."""
    return {
        "severity": d.severity,
        "message": d.message,
        "span": span_json(d.span),
        "hint": d.hint,
        "notes": [{"message": n.message, "span": span_json(n.span)} for n in d.notes],
    }


def diagnostic_from(raw: dict[str, Any]) -> Diagnostic:
    """The reverse of :func:`diagnostic_json`."""

    def span(value: dict[str, Any] | None) -> Span | None:
        return None if value is None else Span(**value)

    notes = tuple(Note(n["message"], span(n["span"])) for n in raw["notes"])
    return Diagnostic(raw["message"], span(raw["span"]), notes, raw["hint"], raw["severity"])


def stamp_json(plan: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """The stamp of a chunk: what each of its ids has become."""
    members = {m["id"]: outcome.members[m["id"]] for m in plan["members"]}
    return {
        "stamp_version": STAMP_VERSION,
        "kernel": plan["kernel"],
        "target": plan["target"],
        "members": members,
    }


def result_json(outcome: Outcome, run: str) -> dict[str, Any]:
    """What the driver shows of a chunk. ``run`` names the build it belongs to."""
    return {
        "run": run,
        "compiled": outcome.compiled,
        "cached": outcome.cached,
        "failed": outcome.failed,
        "seconds": round(outcome.seconds, 4),
        "diagnostics": [diagnostic_json(d) for d in outcome.diagnostics],
        "bugs": outcome.bugs,
        "damaged": outcome.damaged,
        "resources": outcome.resources,
    }


def write_stamp(path: Path, plan: dict[str, Any], outcome: Outcome) -> None:
    """Writes the stamp if it changed, so that ninja's ``restat`` sees whether anything did."""
    write_if_changed(path, (json.dumps(stamp_json(plan, outcome), indent=1) + "\n").encode())


def write_keys(path: Path, plan: dict[str, Any], outcome: Outcome) -> None:
    """Writes down what the keys in the stamp were made of."""
    members = {m["id"]: outcome.keys[m["id"]] for m in plan["members"]}
    write_if_changed(path, (json.dumps(members, indent=1) + "\n").encode())
