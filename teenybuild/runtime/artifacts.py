"""The bytes of an artifact, as they were when the package was generated."""

from __future__ import annotations

import hashlib

from .errors import PackageError
from .index import Artifact


def read_artifact(artifact: Artifact, extension: str, kernel: str) -> bytes:
    """The contents of one of its files. Raises :class:`PackageError` where it is missing or is not what was generated."""
    path = artifact.path(extension)
    try:
        data = path.read_bytes()
    except OSError as wrong:
        message = f"{kernel}: {path} cannot be read: {wrong.strerror}; build the package again"
        raise PackageError(message, kernel) from None
    if hashlib.sha256(data).hexdigest() != artifact.sha256[extension]:
        message = f"{kernel}: {path} has changed since it was generated; build the package again"
        raise PackageError(message, kernel)
    return data
