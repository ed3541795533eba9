"""Manifests that nobody wrote: those of the corpora changed as text, as bytes and as what they mean."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from teenybuild.expand import plan
from teenybuild.sources import Sources
from tests.fuzz import odd
from tests.fuzz.held import outcome, remembered

_ROOT = Path(__file__).parents[2]


@cache
def _projects() -> tuple[Path, ...]:
    """Directories with a manifest: right ones, wrong ones, and this repository's own."""
    tests = _ROOT / "tests"
    found = (*(tests / "golden/manifest").iterdir(), *(tests / "failing/manifest").iterdir())
    there = (path for path in found if (path / "kernels.toml").is_file())
    # What is nested as deep as Python can go is too much for what is done with it here.
    return (
        _ROOT,
        *sorted(
            path for path in there if path.name not in ("syntax_nested_too_deep", "syntax_key_of_many_parts")
        ),
    )


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    """What those manifests say, where they are TOML."""
    found: list[dict[str, Any]] = []
    for project in _projects():
        with contextlib.suppress(ValueError):
            found.append(tomllib.loads((project / "kernels.toml").read_text(encoding="utf-8")))
    return tuple(found)


@cache
def _values() -> dict[str, list[Any]]:
    """Every value that some manifest gives a key, by the key."""
    found: dict[str, list[Any]] = {}

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                found.setdefault(key, []).append(inner)
                collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    for document in _documents():
        collect(document)
    return found


# As TOML -----------------------------------------------------------------------------------------------------------


def spelled(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {spelled(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _string(value)
    return str(value)


def _string(text: str) -> str:
    return (
        json.dumps(text).replace("\x7f", "\\u007f")
        if text.isascii()
        else json.dumps(text, ensure_ascii=False)
    )


def _key(text: str) -> str:
    plain = text.isascii() and text.replace("-", "_").isidentifier()
    return text if plain else _string(text)


def written(document: dict[str, Any], r: random.Random) -> str:
    """A document as text, in one of the ways that TOML has to write tables."""
    text = ""
    for key, value in document.items():
        if not isinstance(value, dict) or r.random() < 0.1:
            text = f"{_key(key)} = {spelled(value)}\n" + text
        elif key == "kernel" or r.random() < 0.2:
            for name, inner in value.items():
                text += _table(f"{_key(key)}.{_key(name)}", inner)
        else:
            text += _table(_key(key), value)
    return text


def _table(title: str, value: Any) -> str:
    if not isinstance(value, dict):
        return f"[{title.rpartition('.')[0]}]\n{title.rpartition('.')[2]} = {spelled(value)}\n"
    return f"[{title}]\n" + "".join(f"{_key(key)} = {spelled(inner)}\n" for key, inner in value.items())


# Changes of what it means --------------------------------------------------------------------------------------------


def _holders(value: Any) -> Iterator[dict[str, Any] | list[Any]]:
    """Every table and list, the document's own first."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


def _some(key: str | None, r: random.Random, depth: int = 0) -> Any:
    """A value for a key: one that it has elsewhere, one of another key, or an odd one."""
    known = _values()
    chance = r.random()
    if chance < 0.45 and key in known:
        return _copied(r.choice(known[key]))
    if chance < 0.6:
        return _copied(r.choice(known[r.choice(sorted(known))]))
    if chance < 0.75 and depth < 4:
        if r.random() < 0.5:
            return [_some(key, r, depth + 1) for _ in range(r.choice([0, 1, 2, 5, 300]) if depth < 1 else 2)]
        return {_name(r): _some(None, r, depth + 1) for _ in range(r.randrange(4))}
    return odd.value(r)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _name(r: random.Random) -> str:
    return odd.string(r) if r.random() < 0.3 else r.choice(sorted(_values()))


def changed(document: dict[str, Any], r: random.Random) -> dict[str, Any]:
    """The document after one to four changes of its tables and lists."""
    document = _copied(document)
    for _ in range(r.choice([1, 1, 2, 4])):
        _change(r.choice(list(_holders(document))), r)
    return document


def _change(holder: dict[str, Any] | list[Any], r: random.Random) -> None:
    if isinstance(holder, list):
        at = r.randrange(len(holder) + 1)
        if holder and r.random() < 0.6:
            at %= len(holder)
            holder[at : at + 1] = r.choice([[], [holder[at]] * 2, [_some(None, r)], [[holder[at]]]])
        else:
            holder.insert(at, _some(None, r))
        return
    keys = sorted(holder)
    key = r.choice(keys) if keys and r.random() < 0.7 else _name(r)
    match r.randrange(5):
        case 0:
            holder.pop(key, None)
        case 1:
            holder[_name(r)] = holder.get(key, 0)
        case 2 if keys:
            other = r.choice(keys)
            holder[key], holder[other] = holder[other], holder.get(key, 1)
        case 3:
            holder[key] = r.choice([[holder.get(key, 1)], {key: holder.get(key, 1)}])
        case _:
            holder[key] = _some(key, r)


# A case ----------------------------------------------------------------------------------------------------------------


def made(project: Path, r: random.Random) -> bytes:
    """A manifest for the files of a project."""
    chance = r.random()
    if chance < 0.03:
        return r.randbytes(r.randrange(60))
    if chance < 0.55:
        documents = _documents()
        try:
            document = tomllib.loads((project / "kernels.toml").read_text(encoding="utf-8"))
        except ValueError:
            document = r.choice(documents)
        text = written(changed(document, r), r)
        if chance < 0.5:
            return odd.bytes_of(text, r) if r.random() < 0.1 else text.encode("utf-8", "surrogatepass")
    else:
        text = (project / "kernels.toml").read_text(encoding="utf-8", errors="replace")
    return odd.bytes_of(odd.edited(text, r), r)


def run(scratch: Path, r: random.Random) -> str:
    """What one manifest gives. Raises whatever must not come out."""
    project = r.choice(_projects())
    place = _copy(project, scratch)
    (place / "kernels.toml").write_bytes(made(project, r))
    files = {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.suffix in (".toml", ".py")
    }
    with contextlib.chdir(place), remembered({"kernels.toml": files["kernels.toml"]}):
        return outcome(place, read, files)


def _copy(project: Path, scratch: Path) -> Path:
    """The project's files in a place of their own, made once."""
    place = scratch / f"project{_projects().index(project)}"
    if not place.exists():
        place.mkdir(parents=True)
        shutil.copytree(project / "kernels", place / "kernels") if (project / "kernels").is_dir() else None
        if project != _ROOT:
            shutil.copytree(project, place, dirs_exist_ok=True)
    return place


def read() -> object:
    found = plan(Path("kernels.toml"), lambda manifest: Sources.of(manifest, Path()).signature)
    return found.manifest.manifest, found.specialisations
