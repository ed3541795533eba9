"""What the loader is given of each artifact."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Image:
    """One artifact: its description (the ``json`` of its entry, see ``abi.schema.json``) and the files of it that are shipped.

    Those are, by extension: PTX (``ptx``), machine code (``cubin``) or both for a GPU, a shared object (``so``) for the host.
    """

    description: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def digests(self) -> dict[str, str]:
        """sha256 of each file, 64 hex digits, by extension."""
        return {extension: hashlib.sha256(data).hexdigest() for extension, data in self.files.items()}


#: The images of a package, by target and id. One that failed to build is not in it.
Images = Mapping[str, Mapping[str, Image]]
