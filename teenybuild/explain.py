"""Why a specialisation would be compiled, or would not: what its key was made of in the last build, and what it is made of now."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from teenybuild.api import job_key_fields
from teenybuild.cache import Cache
from teenybuild.compiler.pipeline import Job
from teenybuild.generate import read_plan
from teenybuild.inspection import selected
from teenybuild.keys import LISTS, decode, key_of, short
from teenybuild.project import KEYS, STAMPS, Project
from teenybuild.state import read_stamp, stamp_paths

#: What ``Explained.state`` may be, and how it reads.
STATES = {
    "built": "up to date: no part of its key has moved since the last build",
    "gone": "up to date, but no longer whole in the cache: no part of its key has moved, and it is compiled when it is next asked for",
    "moved": "would be compiled: its key has moved since the last build",
    "elsewhere": "would be taken from the cache: its key has moved since the last build, and the cache has the new one",
    "new": "would be compiled: the last build did not have it, nor has the cache",
    "known": "would be taken from the cache: the last build did not have it",
}
#: How the parts of a key are called where their own names say little.
_SAID = {
    "ptx": "PTX version",
    "assume": "assumptions",
    "lineinfo": "line information",
    "format": "format of keys",
}


@dataclass(frozen=True, slots=True)
class Moved:
    """One part of a key: what it was and what it is; empty where there was or is none."""

    part: str
    name: str
    then: str
    now: str

    def json(self) -> dict[str, str]:
        """As plain data."""
        return {"part": self.part, "name": self.name, "then": self.then, "now": self.now}

    def text(self) -> str:
        """As a line."""
        what = f"{_SAID.get(self.part, self.part)} {self.name}".rstrip()
        return f"{what}: {self.then or 'none'} -> {self.now or 'none'}"


@dataclass(frozen=True, slots=True)
class Explained:
    """One specialisation for one target. Keys are 64 hex digits, ``then`` empty where there was none."""

    id: str
    target: str
    state: str
    then: str
    now: str
    moved: tuple[Moved, ...] = ()
    #: What of the source has changed, in its canonical form; empty where nothing has, or the old one has gone from the cache.
    diff: tuple[str, ...] = field(default=())

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "target": self.target,
            "state": self.state,
            "then": self.then,
            "now": self.now,
            "moved": [each.json() for each in self.moved],
            "diff": list(self.diff),
        }

    def text(self) -> str:
        """As lines."""
        lines = [f"{self.id} for {self.target} {STATES[self.state]}"]
        keys = self.now if self.then in ("", self.now) else f"{self.then} -> {self.now}"
        lines += [f"  key: {keys}", *(f"  {each.text()}" for each in self.moved)]
        return "\n".join([*lines, *(f"    {line}".rstrip() for line in self.diff)])


def explain(project: Project, id_: str) -> list[Explained]:
    """What would happen to a specialisation for each of its targets. Raises :class:`UserError` where there is none of that id."""
    found, sources = read_plan(project)
    cache = Cache(project.cache_directory(found.manifest.manifest.build.cache))
    return [_explained(project, cache, id_, job) for job in selected(project, found, sources, id_)]


def _explained(project: Project, cache: Cache, id_: str, job: Job) -> Explained:
    name, today = job.reached.function.name, job_key_fields(job)
    now = key_of(today)
    has = cache.find(name, now) is not None
    before = _recorded(project, id_, job.target.name)
    if before is None:
        return Explained(id_, job.target.name, "known" if has else "new", "", now)
    then, fields = before
    if then == now:
        return Explained(id_, job.target.name, "built" if has else "gone", then, now)
    try:
        moved = tuple(_moved(fields, short(today))) if fields else ()
    except (ValueError, TypeError, AttributeError):
        moved = ()  # what was written down is damaged
    diff = _source_diff(cache, name, then, job)
    return Explained(id_, job.target.name, "elsewhere" if has else "moved", then, now, moved, diff)


def _recorded(project: Project, id_: str, target: str) -> tuple[str, dict[str, str]] | None:
    """The key that the last build gave, and its fields."""
    for stamp in stamp_paths(project.build):
        said = read_stamp(stamp)
        if said is None or said["target"] != target or id_ not in said["members"]:
            continue
        key: str = said["members"][id_]["key"]
        try:
            where = project.build / KEYS / stamp.relative_to(project.build / STAMPS)
            return key, json.loads(where.read_bytes())[id_]
        except (OSError, ValueError, KeyError, TypeError):
            return key, {}  # it was not written down, or is not to be read any more
    return None


def _moved(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Moved]:
    """The parts that differ, in the order of keys; of a list, each name by itself."""
    for part in dict.fromkeys((*now, *then)):
        old, new = then.get(part, ""), now.get(part, "")
        if old == new:
            continue
        if part not in LISTS:
            yield Moved(part, "", old, new)
            continue
        before, after = decode(old), decode(new)
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                yield Moved(part, name, before.get(name, ""), after.get(name, ""))
        if before == after:
            yield Moved(part, "", ", ".join(before), ", ".join(after))


def _source_diff(cache: Cache, name: str, then: str, job: Job) -> tuple[str, ...]:
    old = cache.find(name, then, ("py",))
    if old is None:
        return ()
    before, after = old.files["py"].decode().splitlines(), job.reached.text.splitlines()
    lines = difflib.unified_diff(before, after, "then", "now", n=1, lineterm="")
    return tuple(lines)
