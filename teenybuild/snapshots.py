"""The stages of a kernel as texts that are the same on every machine: what ``kernel_snapshot`` keeps beside tests.

Left out is what another machine, or another version of the compiler that does the same, would write otherwise: keys, digests and versions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from teenybuild import api
from teenybuild.compiler.ir.printer import print_function
from teenybuild.compiler.pipeline import Job, front
from teenybuild.diagnostics import did_you_mean, error
from teenybuild.generate import read_plan
from teenybuild.inspection import selected
from teenybuild.project import open_project
from teenybuild.targets import parse_target

#: Those of ``teenybuild show`` that are what a compile gives (``side`` only lays them out), and whether a target makes them.
STAGES: Mapping[str, bool] = {"source": False, "mlir": False, "llvm": True, "ptx": True, "abi": True}
#: What of a description says who made it, and not what it is.
_MAKERS = ("key", "files", "versions")


class Specialisations:
    """Those of a manifest, by id. It is read once: sources are as they were then."""

    def __init__(self, manifest: Path, *, allow_import: bool) -> None:
        project = open_project(os.path.relpath(manifest), allow_import=allow_import)
        self._project = project
        self._plan, self._sources = read_plan(project)

    def text(self, id_: str, stage: str, target: str | None) -> tuple[str, str]:
        """(text of a stage, target); for the first target that has the stage, unless one is named. Raises :class:`UserError`."""
        check_stage(stage)
        jobs = selected(self._project, self._plan, self._sources, id_)
        found = [job for job in jobs if target is None or job.target.name == target]
        if not found:
            names = [job.target.name for job in jobs]
            hint = did_you_mean(target or "", names) or f"it is built for {', '.join(names)}"
            raise error(f"{id_} is not built for {target}", hint=hint)
        if stage == "ptx":
            found = [job for job in found if job.target.machine == "gpu"] or found
        return self._text(found[0], stage), found[0].target.name

    def _text(self, job: Job, stage: str) -> str:
        if stage == "source":
            return job.reached.text
        if stage == "mlir":
            return print_function(front(job))
        return artifact_text(api.artifact(job), stage)


def function_text(
    kernel: str | Callable[..., Any],
    types: Mapping[str, str],
    stage: str,
    target: str | None,
    options: Mapping[str, Any],
) -> tuple[str, str, str]:
    """(text of a stage, target, name) of a function; ``options`` are those of :func:`teenybuild.compile`."""
    check_stage(stage)
    if target is None:
        if STAGES[stage]:
            raise error(f"the {stage} of a function depends on a target", hint='say which: target="sm_90a"')
        target = "cpu"
    parsed = dict(options)
    # What the environment says is said of one machine.
    if parsed.get("ptx") is None and target.startswith("sm_"):
        parsed["ptx"] = api.ptx_version(parse_target(target), None)
    artifact = api.compile(kernel, target, types, **parsed)
    return artifact_text(artifact, stage), target, str(artifact.abi["function"])


def artifact_text(artifact: api.Artifact, stage: str) -> str:
    """A stage of what a compile gave. Raises :class:`UserError` where it has none."""
    check_stage(stage)
    if stage == "abi":
        described = {name: value for name, value in artifact.abi.items() if name not in _MAKERS}
        return json.dumps(described, indent=1)
    text = {"source": artifact.source, "mlir": artifact.mlir, "llvm": artifact.ll, "ptx": artifact.ptx}[stage]
    if text is None:
        raise error(
            f"{artifact.abi['function']} for {artifact.target} has no PTX", hint="choose a GPU target"
        )
    # Line information names the source by the key.
    name = str(artifact.abi["function"])
    return text.replace(f"{name}_{artifact.key}.py", f"{name}.py")


def check_stage(stage: str) -> None:
    """Raises :class:`UserError` where there is no such stage."""
    if stage not in STAGES:
        hint = did_you_mean(stage, STAGES) or f"there are {', '.join(STAGES)}"
        raise error(f"{stage!r} is not a stage that can be kept", hint=hint)
