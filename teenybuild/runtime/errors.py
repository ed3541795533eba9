"""What goes wrong with a call. Each error names the kernel, the argument, what was expected and what came."""

from __future__ import annotations


class LaunchError(Exception):
    """A kernel that could not be launched: nothing has run, and no argument was written to.

    ``kernel`` is the name of the kernel (or the id of the specialisation), ``argument`` the argument that is wrong, where it is one.
    """

    def __init__(self, message: str, kernel: str = "", argument: str | None = None) -> None:
        # All of them are in ``args``: an error of a worker process is pickled by those.
        super().__init__(message, kernel, argument)
        self.message = message
        self.kernel = kernel
        self.argument = argument

    def __str__(self) -> str:
        return self.message


class CallError(LaunchError, TypeError):
    """The arguments do not match the parameters: too many, missing, given twice, not known."""


class ArgumentError(LaunchError):
    """An argument has the right name and cannot be used."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of the wrong kind: another dtype, an array on another device, a number for an array."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right kind with a value that is not: out of range, not aligned, null, read-only."""


class ChoiceError(LaunchError, LookupError):
    """No specialisation fits the call."""


class GridError(LaunchError, ValueError):
    """The grid has no such rank or extent."""


class StreamError(LaunchError, TypeError):
    """What was passed as ``stream`` is not one, or has no use here."""


class TargetError(LaunchError, LookupError):
    """The package has nothing that runs where the arrays are."""


class PackageError(LaunchError):
    """The package on disk is not whole, or is of another version."""


class KernelError(LaunchError):
    """A program did something wrong while it ran on the host: an assertion did not hold, an access was outside of the launched arrays,
    two programs wrote the same address. All programs have run, those with failed assertions up to there; such accesses were left out.
    """


class UnloadedError(LaunchError, RuntimeError):
    """The specialisation was unloaded, and not loaded again."""


class DriverError(LaunchError, RuntimeError):
    """The CUDA driver refused. ``code`` is its name for the error (``CUDA_ERROR_INVALID_VALUE``)."""

    def __init__(self, message: str, kernel: str = "", argument: str | None = None, code: str = "") -> None:
        super().__init__(message, kernel, argument)
        self.args = (message, kernel, argument, code)
        self.code = code
