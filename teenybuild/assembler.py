"""From PTX to the machine code of one architecture: by nvJitLink in this process, or by a ``ptxas`` that is asked for.

Neither needs a GPU.  What an assembler says of a kernel (registers, spills) is read from what it prints; how long the code is, from the
cubin, which is an ELF file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from teenybuild.compiler.elf import sections_of
from teenybuild.diagnostics import UserError, error

#: Where a ptxas is, if not on the PATH.
PTXAS_VARIABLE = "TEENYBUILD_PTXAS"
#: Registers of a multiprocessor, and so of a program at most; a warp is given them in pieces (CUDA programming guide, compute capabilities).
REGISTERS, PIECE = 65_536, 256


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel takes: registers a thread; bytes of spills (as instructions), of stack a thread, of shared memory a program, of code."""

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int
    code: int

    def json(self) -> dict[str, int]:
        """As plain data."""
        return {
            "registers": self.registers,
            "spill_stores": self.spill_stores,
            "spill_loads": self.spill_loads,
            "stack": self.stack,
            "shared": self.shared,
            "code": self.code,
        }

    def cells(self) -> tuple[str, ...]:
        """As part of a line of a table, under :data:`HEADER`."""
        spills = f"{self.spill_stores} / {self.spill_loads}" if self.spill_stores + self.spill_loads else "0"
        return str(self.registers), spills, f"{self.shared:,}", f"{self.code:,}"

    def problem(self, threads: int) -> str | None:
        """Why no program of so many threads can ever run; None where one can."""
        warps = -(-threads // 32)
        each = -(-self.registers * 32 // PIECE) * PIECE
        if warps * each <= REGISTERS:
            return None
        return f"a program needs {warps * each:,} registers ({self.registers} for each of {threads} threads), and there are {REGISTERS:,} for one"


#: What :meth:`Resources.cells` are: spills are bytes stored and loaded.
HEADER = ("registers", "spills", "shared memory", "code")


class Assembler(Protocol):
    """Something that assembles. ``identity`` (its name and version) decides what comes out; ``path`` is the file that changes with it."""

    @property
    def identity(self) -> str: ...

    @property
    def path(self) -> Path: ...

    def run(self, ptx: bytes, options: list[str]) -> tuple[bytes | None, str]:
        """The cubin, or None where it cannot be made, and what was said of it."""
        ...


def assemble(
    assembler: Assembler, ptx: bytes, arch: str, symbol: str, shared: int, *, lineinfo: bool
) -> tuple[bytes, Resources]:
    """Machine code for ``arch`` (``sm_90a``) of a kernel, and what it takes: ``shared`` bytes are known. Raises :class:`UserError` where there is none."""
    options = [f"-arch={arch}", *(["-lineinfo"] if lineinfo else [])]
    cubin, said = assembler.run(ptx, options)
    if cubin is None:
        raise _refused(assembler, arch, said)
    return cubin, _resources(cubin, said, symbol, shared)


_TOO_NEW = re.compile(r"Unsupported \.version (\S+); current version is '(\S+)'")


def _refused(assembler: Assembler, arch: str, said: str) -> UserError:
    found = _TOO_NEW.search(said)
    if found is not None:
        ptx, newest = found.groups()
        return error(
            f"{assembler.identity} reads PTX up to {newest}, and this is PTX {ptx}",
            hint=f'build with ptx = "{newest}" under [build] (or TEENYBUILD_PTX_VERSION={newest}), or install a newer assembler',
        )
    return error(
        f"{assembler.identity} makes no code for {arch} of this:\n{said.strip()}",
        hint="an older assembler may not know the architecture; where the kernel has no assembly of its own, this is a bug of ours: please report it",
    )


def _resources(cubin: bytes, said: str, symbol: str, shared: int) -> Resources:
    def number(pattern: str) -> int:
        found = re.search(pattern, said)
        return int(found[1]) if found is not None else 0

    return Resources(
        number(r"[Uu]sed (\d+) registers"),
        number(r"(\d+) bytes spill stores"),
        number(r"(\d+) bytes spill loads"),
        number(r"(\d+) bytes stack frame"),
        shared,
        sections_of(cubin).get(f".text.{symbol}", 0),
    )


class _JitLink:
    def __init__(self) -> None:
        try:
            from cuda.pathfinder import load_nvidia_dynamic_lib

            loaded = load_nvidia_dynamic_lib("nvJitLink")
            nvjitlink: Any = import_module("cuda.bindings.nvjitlink")
            major, minor = nvjitlink.version()
        except Exception as wrong:
            # Whatever a package or a loader raises where there is none.
            raise error(
                f"cubins need an assembler, and there is no nvJitLink: {str(wrong).strip().partition(chr(10))[0]}",
                hint='pip install \'teenybuild[cubin]\', or set assembler = "ptxas" under [build], or leave "cubin" out of emit',
            ) from None
        self._nvjitlink = nvjitlink
        self.path = Path(str(loaded.abs_path))
        self.identity = f"nvJitLink {_distribution(self.path) or f'{major}.{minor}'}"

    def run(self, ptx: bytes, options: list[str]) -> tuple[bytes | None, str]:
        library, given = self._nvjitlink, [*options, "-verbose"]
        handle = library.create(len(given), given)
        try:
            # The name is in what it says, and nowhere in what it makes.
            text = ptx + b"\0"
            try:
                library.add_data(handle, library.InputType.PTX, text, len(text), "kernel.ptx")
                library.complete(handle)
            except library.nvJitLinkError:
                return None, self._log(handle, "error")
            cubin = bytearray(library.get_linked_cubin_size(handle))
            library.get_linked_cubin(handle, cubin)
            return bytes(cubin), self._log(handle, "info")
        finally:
            library.destroy(handle)

    def _log(self, handle: Any, kind: str) -> str:
        log = bytearray(getattr(self._nvjitlink, f"get_{kind}_log_size")(handle))
        getattr(self._nvjitlink, f"get_{kind}_log")(handle, log)
        return bytes(log).rstrip(b"\0").decode(errors="replace")


def _distribution(library: Path) -> str | None:
    """The version of the Python package that a library came with; None where it came with none."""
    from importlib.metadata import PackageNotFoundError, distribution

    for name in ("nvidia-nvjitlink", "nvidia-nvjitlink-cu13", "nvidia-nvjitlink-cu12"):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if any(Path(str(found.locate_file(file))) == library for file in found.files or ()):
            return found.version
    return None


class _Ptxas:
    def __init__(self) -> None:
        said = os.environ.get(PTXAS_VARIABLE) or shutil.which("ptxas")
        if said is None:
            raise error(
                "there is no ptxas on the PATH",
                hint=f'say where it is with {PTXAS_VARIABLE}, or leave assembler = "ptxas" out: nvJitLink comes with teenybuild[cubin]',
            )
        self.path = Path(said)
        try:
            done = subprocess.run([said, "--version"], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as wrong:
            raise error(f"{said} is no ptxas: {wrong}") from None
        version = re.search(r"\bV(\d+\.\d+\.\d+)", done.stdout)
        if version is None:
            raise error(f"{said} does not say which ptxas it is")
        self.identity = f"ptxas {version[1]}"

    def run(self, ptx: bytes, options: list[str]) -> tuple[bytes | None, str]:
        with tempfile.TemporaryDirectory(prefix="teenybuild-") as directory:
            source, result = Path(directory, "kernel.ptx"), Path(directory, "kernel.cubin")
            source.write_bytes(ptx)
            command = [str(self.path), *options, "-v", "kernel.ptx", "-o", "kernel.cubin"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory)
            said = done.stdout + done.stderr
            return (result.read_bytes() if done.returncode == 0 else None), said


#: By the names that a manifest has for them.
ASSEMBLERS = {"nvjitlink": _JitLink, "ptxas": _Ptxas}


def find_assembler(name: str) -> Assembler:
    """The assembler of a manifest. Raises :class:`UserError` where it is not there."""
    return ASSEMBLERS[name]()
