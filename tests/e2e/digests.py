"""Prints the digests of what the library compiles to: one specialisation of every kernel, every target. Run as a script, by any Python.

``python digests.py PROJECT`` needs teenybuild and llvmlite on the path and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def digests(directory: Path) -> dict[str, str]:
    """``id target extension`` → sha256, with the key and the description among the extensions."""
    from teenybuild.api import entry_description, entry_files, job_key
    from teenybuild.compiler.pipeline import compile_job
    from teenybuild.generate import read_plan
    from teenybuild.inspection import jobs
    from teenybuild.project import open_project

    project = open_project(str(directory / "kernels.toml"))
    found: dict[str, str] = {}
    done: set[tuple[str, str]] = set()
    for spec, job in jobs(project, *read_plan(project)):
        if (spec.kernel, job.target.name) in done:
            continue
        done.add((spec.kernel, job.target.name))
        product = compile_job(job)
        name = f"{spec.id} {job.target.name}"
        found[f"{name} key"] = job_key(job)
        files = {**entry_files(product), "json": json.dumps(entry_description(job, product)).encode()}
        for extension, data in files.items():
            found[f"{name} {extension}"] = hashlib.sha256(data).hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(digests(Path(sys.argv[1]))))
