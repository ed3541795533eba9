"""Where a call runs: the device its arrays are on, and the target that the package has for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .errors import ArgumentError, CallError, TargetError
from .explain import Problem, place, problems_error
from .views import HOST, NOWHERE, arrays

if TYPE_CHECKING:
    from .views import View


class Place(NamedTuple):
    """A CUDA device (or HOST), and what to run there."""

    device: int
    target: str


class Places:
    """The targets of one kernel, or of one specialisation, and which of them a call runs."""

    def __init__(self, kernel: str, parameters: Sequence[str], targets: Sequence[str]) -> None:
        self._kernel = kernel
        self._parameters = parameters
        #: In the order the manifest has them.
        self.targets = tuple(targets)
        self._host = tuple(target for target in targets if target.startswith("cpu"))
        self._gpu = tuple(target for target in targets if not target.startswith("cpu"))
        self._known: dict[int, Place] = {}

    def find(self, views: Sequence[View], target: str | None) -> Place:
        """Where the first array is, and ``target`` or else the best there.

        Raises :class:`TargetError` where the package has nothing for it, :class:`ArgumentTypeError` where an array is on another
        kind of device than the target, :class:`CallError` where nothing says where to run.
        """
        device = None
        for view in views:
            what = view[0][:1]
            if what == "*" or (what in ("d", "(") and view[2] != NOWHERE):
                device = view[2]
                break
        if target is not None or device is None:
            return self._asked(device, views, target)
        found = self._known.get(device)
        if found is None:
            found = self._known[device] = Place(device, self._best(device, views))
        return found

    def on(self, device: int | None, target: str | None) -> Place:
        """Where to load: on a CUDA device, or for None on the host, or where nothing is for it on the current device.

        Raises :class:`TargetError`.
        """
        if target is not None:
            self._refuse_unknown(target)
            host = target in self._host
            if host and device is not None:
                raise TargetError(
                    f"{self._kernel}: target {target} runs on the host, not on CUDA device {device}",
                    self._kernel,
                )
        else:
            host = device is None and bool(self._host)
        if host:
            return Place(HOST, target or self._host_target())
        from .driver import current_device

        ordinal = current_device() if device is None else device
        return Place(ordinal, self._fitting(ordinal, target))

    def _best(self, device: int, views: Sequence[View]) -> str:
        if device == HOST and self._host:
            return self._host_target()
        if device >= 0 and self._gpu:
            return self._fitting(device, None)
        wanted = ("the host", "a CUDA device")
        has = [where for where, targets in zip(wanted, (self._host, self._gpu), strict=True) if targets]
        raise self._misplaced(views, device, f"{' or '.join(has)} (the package has {self._has()})")

    def _asked(self, device: int | None, views: Sequence[View], target: str | None) -> Place:
        """Where the caller says, or where no array does."""
        if target is None:
            if self._host and self._gpu:
                message = f"no array says where to run; pass target= ({self._has()})"
                raise CallError(f"{self._kernel}: {message}", self._kernel, "target")
            return self.on(None, None)
        self._refuse_unknown(target)
        if device is None:
            return self.on(None, target)
        if target in self._host:
            if device != HOST:
                raise self._misplaced(views, device, f"the host (target {target})")
            return Place(HOST, target)
        if device < 0:
            raise self._misplaced(views, device, f"a CUDA device (target {target})")
        return Place(device, self._fitting(device, target))

    def _host_target(self) -> str:
        return "cpu" if "cpu" in self._host else self._host[0]

    def _fitting(self, ordinal: int, target: str | None) -> str:
        """The target for a CUDA device: ``target`` where it runs there, for None the best."""
        from .driver import device
        from .images import best_target

        return best_target(self._gpu if target is None else (target,), device(ordinal), self._kernel)

    def _refuse_unknown(self, target: str) -> None:
        if target not in self.targets:
            message = f"{self._kernel}: target: expected {' or '.join(self.targets)}, got {target!r}"
            raise TargetError(message, self._kernel, "target")

    def _misplaced(self, views: Sequence[View], device: int, where: str) -> ArgumentError:
        """The error for the arrays on ``device``, which nothing here is for."""
        problems = [
            Problem(name, f"expected an array on {where}, got one on {place(device)}")
            for name, view in arrays(self._parameters, views)
            if view[2] == device
        ]
        return problems_error(self._kernel, problems)

    def _has(self) -> str:
        return ", ".join(self.targets)
