"""What Triton has beside its language: :mod:`~teenybuild.language.extra.libdevice`."""

from teenybuild.language.extra import libdevice

__all__ = ["libdevice"]
