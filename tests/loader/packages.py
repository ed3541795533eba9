"""Packages for tests: a manifest's kernels compiled, generated and imported, in one call."""

from __future__ import annotations

import atexit
import importlib
import itertools
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from teenybuild.api import compile
from teenybuild.expand import Plan, plan
from teenybuild.loader import Image, generate, write_package
from teenybuild.sources import Sources

KERNELS = Path(__file__).parent / "kernels"

_numbers = itertools.count()


@cache
def workspace() -> Path:
    """A directory for entries and manifests, of this process."""
    directory = Path(tempfile.mkdtemp(prefix="teenybuild-loader-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    (directory / "kernels").symlink_to(KERNELS)
    return directory


@dataclass(frozen=True)
class Built:
    """A manifest expanded, with an image of every specialisation for every target of its kernel."""

    plan: Plan
    images: dict[str, dict[str, Image]]

    @property
    def files(self) -> dict[str, bytes]:
        """The generated package."""
        return generate(self.plan.manifest, self.plan.specialisations, self.images)


@cache
def built(text: str) -> Built:
    """The kernels of a manifest, ``edition`` and such left out, compiled."""
    path = workspace() / f"kernels{next(_numbers)}.toml"
    path.write_text(f"edition = 1\n{text}", encoding="utf-8")
    found = plan(path, lambda manifest: Sources.of(manifest, workspace()).signature)
    images: dict[str, dict[str, Image]] = {}
    for bound in found.manifest.kernels:
        kernel = bound.kernel
        for target in kernel.targets:
            for each in found.specialisations:
                if each.kernel == kernel.name:
                    artifact = compile(
                        f"{KERNELS / kernel.source}:{kernel.function}",
                        target.name,
                        {name: str(type_) for name, type_ in each.types},
                        dict(each.consts),
                        assume={name: {a.kind: a.value} for name, a in each.assume},
                        cache_dir=workspace() / "cache",
                        **dict(each.options),  # type: ignore[arg-type]
                    )
                    extension = artifact.path.suffix.removeprefix(".")
                    image = Image(artifact.abi, {extension: artifact.path.read_bytes()})
                    images.setdefault(target.name, {})[each.id] = image
    return Built(found, images)


@contextmanager
def imported(directory: Path) -> Iterator[Any]:
    """The package in ``directory``, imported as a package of its own, and forgotten afterwards."""
    sys.path.insert(0, str(directory.parent))
    try:
        importlib.invalidate_caches()
        yield importlib.import_module(directory.name)
    finally:
        sys.path.remove(str(directory.parent))
        for name in [n for n in sys.modules if n == directory.name or n.startswith(f"{directory.name}.")]:
            del sys.modules[name]


def install(text: str, directory: Path, name: str = "") -> Path:
    """The package of a manifest written below ``directory``, under a name that no other test's package has."""
    path = directory / (name or f"package_{next(_numbers)}")
    write_package(built(text).files, path)
    return path
