"""The functions of the language: one entry a name, taking values and giving values.

Each is called with the reader's semantics and the arguments bound to its own Python signature, so a wrong keyword or count is
reported against that signature.  ``teenybuild.language`` has the same names with docstrings for editors; a test keeps the two alike.
"""

from __future__ import annotations

from teenybuild.compiler.frontend.builtins import (
    asking,
    assembly,
    atomics,
    debugging,
    descriptors,
    elementwise,
    gathering,
    hints,
    joining,
    libdevice,
    making,
    mapping,
    memory,
    products,
    programs,
    random,
    reductions,
    scaled,
    shapes,
    sorting,
    static,
)
from teenybuild.compiler.frontend.builtins.names import ALIASES, LATER, VALUES
from teenybuild.compiler.frontend.builtins.registry import BUILTINS, METHODS, signature, takes

__all__ = ["ALIASES", "BUILTINS", "LATER", "METHODS", "PYTHON_NAMES", "VALUES", "has", "signature", "takes"]

#: Importing a module of these enters its functions.
MODULES = (
    programs,
    making,
    shapes,
    joining,
    memory,
    atomics,
    descriptors,
    elementwise,
    reductions,
    gathering,
    sorting,
    mapping,
    products,
    scaled,
    random,
    libdevice,
    hints,
    assembly,
    debugging,
    static,
    asking,
)

#: Python builtins a kernel may name.
PYTHON_NAMES = frozenset(n for n in BUILTINS if "." not in n)


def has(name: str) -> bool:
    """Whether the language, in this version or a later one, has a function or value of this dotted name."""
    name = ALIASES.get(name, name)
    return name in BUILTINS or name in VALUES or name in LATER or name.rpartition(".")[2] == "PropagateNan"
