"""The manifest, ``kernels.toml``: read, checked, typed."""

from teenybuild.manifest.bind import BoundKernel, BoundManifest, Parameter, Signature, bind
from teenybuild.manifest.model import Build, Config, Kernel, Manifest
from teenybuild.manifest.reader import read_manifest

__all__ = [
    "BoundKernel",
    "BoundManifest",
    "Build",
    "Config",
    "Kernel",
    "Manifest",
    "Parameter",
    "Signature",
    "bind",
    "read_manifest",
]
