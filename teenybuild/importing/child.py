"""Imports one kernel file, in a process of its own, and says what came of it: ``python child.py`` with a request on stdin, JSON on stdout.

A request has ``source`` (the file), ``roots`` (where imports are looked up) and ``own`` (directories whose files are kernel files).
This file imports nothing of teenybuild: what the source imports must not meet our modules.
"""

from __future__ import annotations

import enum
import importlib
import importlib.util
import inspect
import json
import os
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

#: Modules of the language, and what sources may find in them, by the name that reading gives it.
_SPACES = {
    "triton.language": "tl",
    "triton.language.math": "tl.math",
    "triton.language.random": "tl.random",
    "triton.language.extra.libdevice": "tl.extra.libdevice",
    "triton.language.extra.cuda.libdevice": "tl.extra.libdevice",
    "triton": "triton",
}

#: No constant of a kernel is larger.
_MOST_BITS = 4096


def module_name(source: Path, roots: list[Path]) -> str:
    """How the file is imported: by its packages, else from the root it lies below; empty where that is no name."""
    top = source.parent
    if (top / "__init__.py").is_file():
        while (top / "__init__.py").is_file():
            top = top.parent
        sys.path.insert(0, str(top))
    else:
        top = next((root for root in roots if source.is_relative_to(root)), top)
    parts = [*source.relative_to(top).parent.parts, *([] if source.stem == "__init__" else [source.stem])]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


def import_file(source: Path, roots: list[Path]) -> ModuleType:
    """The module that the file is."""
    name = module_name(source, roots)
    spec = importlib.util.find_spec(name) if name else None
    if spec is not None and spec.origin and Path(spec.origin).resolve() == source:
        return importlib.import_module(name)
    # Another file has the name, or it is none.
    name = f"_kernel_{source.stem}"
    spec = importlib.util.spec_from_file_location(name, source)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Writer:
    """Values as JSON: lists that start with what kind they are. What has no form is left out."""

    def __init__(self, own: list[str]) -> None:
        self._own = own
        self._language: dict[int, str] = {}
        for module, space in _SPACES.items():
            for name, value in list(vars(sys.modules.get(module, ModuleType(module))).items()):
                if not name.startswith("_") and not isinstance(
                    value, bool | int | float | str | ModuleType | None
                ):
                    self._language.setdefault(id(value), f"{space}.{name}")

    def value(self, value: Any, depth: int = 0) -> list[Any] | None:
        """The form of a value, or None."""
        if depth > 20:
            return None
        if type(value).__name__ == "constexpr" and hasattr(value, "value"):
            return self.value(value.value, depth + 1)
        if isinstance(value, enum.Enum) and not isinstance(value, int | str):
            return None
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            return None
        for kind in (bool, int, float, str):
            if isinstance(value, kind):
                return ["constant", kind(value.value if isinstance(value, enum.Enum) else value)]
        if value is None:
            return ["constant", None]
        items: Any = value
        if isinstance(value, list | tuple):
            found = [self.value(item, depth + 1) for item in items]
            return None if None in found else ["tuple", found]
        if isinstance(value, Mapping):
            pairs = [(self.value(k, depth + 1), self.value(v, depth + 1)) for k, v in items.items()]
            return None if any(None in pair for pair in pairs) else ["dict", [list(pair) for pair in pairs]]
        if isinstance(value, ModuleType):
            return self._module(value)
        if id(value) in self._language:
            return ["language", self._language[id(value)]]
        if type(value).__name__ == "Config" and hasattr(value, "kwargs") and hasattr(value, "num_warps"):
            return self._config(value, depth)
        return self._function(value)

    def _module(self, module: ModuleType) -> list[Any] | None:
        if module.__name__ in _SPACES:
            return ["namespace", _SPACES[module.__name__]]
        file = getattr(module, "__file__", None)
        path = os.path.realpath(file) if isinstance(file, str) else ""
        return ["module", path] if under(path, self._own) else None

    def _config(self, config: Any, depth: int) -> list[Any] | None:
        kwargs = self.value(config.kwargs, depth + 1)
        options = [getattr(config, name, None) for name in ("num_warps", "num_stages", "num_ctas", "maxnreg")]
        whole = all(isinstance(option, int | None) for option in options)
        return ["config", kwargs, *options] if kwargs is not None and whole else None

    def _function(self, value: Any) -> list[Any] | None:
        code = getattr(unwrapped(value), "__code__", None)
        if not isinstance(code, CodeType):
            return None
        where = [os.path.realpath(code.co_filename), code.co_firstlineno]
        if code.co_name != "<lambda>":
            return ["function", *where, code.co_name]
        # The body of a lambda starts where the first of its instructions does.
        places = [
            (line, column)
            for line, _, column, end in code.co_positions()
            if line and column is not None and end
        ]
        return ["lambda", where[0], *min(places)] if places else None

    def tuning(self, value: Any) -> dict[str, Any]:
        """The configs and heuristics of the decorators around a function."""
        found: dict[str, Any] = {}
        for each in layers(value):
            configs: Any = getattr(each, "configs", None)
            values: Any = getattr(each, "values", None)
            if "configs" not in found and (form := self.value(configs)) is not None and form[0] == "tuple":
                found["configs"] = form
            if isinstance(values, Mapping):
                found.setdefault("heuristics", []).append(self.value(values))
        return found


