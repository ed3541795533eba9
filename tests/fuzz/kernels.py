"""Kernel files that nobody wrote: the kernels of this repository changed as text, as bytes and as syntax, and modules made from nothing."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from teenybuild.compiler.frontend import source
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.frontend.tuning import autotune, heuristics
from teenybuild.compiler.ir.printer import print_function
from teenybuild.compiler.pipeline import Job, front
from teenybuild.compiler.targets.base import Settings
from teenybuild.diagnostics import UserError
from teenybuild.expand import plan
from teenybuild.sources import Sources
from teenybuild.targets import TARGETS
from teenybuild.types import Type, parse_type
from tests.fuzz import modules, odd, syntax
from tests.fuzz.held import outcome, remembered
from tests.kernels.corpus import KERNELS

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Seed:
    """A kernel that compiles, with what one of its specialisations is given. The directory has what it imports."""

    path: Path
    function: str
    types: Mapping[str, Type]
    consts: Mapping[str, Any] = field(default_factory=dict[str, Any])


#: What kernels of :mod:`tests.fuzz.modules` are given.
MADE = Seed(Path("f0.py"), "k", {"p": parse_type("*f32"), "n": parse_type("i32")})


@cache
def seeds() -> tuple[Seed, ...]:
    """The kernels of the tests, and those of the library."""
    found: list[Seed] = []
    for kernel in KERNELS.values():
        case = next(iter(kernel.cases(np.random.default_rng(0))))
        types = {name: parse_type(text) for name, text in case.argument_types.items()}
        found.append(Seed(kernel.path, kernel.function, types, case.const))
    own = plan(_ROOT / "kernels.toml", lambda manifest: Sources.of(manifest, _ROOT).signature)
    for bound in own.manifest.kernels:
        spec = next(s for s in own.specialisations if s.kernel == bound.kernel.name)
        path = _ROOT / "kernels" / bound.kernel.source
        found.append(Seed(path, bound.kernel.function, dict(spec.types), dict(spec.consts)))
    return tuple(found)


def _made(scratch: Path, r: random.Random) -> tuple[Seed, Path]:
    """Writes what is to be read: a kernel, and what lies in its directory."""
    if r.random() < 0.4:
        place = scratch / "modules"
        for name, text in modules.made(r).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return MADE, place
    seed = r.choice(seeds())
    place = scratch / seed.path.parent.name
    if not place.exists():
        shutil.copytree(seed.path.parent, place, ignore=shutil.ignore_patterns("__pycache__"))
    text = seed.path.read_text(encoding="utf-8")
    if r.random() < 0.6:
        text = syntax.changed(text, r)
        data = odd.bytes_of(odd.edited(text, r), r) if r.random() < 0.05 else None
    else:
        data = odd.bytes_of(odd.edited(text, r), r)
    changed = place / "changed.py"
    changed.write_bytes(data if data is not None else text.encode("utf-8", "surrogatepass"))
    return Seed(Path("changed.py"), seed.function, seed.types, seed.consts), place


def run(scratch: Path, r: random.Random) -> str:
    """What one kernel gives. Raises whatever must not come out."""
    seed, place = _made(scratch, r)
    target = r.choice(["cpu", "sm_90a"])
    types = dict(seed.types)
    if types and r.random() < 0.1:
        types[r.choice(sorted(types))] = parse_type(
            r.choice(["*f16", "i64", "f32", "none", "*i1", "(*f32, i32)", "desc<f16[16, 16]>"])
        )
    files = {path.relative_to(place).as_posix(): path.read_bytes() for path in sorted(place.rglob("*.py"))}
    # With every other file of the directory in a case's way, what a find needs is still little: what was changed.
    kept = {n: d for n, d in files.items() if seed is MADE or n == "changed.py"}
    kept["instance.txt"] = f"{seed.function} {types} {dict(seed.consts)} {target}\n".encode()
    with remembered(kept):
        return outcome(place, lambda: read(place, seed, types, target), files)


def read(place: Path, seed: Seed, types: Mapping[str, Type], target: str) -> object:
    source._source.cache_clear()  # pyright: ignore[reportPrivateUsage]  # or the second reading reads nothing
    function = find_function(Library(place, (place,), static).module(place / seed.path), seed.function)
    tuned = [_tried(lambda: autotune(function)), _tried(lambda: heuristics(function))]
    reached = reach(function)
    names = {parameter.arg for parameter in reached.function.parameters}
    instance = Instance(
        {n: t for n, t in types.items() if n in names}, {n: v for n, v in seed.consts.items() if n in names}
    )
    job = Job(reached, instance, Settings(), TARGETS[target], verify=True)
    return [str(each) for each in tuned], reached.text, print_function(front(job))


def _tried(read: Callable[[], object]) -> object:
    try:
        return read()
    except UserError as wrong:
        return wrong.diagnostics
