"""The last edge: from the stamps of everything that was built to the generated package."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from teenybuild.cache import Cache, write_if_changed
from teenybuild.generate import read_plan
from teenybuild.keys import digest
from teenybuild.loader import Image, generate, write_package
from teenybuild.project import CACHE, PACKAGE_MISSING, PACKAGE_PLAN, Project
from teenybuild.state import read_stamp, stamp_paths


def package(project: Project, stamp: Path) -> list[str]:
    """Writes the package and its stamp. What is missing, in words: then stamps without entries are gone, and another run builds them."""
    found, _ = read_plan(project)
    plan = json.loads((project.build / PACKAGE_PLAN).read_bytes())
    cache = Cache(Path(json.loads((project.build / CACHE).read_bytes())["directory"]))
    images: dict[str, dict[str, Image]] = {}
    missing: list[str] = []
    for path in stamp_paths(project.build):
        recorded = read_stamp(path)
        if recorded is None:
            missing.append(f"{path.name} is damaged; build again")
            path.unlink()
            continue
        target: str = recorded["target"]
        shipped = ("so",) if target.startswith("cpu") else tuple(plan["emit"])
        lost = False
        for id_, member in recorded["members"].items():
            image = _image(cache, member, shipped)
            if image is None:
                missing.append(f"{id_} for {target} is no longer in the cache; build again")
                lost = True
                continue
            images.setdefault(target, {})[id_] = image
        if lost:
            path.unlink()
    if missing:
        (project.build / PACKAGE_MISSING).touch()
        return missing
    place: str = plan["directory"]
    files = generate(found.manifest, found.specialisations, images)
    write_package(files, Path(os.path.normpath(project.build / place)))
    recorded = {
        "directory": place,
        "files": {name: digest(data) for name, data in sorted(files.items())},
    }
    write_if_changed(stamp, (json.dumps(recorded, indent=1) + "\n").encode())
    return []


def _image(cache: Cache, member: dict[str, Any], shipped: tuple[str, ...]) -> Image | None:
    """What is shipped of a member; None where the cache has not all of it."""
    entry = cache.find(member["name"], member["key"], shipped)
    if entry is None:
        return None
    files = dict(entry.files)
    if "cubin" in shipped:
        cubin = cache.find(member["name"], member["cubin"]["key"]) if "cubin" in member else None
        if cubin is None:
            return None
        files |= cubin.files
    return Image(dict(entry.description), files)


def recorded_directory(stamp: Path) -> Path | None:
    """Where the package lies, by its stamp; None where there is no stamp to read."""
    try:
        return Path(os.path.normpath(stamp.parent.parent / json.loads(stamp.read_bytes())["directory"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def recorded_package(stamp: Path) -> dict[Path, str]:
    """File → digest of the package, by its stamp; empty where there is no stamp to read."""
    directory = recorded_directory(stamp)
    return (
        {}
        if directory is None
        else {directory / n: d for n, d in json.loads(stamp.read_bytes())["files"].items()}
    )


def intact(stamp: Path) -> bool:
    """Whether the package is what its stamp says. ninja knows the stamp only."""
    try:
        return all(
            digest(path.read_bytes()) == expected for path, expected in recorded_package(stamp).items()
        )
    except OSError:
        return False