def layers(value: Any) -> list[Any]:
    """What decorators made of a function, from the outside in, down to the function itself."""
    found: list[Any] = []
    while value is not None and len(found) < 50 and not isinstance(value, type | ModuleType):
        found.append(value)
        if inspect.isfunction(value):
            break
        inner = value.__dict__.get("fn") if hasattr(value, "__dict__") else None
        value = inner if inner is not None else getattr(value, "__wrapped__", None)
    return found


def unwrapped(value: Any) -> Any:
    """The function inside its decorators."""
    found = layers(value)
    return found[-1] if found and inspect.isfunction(found[-1]) else None


def under(path: str, directories: list[str]) -> bool:
    """Whether a path lies below one of the directories."""
    return any(path == d or path.startswith(d.rstrip("/") + "/") for d in directories)


class Files:
    """Everything that is opened for reading, and every directory that is listed, from now on."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        path: Any = arguments[0] if event in ("open", "os.listdir", "os.scandir") else None
        written = (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if isinstance(path, str | bytes) and not written:
            self._seen.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100  # links may be what changes

    def listed(self, directories: list[str]) -> list[str]:
        """Files that were read, but for Python's own, and directories among ``directories`` in which something was looked for."""
        paths = sysconfig.get_paths()
        site = [paths["purelib"], paths["platlib"]]
        python = [paths["stdlib"], paths["platstdlib"], "/proc", "/sys", "/dev", str(Path(__file__).parent)]
        found: set[str] = set()
        sources = {
            m.__file__ for m in list(sys.modules.values()) if isinstance(getattr(m, "__file__", None), str)
        }
        for path in self._seen | {str(s) for s in sources}:
            if path.endswith(".pyc"):
                try:
                    path = importlib.util.source_from_cache(path)
                except ValueError:
                    continue
            if under(path, python) and not under(path, site):
                continue
            if os.path.isfile(path) or (os.path.isdir(path) and under(path, directories)):  # noqa: PTH112, PTH113
                found.add(path)
        return sorted(found)


def failure(wrong: BaseException, own: list[str]) -> dict[str, Any]:
    """What an import died of, and the places of kernel files that led there."""
    frames = [[f.filename, f.lineno] for f in traceback.extract_tb(wrong.__traceback__)]
    if isinstance(wrong, SyntaxError) and wrong.filename:
        frames.append([wrong.filename, wrong.lineno])
    kept = [
        [os.path.realpath(str(file)), line]
        for file, line in frames
        if under(os.path.realpath(str(file)), own)
    ]
    kind = type(wrong).__name__
    return {"error": str(wrong) if kind == "Unknowable" else f"{kind}: {wrong}", "frames": kept}


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Imports the file and describes what there is then."""
    roots = [Path(root) for root in request["roots"]]
    source = Path(request["source"])
    own = [*request["own"]]
    files = Files()
    sys.path[:0] = [str(root) for root in dict.fromkeys([*roots, source.parent])]
    spec = importlib.util.spec_from_file_location("_standins", Path(__file__).with_name("standins.py"))
    assert spec is not None
    assert spec.loader is not None
    standins: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(standins)
    list(standins.install())
    try:
        import_file(source, roots)
    except BaseException as wrong:  # an exit among them: whatever it is, it is the answer
        return {**failure(wrong, own), "files": files.listed(own)}
    writer = Writer(own)
    modules: dict[str, dict[str, Any]] = {}
    tuned: dict[str, dict[str, Any]] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if (
            not isinstance(file, str)
            or not under(os.path.realpath(file), own)
            or isinstance(module, standins.StandInModule)
        ):
            continue
        names: dict[str, Any] = {}
        for name, value in list(vars(module).items()):
            if name.startswith("__") and name != "__all__":
                continue
            form = writer.value(value)
            if form is not None:
                names[name] = form
            if form is not None and form[0] == "function" and (said := writer.tuning(value)):
                tuned[f"{form[1]}:{form[2]}"] = said
        modules[os.path.realpath(file)] = names
    return {"modules": modules, "tuned": tuned, "files": files.listed(own)}


def main() -> None:
    """Reads the request, and keeps what the source prints out of the answer."""
    request = json.loads(sys.stdin.buffer.read())
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    with answer:
        json.dump(run(request), answer)
    # Threads that the source started, and what it registered for the end, are none of ours.
    os._exit(0)


if __name__ == "__main__":
    main()
