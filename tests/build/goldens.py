"""The files a build writes and the text it prints, kept whole for review: contracts that other tools read."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from teenybuild.api import job_key_fields
from teenybuild.generate import read_plan
from teenybuild.inspection import jobs
from teenybuild.project import open_project
from tests.build.project import TestProject

DIRECTORY = Path(__file__).parents[1] / "golden" / "build"


def _file(path: str) -> Callable[[TestProject], str]:
    return lambda project: project.read(f"build/{path}")


def _result(project: TestProject) -> str:
    project.build("--force")
    return project.read("build/results/cpu/total.0.json")


def _entry(project: TestProject) -> str:
    key = project.entry_keys()["scale__f32__128", "sm_90a"]
    return project.read(f"cache/scale_{key}.json")


def _entry_names(project: TestProject) -> str:
    names = [p.name for p in (project.directory / "cache").iterdir() if p.name.startswith("total_")]
    # By what is left once keys are masked: they change with every change of the compiler.
    return "".join(f"{name}\n" for name in sorted(names, key=lambda name: name.rpartition(".")[2]))


def _key_fields(project: TestProject) -> str:
    opened = open_project(str(project.directory / "kernels.toml"))
    found = jobs(opened, *read_plan(opened))
    job = next(j for s, j in found if s.id == "scale__f16__128" and j.target.name == "cpu")
    return "".join(f"{name}: {value!r}\n" for name, value in job_key_fields(job).items())


def _printed(*arguments: str) -> Callable[[TestProject], str]:
    def output(project: TestProject) -> str:
        done = project.run(*arguments)
        return (
            f"$ teenybuild {' '.join(arguments)}\n{done.stdout}{done.stderr}(exit code {done.returncode})\n"
        )

    return output


def _wrong(*arguments: str) -> Callable[[TestProject], str]:
    def output(project: TestProject) -> str:
        kernel = project.read("kernels/scale.py")
        project.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
        project.replace("kernels/scale.py", "mask=mask)\n\n", "mask=maks)\n\n")
        text = _printed(*arguments)(project)
        project.write("kernels/scale.py", kernel)
        return text

    return output


#: Golden file → what it holds, of a project that is built.
CONTENTS: dict[str, Callable[[TestProject], str]] = {
    "build.ninja": _file("build.ninja"),
    "plan.json": _file("plan/sm_90a/scale.0.json"),
    "package_plan.json": _file("plan/package.json"),
    "stamp.json": _file("stamps/cpu/total.0.json"),
    "package_stamp.json": _file("stamps/package.json"),
    "result.json": _result,
    "lines.json": _file("lines/scale.json"),
    "entry.json": _entry,
    "entry_names.txt": _entry_names,
    "key_fields.txt": _key_fields,
    "build.txt": _printed("build"),
    "check.txt": _printed("check"),
    "list.txt": _printed("list"),
    "list.json": _printed("list", "--json"),
    "wrong.txt": _wrong("check"),
    "wrong.json": _wrong("check", "--json"),
    "wrong_build.json": _wrong("build", "--json"),
}


def contents(name: str, project: TestProject) -> str:
    """A golden file as this tree makes it. Left out: where the project stands, the interpreter, digests, times, the modules of the runtime."""
    text = CONTENTS[name](project)
    text = text.replace(str(project.directory), "…").replace(sys.executable, "…/python")
    text = re.sub(r"\b[0-9a-f]{64}\b|(?<=_)[0-9a-f]{64}(?=\.)", "…", text)
    text = re.sub(r"\b[0-9a-f]{12}\b(?=  )", "…", text)
    text = re.sub(r'( *"_runtime/)\w+(\.py": "…",\n)(?:\1\w+\2)*', r"\1…\2", text)
    text = re.sub(r'"(seconds|run)": ("[0-9a-f]*"|[0-9.e-]+)', r'"\1": …', text)
    return re.sub(r" in [0-9.]+ s", " in … s", text)
