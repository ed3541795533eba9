"""Wrong manifests and what is said of them; right ones and what they expand to. See ``tests/failing/README.md``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from teenybuild.diagnostics import UserError
from teenybuild.expand import Plan, Specialisation, plan
from teenybuild.manifest import read_manifest
from teenybuild.sources import Sources

_TESTS = Path(__file__).parents[1]
FAILING = _TESTS / "failing" / "manifest"
GOLDEN = _TESTS / "golden" / "manifest"


def cases(directory: Path) -> list[Path]:
    """The cases of a corpus: directories, by name."""
    return sorted(path for path in directory.iterdir() if path.is_dir())


def complaints(case: Path) -> str:
    """What is said of the manifest of a case, as text.

    A case with kernel sources is read, bound and expanded; one without is only read. Paths in messages are relative to
    the case.
    """
    with _inside(case):
        try:
            if Path("kernels").is_dir():
                _plan()
            else:
                read_manifest(Path("kernels.toml"))
        except UserError as error:
            return f"{error}\n"
    return "nothing is wrong\n"


def expansion(case: Path) -> str:
    """What the manifest of a case expands to, as JSON."""
    with _inside(case):
        specialisations = _plan().specialisations
    entries = ",\n".join(f"  {json.dumps(_plain(each))}" for each in specialisations)
    return f"[\n{entries}\n]\n"


def _plan() -> Plan:
    allowed = Path("allow-import").is_file()
    return plan(
        Path("kernels.toml"), lambda manifest: Sources.of(manifest, Path(), allow_import=allowed).signature
    )


def _plain(each: Specialisation) -> dict[str, object]:
    return {
        "id": each.id,
        "kernel": each.kernel,
        "types": {name: str(type) for name, type in each.types},
        "dtypes": dict(each.dtypes),
        "consts": dict(each.consts),
        "options": dict(each.options),
        "assume": {name: str(assume) for name, assume in each.assume},
        "auto": each.auto,
    } | ({"heuristics": dict(each.heuristics)} if each.heuristics else {})


@contextlib.contextmanager
def _inside(directory: Path) -> Iterator[None]:
    with contextlib.chdir(directory):
        yield
