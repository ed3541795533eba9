"""Every key of ``kernels.toml``, once.

The reader checks against these rows; the reference (``docs/manifest.md``), the JSON Schema and the hints about keys are
made from them (:mod:`teenybuild.manifest.docs`).
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.manifest.checks import (
    cache_problem,
    const_name,
    entry_problem,
    gpu_target_problem,
    grid_problem,
    identifier,
    loader_problem,
    path_problem,
    pattern_problem,
    ptx_problem,
    source_problem,
    spec_problem,
    target_problem,
    type_problem,
    variable_problem,
)
from teenybuild.manifest.shapes import (
    Choice,
    Constant,
    Either,
    Flag,
    ListOf,
    Record,
    Row,
    Shape,
    TableOf,
    Text,
    Whole,
)
from teenybuild.types import MOST_STAGES, canonical

EDITION = 1

#: Alignment beyond this has no use: no allocation is aligned to more.
_LARGEST_DIV = 1 << 30

_IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*$"
_TARGET = r"^(cpu|(cpu:)?sm_[0-9]{2,3}[af]?)$"
_PTX = r"^[0-9]+\.[0-9]+$"


def _one_or_more(shape: Shape) -> Either:
    return Either((shape, ListOf(shape, least=1)))


_targets = ListOf(Text("the name of a target", target_problem, _TARGET), least=1)
_ptx_version = Text('a PTX ISA version such as "8.6"', ptx_problem, _PTX)
_autotune = Choice(("autotune",))
_arguments = ListOf(Text("the name of an argument"))
_directory = Text("a directory", path_problem)

#: The default of each option, in documented order. An id names an option only where it differs.
DEFAULT_OPTIONS: dict[str, int | bool | None] = {
    "num_warps": 4,
    "num_stages": 3,
    "maxnreg": None,
    "enable_fp_fusion": True,
    "launch_cooperative_grid": False,
}


def _option(name: str, shape: Shape, doc: str) -> Row:
    return Row(name, shape, doc, canonical(DEFAULT_OPTIONS[name]))


OPTIONS = Record(
    (
        _option("num_warps", Choice((1, 2, 4, 8, 16, 32)), "Warps a program runs on."),
        _option("num_stages", Whole(1, MOST_STAGES), "Stages that loops over memory are pipelined in."),
        _option(
            "maxnreg",
            Whole(16, 255),
            "The most registers a thread may use; without it the assembler decides.",
        ),
        _option(
            "enable_fp_fusion", Flag(), "Whether a multiplication and an addition may become one operation."
        ),
        _option(
            "launch_cooperative_grid",
            Flag(),
            "Whether all programs of a launch run at once, so that they may wait for each other. A grid that does not fit a GPU is an error of the launch.",
        ),
    ),
    "a table of options",
)

ASSUME = Record(
    (
        Row(
            "div",
            Whole(1, _LARGEST_DIV, power=True),
            "A power of two that the address (in bytes) or the integer is a multiple of.",
        ),
        Row("eq", Choice((1,)), "The integer is 1."),
    ),
    one=True,
)

#: An option that may be given as a list, whose values multiply.
_OPTION_LISTS = Record(
    tuple(Row(row.name, _one_or_more(row.shape), row.doc, row.default) for row in OPTIONS.rows), OPTIONS.what
)

_assumptions = Either((ASSUME, Choice(("auto",))))
_config = TableOf("consts and options", Constant(), const_name(()), least=1, known=OPTIONS)
_excluded = TableOf("dtype variables, consts and options", Constant(), least=1, known=OPTIONS)

_KERNEL_ROWS = (
    Row(
        "source",
        Text("the path of a .py file", source_problem),
        "The file the function is in, relative to `[build] kernels`.",
        required=True,
    ),
    Row(
        "function",
        Text("the name of a function", identifier("the function name"), _IDENTIFIER),
        "The function, where its name differs from the kernel's.",
        "the kernel's name",
    ),
    Row(
        "args",
        TableOf(
            "types, by argument",
            Text('a type such as "i32" or "*f32"', spec_problem),
            identifier("the argument"),
        ),
        "The type of each parameter of the function that is not a const, in any order: a dtype, a pointer `*f32`, a tuple `(*f32, i32)`, a "
        "tensor descriptor `desc<f16[128, 64]>` with the sides of its blocks (numbers, or consts by name), or `none`.",
        "{}",
    ),
    Row(
        "dtypes",
        TableOf(
            "types, by variable",
            _one_or_more(Text('a type such as "f32", "*f32" or "none"', type_problem)),
            variable_problem,
        ),
        "Dtype variables: upper-case names that `args` use, each with the types it stands for. They multiply.",
        "{}",
    ),
    Row(
        "const",
        Either(
            (
                TableOf("values, by parameter", _one_or_more(Constant()), const_name(OPTIONS.names())),
                _autotune,
            )
        ),
        'Values of const parameters; the string `"tl.float16"` and its like are dtypes. A list multiplies, a single value is a list of one. '
        '`"autotune"` takes the sets of constants that `@triton.autotune` lists, each once, and leaves the options to `options`.',
        "{}",
    ),
    Row(
        "configs",
        Either((ListOf(_config, least=1), _autotune)),
        "Sets of consts and options that go together, each one alternative. A const may not stand in `const` too; "
        'an option here wins over `options`. `"autotune"` takes the sets that `@triton.autotune` lists, with their options, each once.',
    ),
    Row("options", _OPTION_LISTS, "Options of the compiler. A list multiplies.", "{}"),
    Row(
        "grid",
        ListOf(
            Either((Whole(1, (1 << 31) - 1), Text("an expression", grid_problem))),
            least=1,
            most=3,
            distinct=False,
        ),
        "How many programs a launch has, in one to three dimensions: numbers, or expressions over integer arguments (`n`, `sizes[0]` of a tuple, "
        "`a.shape[0]` of a descriptor) and consts. Without it, every launch says `grid=`.",
    ),
    Row(
        "assume",
        TableOf("assumptions, by argument", _assumptions, entry_problem),
        'What holds for an argument: `{ div = 16 }`, `{ eq = 1 }` (integers), or `"auto"`, which is `{ div = 16 }` in one extra '
        "variant that the loader picks where all autos hold. Everything else holds in both variants, and is checked at launch. "
        '`"ptrs[0]"` is an entry of a tuple, `ptrs` all of them; `"a.shape[0]"` is an extent of a descriptor.',
        "{}",
    ),
    Row(
        "exclude",
        ListOf(_excluded),
        "Combinations not to build: all that match every key of one of the tables. One that matches nothing is an error.",
        "[]",
    ),
    Row(
        "outputs",
        _arguments,
        "Pointers and descriptors that are only written. A tuple stands for all of its pointers, `ptrs[0]` for one.",
        "[]",
    ),
    Row(
        "mutates",
        _arguments,
        "Pointers that are read and written. Where either list is given, what a kernel stores to must be in one of them, and what it also reads in this one.",
        "[]",
    ),
    Row("targets", _targets, "As in `[build]`, for this kernel.", "`[build] targets`"),
    Row(
        "globals",
        TableOf("values, by name", Constant(), identifier("the name")),
        'Values of module-level names that the source does not settle by itself; `"tl.exp"` and its like are what the language has by that name.',
        "{}",
    ),
    Row(
        "backward",
        Text("the name of a kernel"),
        "The kernel that computes the gradient.",
        later="kernels and their gradients are not tied together yet: build both, and call the one you need",
    ),
    Row(
        "import",
        Flag(),
        "Whether the source is imported, and so run, to find what reading it does not tell. Builds refuse unless they are given "
        "`--allow-import`.",
        "false",
    ),
)

#: These say what one kernel is; the rest may be said once, for all.
_NOT_IN_DEFAULTS = ("source", "function", "args", "grid", "configs", "backward")

_BUILD_ROWS = (
    Row("targets", _targets, "What to build for: `cpu`, `sm_90a`, …, and for tests `cpu:sm_90a`.", '["cpu"]'),
    Row("kernels", _directory, "Where sources are, relative to the manifest.", '"kernels"'),
    Row(
        "roots",
        ListOf(_directory),
        "More directories that imports between kernel files are looked up in, after `kernels`.",
        "[]",
    ),
    Row(
        "loader",
        Text("a Python identifier", loader_problem, _IDENTIFIER),
        "The Python package to generate.",
        '"teeny_kernels"',
    ),
    Row(
        "emit",
        ListOf(Choice(("ptx", "cubin")), least=1),
        "What the package has for GPU targets: PTX, which drivers assemble when they load it, machine code, or both.",
        '["ptx"]',
    ),
    Row(
        "assembler",
        Choice(("nvjitlink", "ptxas")),
        "What makes cubins: nvJitLink, which comes with `teenybuild[cubin]`, or the `ptxas` on the PATH (or `TEENYBUILD_PTXAS`).",
        '"nvjitlink"',
    ),
    Row(
        "ptx",
        Either((_ptx_version, TableOf("versions, by target", _ptx_version, gpu_target_problem, least=1))),
        "The PTX ISA version, for all targets or for each. At least the lowest that has the target.",
        "the lowest that the target and the code need",
    ),
    Row(
        "cache",
        Text("a directory", cache_problem),
        "The cache directory: absolute, or relative to the manifest.",
        "the user's cache directory",
    ),
    Row(
        "include",
        ListOf(Text("a pattern", pattern_problem)),
        "Files with more `[kernel.NAME]` tables, as glob patterns relative to the manifest, in sorted order.",
        "[]",
    ),
    Row("lineinfo", Flag(), "Whether artifacts map instructions to source lines.", "false"),
    Row(
        "debug",
        Flag(),
        "Whether `tl.device_assert` and run-time `assert` are carried out; else they cost nothing.",
        "false",
    ),
)

_EDITION = Row("edition", Choice((EDITION,)), "The edition of this format. It is 1.", required=True)


def _elsewhere(own: tuple[Row, ...], others: tuple[tuple[tuple[Row, ...], str], ...]) -> dict[str, str]:
    """Hints for keys that stand in the wrong table. ``others``: rows, and where they belong."""
    mine = {row.name for row in own}
    found: dict[str, str] = {}
    for rows, where in others:
        for row in rows:
            if row.name not in mine:
                found.setdefault(row.name, f"{row.name} belongs {where}")
    return found


_IN_BUILD = (_BUILD_ROWS, "in [build]")
_IN_KERNEL = (_KERNEL_ROWS, "in a [kernel.NAME]")
_IN_OPTIONS = (OPTIONS.rows, "in options = { … }")
_AT_TOP = ((_EDITION,), "at the top, before the first [table]")

_DEFAULTS_ROWS = tuple(row for row in _KERNEL_ROWS if row.name not in _NOT_IN_DEFAULTS)

BUILD = Record(_BUILD_ROWS, "the table [build]", elsewhere=_elsewhere(_BUILD_ROWS, (_AT_TOP, _IN_KERNEL)))
DEFAULTS = Record(
    _DEFAULTS_ROWS,
    "the table [defaults]",
    elsewhere=_elsewhere(
        _DEFAULTS_ROWS, (_IN_OPTIONS, (_KERNEL_ROWS, "in each [kernel.NAME]"), _IN_BUILD, _AT_TOP)
    ),
)
KERNEL = Record(
    _KERNEL_ROWS,
    "a table [kernel.NAME]",
    elsewhere=_elsewhere(_KERNEL_ROWS, (_IN_OPTIONS, _IN_BUILD, _AT_TOP)),
)

_TOP_ROWS = (
    _EDITION,
    Row("build", BUILD, "What to build for, and where.", "{}"),
    Row(
        "defaults", DEFAULTS, "Anything a kernel may say, said once, except what makes it that kernel.", "{}"
    ),
    Row(
        "kernel",
        TableOf("kernels, [kernel.NAME]", KERNEL),
        "The kernels. The name is what ids, files and the loader use.",
    ),
)

TOP = Record(_TOP_ROWS, elsewhere=_elsewhere(_TOP_ROWS, (_IN_BUILD, _IN_KERNEL)))

#: A file that `include` names has kernels only.
INCLUDED = Record(
    tuple(row for row in _TOP_ROWS if row.name in ("edition", "kernel")),
    elsewhere={
        name: f"[{name}] belongs in the manifest; an included file has [kernel.NAME] tables only"
        for name in ("build", "defaults")
    },
)


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the manifest, for documentation."""

    title: str
    record: Record
    intro: str = ""


#: Tables in documented order.
SECTIONS = (
    Section("Top level", TOP),
    Section(
        "[build]",
        BUILD,
        "All of it may be left out. Paths have forward slashes; all but `cache` stay below the manifest.",
    ),
    Section(
        "[kernel.NAME]",
        KERNEL,
        "`NAME` is an ASCII identifier that is no keyword of Python and does not start with `_`; names differ even without case.\n\n"
        f"`[defaults]` may hold every key but {', '.join(f'`{name}`' for name in _NOT_IN_DEFAULTS)}. Tables are merged key by key: "
        "a kernel's own keys win, and come after the inherited ones; anything else is replaced. Keys of `dtypes`, `const` and "
        "`assume` in `[defaults]` that a kernel does not use are ignored for it.",
    ),
    Section(
        "options",
        OPTIONS,
        "In `options` each may be a list, which multiplies; in `configs` each has one value.",
    ),
    Section("assume", ASSUME, "`{ div = 1 }` assumes nothing: it takes back what `[defaults]` says."),
)
