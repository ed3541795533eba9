"""Artifacts → the Python package that loads, checks and launches them. Generated in memory, written only where it changed."""

from teenybuild.loader.image import Image
from teenybuild.loader.package import generate
from teenybuild.loader.write import remove_package, write_package

__all__ = ["Image", "generate", "remove_package", "write_package"]
