"""Keys: one digest over what decides an artifact, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from teenybuild.types import canonical

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.kernel import Instance
    from teenybuild.compiler.targets.base import Settings

#: Counts changes to the list of fields.
KEY_FORMAT = "1"
#: Fields that are pairs of a name and a value each.
LISTS = ("types", "consts", "options", "assume")

#: Everything below the package's directory whose text decides what comes out of a compile.
_COMPILER_SOURCES = ("compiler", "dtypes.py", "targets.py", "types.py")


def digest(data: bytes) -> str:
    """sha256 as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def encode(fields: Mapping[str, str]) -> bytes:
    """Fields as one byte string from which they could be told apart again: each length-prefixed, in order."""
    parts: list[bytes] = []
    for name, value in fields.items():
        for text in (name.encode(), value.encode()):
            parts.append(b"%d:" % len(text))
            parts.append(text)
    return b"".join(parts)


def decode(text: str) -> dict[str, str]:
    """The reverse of :func:`encode`, of a field that is a list of pairs itself."""
    data = text.encode()
    parts: list[str] = []
    at = 0
    while at < len(data):
        colon = data.index(b":", at)
        end = colon + 1 + int(data[at:colon])
        parts.append(data[colon + 1 : end].decode())
        at = end
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    return encode(dict(pairs)).decode()


def key_fields(
    *,
    source: str,
    function: str,
    instance: Instance,
    settings: Settings,
    target: str,
    ptx: str,
    lineinfo: bool,
    debug: bool,
) -> dict[str, str]:
    """The fields of a key, in contract order (``docs/contracts.md``)."""
    options = {
        "enable_fp_fusion": settings.enable_fp_fusion,
        "launch_cooperative_grid": settings.launch_cooperative_grid,
        "maxnreg": settings.maxnreg,
        "num_stages": settings.num_stages,
        "num_warps": settings.num_warps,
    }
    return {
        "format": KEY_FORMAT,
        "source": source,
        "function": function,
        "types": _listed((name, str(type_)) for name, type_ in instance.types.items()),
        "consts": _listed((name, canonical(value)) for name, value in instance.consts.items()),
        "options": _listed((name, canonical(value)) for name, value in options.items()),
        "assume": _listed((name, str(assumed)) for name, assumed in instance.assume.items()),
        "target": target,
        "ptx": ptx,
        "lineinfo": "1" if lineinfo else "0",
        "debug": "1" if debug else "0",
        "compiler": fingerprint(),
    }


def short(fields: Mapping[str, str]) -> dict[str, str]:
    """The same fields with no more of the source than its digest: what is written down of a key."""
    return {**fields, "source": digest(fields["source"].encode())}


def key_of(fields: Mapping[str, str]) -> str:
    """The key: sha256 over the encoded fields, 64 hex digits."""
    return digest(encode(fields))


@cache
def fingerprint() -> str:
    """The compiler's identity: its own sources and LLVM's version. Times and places of installation are not in it."""
    here = Path(__file__).parent
    fields: dict[str, str] = {}
    for name in _COMPILER_SOURCES:
        path = here / name
        files = (
            [path]
            if path.is_file()
            else sorted(path.rglob("*.py"), key=lambda p: p.relative_to(here).as_posix())
        )
        for file in files:
            fields[file.relative_to(here).as_posix()] = file.read_text(encoding="utf-8")
    fields["llvm"] = llvm_release()
    return digest(encode(fields))


def llvm_release() -> str:
    """The version of llvmlite, which carries one LLVM each; LLVM itself is not loaded for it."""
    import llvmlite

    return llvmlite.__version__
