"""All kernels of this package: ``KERNELS``, once every family's calls are imported."""

from __future__ import annotations

import importlib
import pkgutil

from . import cases
from .case import KERNELS, Case, Kernel

for _module in pkgutil.iter_modules(cases.__path__):
    importlib.import_module(f"{cases.__name__}.{_module.name}")

__all__ = ["KERNELS", "Case", "Kernel"]
