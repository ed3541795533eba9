"""What the loader is given of each artifact."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Image:
    """One artifact: its description (the ``json`` of its entry, see ``abi.schema.json``) and its bytes, PTX or a shared object."""

    description: Mapping[str, Any]
    data: bytes

    @property
    def sha256(self) -> str:
        """Digest of the bytes, 64 hex digits."""
        return hashlib.sha256(self.data).hexdigest()


#: The images of a package, by target and id. One that failed to build is not in it.
Images = Mapping[str, Mapping[str, Image]]
