"""What Triton has beside its language: :mod:`~teenybuild.language.extra.libdevice`, and what only GPUs have."""

from teenybuild.language.extra import cuda, libdevice

__all__ = ["cuda", "libdevice"]
