"""Cubins in the cache: entries of their own, made of the PTX of another.

Their key is of the PTX's digest, the architecture, the assembler and what it is told; an entry has the code, and in its ``json`` what the
kernel takes of a multiprocessor.
"""

from __future__ import annotations

from typing import Any

from teenybuild.assembler import Assembler, Resources, assemble
from teenybuild.cache import Cache, Entry
from teenybuild.compiler.pipeline import Job
from teenybuild.diagnostics import error
from teenybuild.keys import key_of

#: The number of the list of a key's fields.
KEY_FORMAT = "1"


def cubin_key(ptx: str, job: Job, identity: str) -> str:
    """The key of a cubin: ``ptx`` is the digest of the PTX, ``identity`` that of the assembler."""
    return key_of(
        {
            "cubin": KEY_FORMAT,
            "ptx": ptx,
            "target": job.target.name,
            "assembler": identity,
            "lineinfo": "1" if job.lineinfo else "0",
        }
    )


def build_cubin(job: Job, ptx: Entry, assembler: Assembler, cache: Cache) -> Entry:
    """Assembles the PTX of an entry. Raises :class:`UserError`: the assembler's own words, or that no program of it could run."""
    description, launch = ptx.description, ptx.description["launch"]
    arch, symbol = job.target.name, description["symbol"]
    cubin, resources = assemble(
        assembler, ptx.files["ptx"], arch, symbol, launch["shared_bytes"], lineinfo=job.lineinfo
    )
    problem = resources.problem(launch["threads"])
    if problem is not None:
        kernel = job.reached.function
        raise error(
            problem,
            kernel.module.source.span(kernel.node),
            hint=f"lower num_warps (here {job.settings.num_warps}), or maxnreg (here {job.settings.maxnreg})",
        )
    said: dict[str, Any] = {
        "ptx": description["files"]["ptx"],
        "target": job.target.name,
        "versions": {"assembler": assembler.identity},
        "resources": resources.json(),
    }
    key = cubin_key(description["files"]["ptx"], job, assembler.identity)
    return cache.store(ptx.name, key, {"cubin": cubin}, said)


def resources_of(cubin: Entry) -> Resources:
    """What an entry says that its kernel takes."""
    return Resources(**cubin.description["resources"])
