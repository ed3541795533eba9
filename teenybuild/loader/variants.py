"""One kernel with all that was built of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from teenybuild.loader.image import Image, Images
from teenybuild.manifest.bind import BoundKernel
from teenybuild.manifest.model import Kernel
from teenybuild.specialisation import Specialisation


@dataclass(frozen=True, slots=True)
class Variant:
    """A specialisation and its image for each target that it was built for; at least one."""

    specialisation: Specialisation
    images: dict[str, Image]

    @property
    def description(self) -> Any:
        """What holds for every target."""
        return next(iter(self.images.values())).description


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel with at least one specialisation. ``parameters`` are those with a value at run time, in source order.

    ``order`` has every target of the build: those that the manifest has for the kernel first, as it has them.
    """

    kernel: Kernel
    parameters: tuple[str, ...]
    variants: tuple[Variant, ...]
    order: tuple[str, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        """What it was built for, in order."""
        found = {target for variant in self.variants for target in variant.images}
        return tuple(target for target in self.order if target in found)


def built(bound: BoundKernel, specialisations: Sequence[Specialisation], images: Images) -> Built | None:
    """What was built of a kernel, or None where nothing was.

    The extra variant is nothing on its own: a call must be able to fall back on the plain one.
    """
    kernel = bound.kernel
    order = tuple(dict.fromkeys((*(target.name for target in kernel.targets), *images)))
    variants: list[Variant] = []
    for each in specialisations:
        if each.kernel != kernel.name:
            continue
        found = {target: images[target][each.id] for target in order if each.id in images.get(target, {})}
        if each.auto:
            # The plain one comes right before, if it was built.
            plain = variants[-1] if variants and _plain_of(variants[-1].specialisation, each) else None
            found = {
                target: image
                for target, image in found.items()
                if plain is not None and target in plain.images
            }
        if found:
            variants.append(Variant(each, found))
    parameters = tuple(name for name in bound.parameters if name in kernel.args)
    return Built(kernel, parameters, tuple(variants), order) if variants else None


def _plain_of(plain: Specialisation, auto: Specialisation) -> bool:
    fixed = (plain.dtypes, plain.consts, plain.options)
    return not plain.auto and fixed == (auto.dtypes, auto.consts, auto.options)
