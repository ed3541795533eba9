"""The generated package: files by path, in memory. Nothing in them depends on when, where or by what Python they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from teenybuild.diagnostics import Diagnostic, UserError
from teenybuild.loader.image import Image
from teenybuild.loader.index import index_json
from teenybuild.loader.kernel_module import kernel_module
from teenybuild.loader.root_module import RESERVED, root_module
from teenybuild.loader.variants import Built, built
from teenybuild.manifest.bind import BoundManifest
from teenybuild.specialisation import Specialisation

_RUNTIME = Path(__file__).parents[1] / "runtime"


def generate(
    bound: BoundManifest,
    specialisations: Sequence[Specialisation],
    images: Mapping[str, Mapping[str, Image]],
) -> dict[str, bytes]:
    """The package of a build: path relative to it, with forward slashes → contents.

    ``specialisations`` are all of the build, in order; ``images`` has, by target and id, what was built. What failed is simply not
    there, nor in the package. Raises :class:`UserError` where a kernel's name is one that the package needs itself.
    """
    _check_names(bound)
    kernels = [b for b in (built(each, specialisations, images) for each in bound.kernels) if b is not None]
    files: dict[str, bytes] = {
        "__init__.py": root_module(bound.manifest.build.loader, kernels).encode(),
        "py.typed": b"",
        "_kernels/__init__.py": b'"""A module and an index for each kernel."""\n',
    }
    for path in sorted(_RUNTIME.glob("*.py")):
        files[f"_runtime/{path.name}"] = path.read_bytes()
    for each in kernels:
        files |= _kernel_files(each)
    return files


def _kernel_files(each: Built) -> dict[str, bytes]:
    files = {
        f"_kernels/{each.kernel.name}.py": kernel_module(each).encode(),
        f"_kernels/{each.kernel.name}.json": index_json(each),
    }
    for variant in each.variants:
        for target, image in variant.images.items():
            path = f"_artifacts/{target.replace(':', '-')}/{variant.specialisation.id}"
            files |= {f"{path}.{extension}": data for extension, data in image.files.items()}
    return files


def _check_names(bound: BoundManifest) -> None:
    taken = [each.kernel for each in bound.kernels if each.kernel.name in RESERVED]
    if taken:
        raise UserError(
            Diagnostic(
                f'the kernel name "{kernel.name}" is one that the generated package has itself',
                kernel.span(),
                hint=f'call it {kernel.name}_; function = "{kernel.function}" names the function',
            )
            for kernel in taken
        )
