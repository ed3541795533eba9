"""These tests too verify tile IR after every pass."""

from tests.language.conftest import quiet_numpy, verified

__all__ = ["quiet_numpy", "verified"]
