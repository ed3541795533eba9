"""The lock: which artifact each specialisation was, by key and by digest, in a file that is kept with the sources.

It lies beside the manifest, a line an artifact, so that a difference reads well in a review::

    [sm_90a]
    scale__f32__128 = { key = "…", ptx = "…" }
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teenybuild.cache import write_if_changed
from teenybuild.diagnostics import Diagnostic, error, first_of
from teenybuild.keys import fingerprint
from teenybuild.project import Project
from teenybuild.state import read_stamp, stamp_paths

LOCK_VERSION = 1
#: What of entries is shipped, and so locked.
_SHIPPED = ("ptx", "so", "cubin")


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is locked of one: its key, and the sha256 of the files that are shipped, by extension; all in 64 hex digits."""

    key: str
    digests: Mapping[str, str]

    def differing(self, other: Artifact) -> str | None:
        """The first file that is another one; None where none is."""
        files = (*self.digests, *other.digests)
        return next((e for e in files if self.digests.get(e) != other.digests.get(e)), None)


#: Target → id → artifact.
Artifacts = Mapping[str, Mapping[str, Artifact]]


def lock_path(project: Project) -> Path:
    """The lock of a manifest: ``kernels.lock`` of ``kernels.toml``. Raises :class:`UserError` where that is the manifest itself."""
    path = project.manifest.with_suffix(".lock")
    if path == project.manifest:
        raise error(
            f"the lock of {path.name} would be {path.name} itself", hint="give the manifest another name"
        )
    return path


def built(project: Project) -> dict[str, dict[str, Artifact]]:
    """What the last build has, by its stamps."""
    found: dict[str, dict[str, Artifact]] = {}
    for path in stamp_paths(project.build):
        stamp = read_stamp(path)
        if stamp is None:
            raise error(f"{path} is damaged", hint="teenybuild build --force writes it anew")
        for id_, member in stamp["members"].items():
            files = {**member["files"], **member.get("cubin", {"files": {}})["files"]}
            found.setdefault(stamp["target"], {})[id_] = _shipped(member["key"], files)
    return found


def write_lock(project: Project) -> bool:
    """Records what the last build has; whether the lock is another one now. Raises :class:`UserError` where it cannot be written."""
    path = lock_path(project)
    try:
        return write_if_changed(path, _text(built(project)).encode())
    except OSError as wrong:
        raise error(f"cannot write {path.name}: {wrong.strerror}") from None


def _text(artifacts: Artifacts) -> str:
    lines = [
        "# Written by `teenybuild lock`. `teenybuild build --locked` fails where a build gives anything else.",
        f"lock_version = {LOCK_VERSION}",
        f'compiler = "{fingerprint()}"',
    ]
    for target in sorted(artifacts):
        lines += ["", f"[{json.dumps(target)}]"]
        for id_, each in sorted(artifacts[target].items()):
            files = "".join(f', {extension} = "{digest}"' for extension, digest in each.digests.items())
            lines.append(f'{id_} = {{ key = "{each.key}"{files} }}')
    return "\n".join(lines) + "\n"


def read_lock(project: Project) -> tuple[str, dict[str, dict[str, Artifact]]]:
    """The compiler's fingerprint and the artifacts. Raises :class:`UserError` where there is no lock that can be read."""
    path = lock_path(project)
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        targets: dict[str, dict[str, dict[str, str]]] = {k: v for k, v in raw.items() if isinstance(v, dict)}
        if raw["lock_version"] != LOCK_VERSION:
            raise error(
                f"{path.name} is of version {raw['lock_version']}, and this teenybuild writes version {LOCK_VERSION}",
                hint="teenybuild lock writes it anew",
            )
        return _text_in(raw, "compiler"), {
            target: {id_: _artifact(said) for id_, said in members.items()}
            for target, members in targets.items()
        }
    except FileNotFoundError:
        raise error(f"there is no {path.name}", hint="teenybuild lock writes it") from None
    except (OSError, ValueError, KeyError, TypeError, StopIteration, RecursionError) as wrong:
        raise error(f"{path.name} cannot be read: {wrong}", hint="teenybuild lock writes it anew") from None


def _artifact(said: Mapping[str, str]) -> Artifact:
    return _shipped(_text_in(said, "key"), said)


def _shipped(key: str, files: Mapping[str, str]) -> Artifact:
    found = {extension: _text_in(files, extension) for extension in _SHIPPED if extension in files}
    if not found:
        raise KeyError("no file")
    return Artifact(key, found)


def _text_in(said: Mapping[str, Any], name: str) -> str:
    text = said[name]
    if not isinstance(text, str):
        raise TypeError(f"{name} is not a string")
    return text


def differences(project: Project) -> list[Diagnostic]:
    """Where the last build differs from the lock, of the targets that it built. Raises :class:`UserError` where there is no lock that can be read."""
    compiler, locked = read_lock(project)
    now = built(project)
    if project.settings.targets:
        locked = {target: members for target, members in locked.items() if target in now}
    said = first_of(list(_differences(lock_path(project).name, locked, now)), "differences")
    if not said:
        return []
    if compiler != fingerprint():
        said.insert(0, f"the lock is of another compiler, {compiler[:12]}; this one is {fingerprint()[:12]}")
    *others, last = said
    return [*(Diagnostic(each) for each in others), Diagnostic(last, hint=_WAY_OUT)]


_WAY_OUT = "teenybuild lock records what there is now; its difference is what to review"


def _differences(lock: str, locked: Artifacts, now: Artifacts) -> Iterator[str]:
    for target in sorted({*locked, *now}):
        then, today = locked.get(target, {}), now.get(target, {})
        for id_ in sorted({*then, *today}):
            old, new = then.get(id_), today.get(id_)
            what = f"{id_} for {target}"
            if old is None:
                yield f"{what} is not in {lock}"
            elif new is None:
                yield f"{what} is in {lock}, but no longer built"
            elif old.key != new.key:
                yield f"{what} is made from something else than {lock} says: its key is {new.key[:12]}, and was {old.key[:12]}"
            elif (file := old.differing(new)) is not None:
                then_, now_ = (each.digests.get(file, "none")[:12] for each in (old, new))
                yield f"{what} is made from the same as {lock} says, but its {file} came out as {now_}, not {then_}"
