"""The docstring of a kernel's class: its arguments, what it was built with and for."""

from __future__ import annotations

from collections.abc import Sequence

from teenybuild.loader.text import columns
from teenybuild.loader.variants import Built
from teenybuild.manifest import grid
from teenybuild.types import canonical, parameter_of

#: So many ids are listed; the rest are a call away.
_LISTED = 24
_ACCESS = {"read": "read", "write": "written", "readwrite": "read and written"}


def docstring(built: Built) -> list[str]:
    """The lines of the docstring, indented for a class."""
    kernel = built.kernel
    lines = [f"{kernel.name}, {_article(built)}.", "", *_table("Arguments", _arguments(built))]
    lines += _table("Built with", _choices(built))
    if kernel.grid:
        lines += ["Programs::", "", *(f"    {grid.to_python(expr)}" for expr in kernel.grid), ""]
    else:
        lines += ["Every launch passes ``grid=``.", ""]
    ids = [variant.specialisation.id for variant in built.variants]
    lines += ["Specialisations::", "", *(f"    {each}" for each in ids[:_LISTED])]
    if len(ids) > _LISTED:
        lines.append(f"    … and {len(ids) - _LISTED} more, see specialisations")
    return ['    """' + lines[0], *(f"    {line}".rstrip() for line in lines[1:]), '    """']


def _article(built: Built) -> str:
    number = len(built.variants)
    return f"{number} specialisation{'' if number == 1 else 's'} for {', '.join(built.targets)}"


def _table(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"{title}::", "", *(f"    {line}" for line in columns(rows)), ""] if rows else []


def _arguments(built: Built) -> list[tuple[str, str, str]]:
    return [(name, str(built.kernel.args[name]), _notes(built, name)) for name in built.parameters]


def _notes(built: Built, name: str) -> str:
    """What is done with an argument, and assumed of it; of a tuple's entries and a descriptor's parts, what is said of one of them by name."""
    access = {
        argument["access"]
        for variant in built.variants
        for argument in variant.description["arguments"]
        if argument["parameter"] == name and argument["access"]
    }
    found = ["read and written" if len(access) > 1 else _ACCESS[each] for each in sorted(access)[:1]]
    for said, assume in built.kernel.assume.items():
        if parameter_of(said) != name or (assume.kind == "div" and assume.value == 1):
            continue
        what = f"a multiple of {assume.value}" if assume.kind == "div" else f"{assume.value}"
        subject = "its address is " if access and said == name else f"{said} is " if said != name else ""
        extra = " in the extra variant" if said in built.kernel.autos else ""
        found.append(f"{subject}{what}{extra}")
    return "; ".join(found)


def _choices(built: Built) -> list[tuple[str, str]]:
    """Each dtype variable, const and option, and its values."""
    kernel = built.kernel
    names = (*kernel.dtypes, *kernel.consts, *kernel.option_order)
    values: dict[str, dict[str, None]] = {name: {} for name in names}
    for variant in built.variants:
        each = variant.specialisation
        for name, dtype in each.dtypes:
            values[name][dtype] = None
        for name, value in (*each.consts, *each.options):
            if name in values:
                values[name][canonical(value)] = None
    return [(name, ", ".join(found)) for name, found in values.items()]
