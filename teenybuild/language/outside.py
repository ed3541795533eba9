"""What calling a name of the language outside a kernel says."""

from __future__ import annotations

from typing import NoReturn


def outside(name: str) -> NoReturn:
    """Raises :class:`RuntimeError`: kernels are compiled, not called."""
    raise RuntimeError(
        f"{name} means something only inside a kernel, which is compiled, not called. "
        "Build the kernel (teenybuild build, or teenybuild.compile) and launch it through the generated package; "
        "teenybuild.testing.run runs one on this machine."
    )
