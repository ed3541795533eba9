"""What a package says of one kernel: its parameters, its specialisations and their artifacts. One JSON file, read at the first use.

``specialisations`` refer to ``layouts`` by number: most of them share what they say of their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import PackageError
from .layout import Layout

if TYPE_CHECKING:
    from typing import TypeAlias

    #: A constant, or the value of an option.
    Value: TypeAlias = int | float | bool | str | None

#: The calling convention of artifacts that this runtime can call.
ABI_VERSION = 2


class Residency(NamedTuple):
    """How many blocks of a kernel that streams memory should run at once on a multiprocessor.

    A block reads ``bytes``; where ``argument`` is a name, ``argument / of`` of them if that is less than 1. ``wanted`` bytes should be under
    way. Under the smallest carve-out, ``shared[n - 1]`` bytes of shared memory a block hold a multiprocessor to n of them.
    """

    bytes: int
    argument: str | None
    of: int
    wanted: int
    shared: tuple[int, ...]


class TensorMap(NamedTuple):
    """An array of which code copies blocks of the sides ``box``, all axes fastest first; numbers stand there, or the names of arguments.

    ``strides`` are in elements, without the fastest axis' 1; NaN stands outside unless ``padding`` is 0. A box has rows of ``row`` bytes.
    """

    base: str
    dtype: str
    shape: tuple[int | str, ...]
    strides: tuple[int | str, ...]
    padding: int | str
    box: tuple[int, ...]
    row: int


class Artifact(NamedTuple):
    """The code of one specialisation for one target. ``sha256`` has its files: PTX, machine code (``cubin``) or both, or a shared object (``so``).

    ``threads`` is 0 on the host, ``ptx`` (the PTX ISA version) empty there.
    """

    target: str
    directory: Path
    id: str
    symbol: str
    sha256: Mapping[str, str]
    ptx: str
    threads: int
    shared_bytes: int
    scratch_bytes: int
    cluster: tuple[int, int, int]
    cooperative: bool
    programmatic: bool
    residency: Residency | None
    #: What the code tells while it runs on the host, as ``docs/contracts.md`` says; empty on a GPU.
    reports: tuple[dict[str, Any], ...]
    #: What is passed after the address of scratch memory.
    tensor_maps: tuple[TensorMap, ...] = ()

    def path(self, extension: str) -> Path:
        """A file. Made when it is asked for: an index has thousands of artifacts, and a process loads a few."""
        # A ":" is not for paths.
        return self.directory / self.target.replace(":", "-") / f"{self.id}.{extension}"


class Row(NamedTuple):
    """One specialisation: what it fixes, its arguments, and its artifact for each target."""

    id: str
    dtypes: Mapping[str, str]
    consts: Mapping[str, Value]
    options: Mapping[str, Value]
    auto: bool
    layout: Layout
    artifacts: Mapping[str, Artifact]


class Index(NamedTuple):
    """One kernel. ``parameters`` are those with a value at run time, in source order.

    ``grid`` are the manifest's expressions, ``grid_names`` the names they use.
    """

    kernel: str
    parameters: tuple[str, ...]
    targets: tuple[str, ...]
    host_isa: str
    grid: tuple[str, ...]
    grid_names: tuple[str, ...]
    rows: tuple[Row, ...]


def read_index(path: Path) -> Index:
    """The index at ``path``, which lies in ``_kernels`` of a package.

    Raises :class:`PackageError` where it cannot be read or is of another ABI version.
    """
    import json  # with the first index, not with the package

    try:
        plain: dict[str, Any] = json.loads(path.read_bytes())
        version = plain["abi_version"]
    except (OSError, ValueError, TypeError, KeyError) as wrong:
        raise PackageError(f"{path}: the package is damaged: {wrong!r}; build it again") from None
    if version != ABI_VERSION:
        message = f"{path}: it has ABI version {version}, and this runtime calls version {ABI_VERSION}; build the package again"
        raise PackageError(message)
    try:
        return _index(plain, path.parents[1] / "_artifacts")
    except (KeyError, TypeError, ValueError, IndexError) as wrong:
        raise PackageError(f"{path}: the package is damaged: {wrong!r}; build it again") from None


def _index(plain: dict[str, Any], artifacts: Path) -> Index:
    parameters = tuple(plain["parameters"])
    layouts = [
        Layout(parameters, each["types"], each["arguments"], each["packed_size"]) for each in plain["layouts"]
    ]
    rows = [
        Row(
            each["id"],
            each["dtypes"],
            each["consts"],
            each["options"],
            each["auto"],
            layouts[each["layout"]],
            {
                target: _artifact(target, each["id"], plain["symbol"], said, artifacts)
                for target, said in each["artifacts"].items()
            },
        )
        for each in plain["specialisations"]
    ]
    return Index(
        plain["kernel"],
        parameters,
        tuple(plain["targets"]),
        plain["host_isa"],
        tuple(plain["grid"]),
        tuple(plain["grid_names"]),
        tuple(rows),
    )


def _artifact(target: str, id: str, symbol: str, said: dict[str, Any], directory: Path) -> Artifact:
    return Artifact(
        target,
        directory,
        id,
        symbol,
        said["sha256"],
        said["ptx"],
        said["threads"],
        said["shared_bytes"],
        said["scratch_bytes"],
        tuple(said["cluster"]),
        said["cooperative"],
        said["programmatic"],
        _residency(said["residency"]),
        tuple(said["reports"]),
        tensor_maps(said["tensor_maps"]),
    )


def tensor_maps(said: Sequence[dict[str, Any]]) -> tuple[TensorMap, ...]:
    """As an artifact's description has them."""
    return tuple(
        TensorMap(
            each["base"],
            each["dtype"],
            tuple(each["shape"]),
            tuple(each["strides"]),
            each["padding"],
            tuple(each["box"]),
            each["row"],
        )
        for each in said
    )


def _residency(said: dict[str, Any] | None) -> Residency | None:
    if said is None:
        return None
    return Residency(said["bytes"], said["argument"], said["of"], said["wanted"], tuple(said["shared"]))
