"""teenybuild: an ahead-of-time build system for GPU kernels.

What is importable here loads the compiler only when it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from teenybuild.api import Artifact, compile
    from teenybuild.diagnostics import BugError, Diagnostic, Span, UserError
    from teenybuild.language import jit

__version__ = "0.1.0"

__all__ = ["Artifact", "BugError", "Diagnostic", "Span", "UserError", "__version__", "compile", "jit"]


def __getattr__(name: str) -> Any:
    if name in ("Artifact", "compile"):
        from teenybuild import api

        return getattr(api, name)
    if name == "jit":
        from teenybuild.language import jit

        return jit
    if name in __all__:
        from teenybuild import diagnostics

        return getattr(diagnostics, name)
    raise AttributeError(f"module 'teenybuild' has no attribute {name!r}")
