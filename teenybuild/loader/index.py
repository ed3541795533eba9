"""The index of a kernel: what its module reads at the first use. See ``runtime/index.py`` for what each field is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from teenybuild.diagnostics import BugError
from teenybuild.loader.image import Image
from teenybuild.loader.variants import Built, Variant
from teenybuild.manifest import grid
from teenybuild.runtime.index import ABI_VERSION

#: What a launch needs of an argument; where it stands among the parameters follows from their types.
_SAID = ("name", "kind", "dtype", "offset", "size", "assume", "access")


def index_json(built: Built) -> bytes:
    """The index, a line a specialisation, for whoever looks at what changed."""
    layouts: dict[str, int] = {}
    rows = [_row(variant, layouts) for variant in built.variants]
    fields: dict[str, Any] = {
        "abi_version": ABI_VERSION,
        "kernel": built.kernel.name,
        "symbol": built.variants[0].description["symbol"],
        "parameters": built.parameters,
        "targets": built.targets,
        "host_isa": _host_isa(built),
        "grid": [grid.to_python(expr) for expr in built.kernel.grid],
        "grid_names": grid_names(built),
    }
    lines = [f"{_dump(name)}: {_dump(value)}" for name, value in fields.items()]
    lines += [_listing("layouts", list(layouts)), _listing("specialisations", rows)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def grid_names(built: Built) -> tuple[str, ...]:
    """The names that the grid's expressions use, once each."""
    return tuple(dict.fromkeys(name for expr in built.kernel.grid for name in grid.names(expr)))


def _row(variant: Variant, layouts: dict[str, int]) -> str:
    each, description = variant.specialisation, variant.description
    said = [{name: argument[name] for name in _SAID} for argument in description["arguments"]]
    types = [parameter["type"] for parameter in description["parameters"]]
    layout = _dump({"packed_size": description["packed_size"], "types": types, "arguments": said})
    return _dump(
        {
            "id": each.id,
            "dtypes": dict(each.dtypes),
            "consts": dict(each.consts),
            "options": dict(each.options),
            "auto": each.auto,
            "layout": layouts.setdefault(layout, len(layouts)),
            "artifacts": {target: _artifact(image) for target, image in variant.images.items()},
        }
    )


def _artifact(image: Image) -> dict[str, Any]:
    description, launch = image.description, image.description["launch"]
    if description["abi_version"] != ABI_VERSION:
        raise BugError(
            f"an artifact has ABI version {description['abi_version']}, and the loader {ABI_VERSION}"
        )
    return {
        "sha256": image.digests,
        "ptx": description["versions"]["ptx"],
        "threads": launch["threads"],
        "shared_bytes": launch["shared_bytes"],
        "scratch_bytes": description["scratch_bytes"],
        "cluster": launch["cluster"],
        "cooperative": launch["cooperative"],
        "programmatic": launch["programmatic"],
        "residency": launch["residency"],
        "tensor_maps": launch["tensor_maps"],
        "reports": description["reports"],
    }


def _host_isa(built: Built) -> str:
    """The instruction set that host artifacts name last in their target; empty where there are none."""
    names = (image.description["target"] for variant in built.variants for image in variant.images.values())
    return next((name.rpartition(":")[2] for name in names if name.startswith("cpu")), "")


def _listing(name: str, rows: Sequence[str]) -> str:
    return f"{_dump(name)}: [\n" + ",\n".join(rows) + "\n]"


def _dump(value: Mapping[str, Any] | Sequence[Any] | str | int) -> str:
    return json.dumps(value, ensure_ascii=True)
