"""The commands, and what each of them takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from teenybuild import __version__
from teenybuild.units import parse_number, parse_size

_T = TypeVar("_T")
#: What stands for a manifest where none is named.
MANIFEST = "kernels.toml"
#: What ``show`` shows.
STAGES = ("source", "mlir", "llvm", "ptx", "sass", "abi", "side")


def parser() -> argparse.ArgumentParser:
    """Of the whole command line."""
    top = argparse.ArgumentParser(
        prog="teenybuild",
        description="Builds the GPU kernels of kernels.toml ahead of time.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"teenybuild {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, allow_abbrev=False)

    def add_for_project(name: str, text: str) -> argparse.ArgumentParser:
        command = add(name, text)
        command.add_argument(
            "-m", "--manifest", default=MANIFEST, metavar="FILE", help="the manifest (kernels.toml)"
        )
        command.add_argument(
            "--build-dir", metavar="DIR", help="where output goes (build/ beside the manifest)"
        )
        command.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
        return command

    init = add("init", "make a kernels.toml and a first kernel to start from")
    init.add_argument("directory", nargs="?", default=".", help="where (here)")
    _build(add_for_project("build", "build everything that is out of date"))
    _lock(add_for_project("lock", "build everything, and record in kernels.lock what came out"))
    _targets(add_for_project("check", "check the manifest and type-check every kernel; compile nothing"))
    _targets(add_for_project("list", "every specialisation: id, target, key, state"))
    _show(add_for_project("show", "what one specialisation is at a stage of its compile"))
    _one(
        add_for_project(
            "explain", "why a specialisation would be compiled, or would not: which part of its key moved"
        )
    )
    _clean(add_for_project("clean", "remove what was built (the cache stays)"))
    _cache(add_for_project("cache", "what the cache holds, and how often it had what builds asked for"))
    _gc(add_for_project("gc", "remove from the cache what was not used for long; safe beside running builds"))
    add_for_project("doctor", "what this machine has, and what is missing")
    return top


# Commands -----------------------------------------------------------------------------------------------------


def _build(command: argparse.ArgumentParser) -> None:
    _targets(command)
    _jobs(command)
    command.add_argument(
        "--time-limit",
        type=_number("seconds"),
        metavar="SECONDS",
        help="what one specialisation may take (600; 0: any)",
    )
    command.add_argument(
        "--memory-limit", type=_size, metavar="SIZE", help="what one compiling process may have: 2G (any)"
    )
    command.add_argument(
        "--force", action="store_true", help="compile everything again, whatever the cache has"
    )
    command.add_argument(
        "--loader-dir", metavar="DIR", help="where the generated package goes (the build directory)"
    )
    command.add_argument(
        "--locked",
        action="store_true",
        help="fail where anything differs from the lock that teenybuild lock wrote",
    )
    command.add_argument(
        "--check-reproducible", action="store_true", help="build twice more, apart, and compare all bytes"
    )
    command.add_argument(
        "--stamp",
        metavar="FILE",
        help="write what the package is (files and digests) to FILE where that has changed: an output for another build system",
    )
    command.add_argument(
        "--depfile",
        metavar="FILE",
        help="write to FILE, as a Makefile rule, what --stamp is made from",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def _lock(command: argparse.ArgumentParser) -> None:
    _compiling(command)
    _jobs(command)


def _show(command: argparse.ArgumentParser) -> None:
    _one(command)
    command.add_argument(
        "--stage",
        choices=STAGES,
        default="ptx",
        help="what to show (ptx); side lays source, IR and PTX side by side",
    )
    command.add_argument(
        "--sass",
        action="store_true",
        help="machine code in side too; as for sass, that takes an assembler (teenybuild[cubin]) and nvdisasm",
    )


def _clean(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cache", action="store_true", help="empty the cache too")
    command.add_argument("--cache-dir", metavar="DIR", help="which cache --cache means")


def _cache(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cache-dir", metavar="DIR", help="which cache (the manifest's)")


def _gc(command: argparse.ArgumentParser) -> None:
    _cache(command)
    command.add_argument(
        "--max-age",
        type=_number("days"),
        metavar="DAYS",
        help="what was not used for so long goes (30, or any if --max-size is given)",
    )
    command.add_argument(
        "--max-size",
        type=_size,
        metavar="SIZE",
        help="no more than so much stays: 500M, 2G; what was used last stays longest",
    )
    command.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")


# What several take --------------------------------------------------------------------------------------------


def _one(command: argparse.ArgumentParser) -> None:
    _targets(command)
    command.add_argument("id", metavar="ID", help="an id that list shows")


def _targets(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--target", action="append", default=[], metavar="T", help="build for T only; may be repeated"
    )
    _compiling(command)


def _compiling(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cache-dir", metavar="DIR", help="where compiled kernels are kept")
    command.add_argument(
        "--allow-import",
        action="store_true",
        help="let the build run the kernel files whose manifest says import = true",
    )


def _jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-j", "--jobs", type=_positive, metavar="N", help="compile in N processes (all cores)"
    )


# Values -------------------------------------------------------------------------------------------------------


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def _number(what: str) -> Callable[[str], float]:
    return lambda text: _value(lambda: parse_number(text, what))


def _size(text: str) -> int:
    return _value(lambda: parse_size(text))


def _value(parse: Callable[[], _T]) -> _T:
    try:
        return parse()
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
