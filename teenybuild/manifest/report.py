"""Everything that is wrong with a manifest, collected in one go and shown in source order."""

from __future__ import annotations

from collections.abc import Iterable

from teenybuild.diagnostics import Diagnostic, Note, Span, UserError
from teenybuild.manifest.model import Origin
from teenybuild.manifest.shapes import Fault

#: So many things that are wrong are told, and nothing more is looked for: each costs time, and nobody reads on.
MOST = 1000


class Report:
    """Diagnostics of one manifest. What is said twice (of one key that many kernels inherit) is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Span | None], Diagnostic] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(
        self, message: str, span: Span | None, *, hint: str | None = None, notes: Iterable[Note] = ()
    ) -> None:
        """One more thing that is wrong."""
        self.take([Diagnostic(message, span, tuple(notes), hint)])

    def fault(self, fault: Fault, origin: Origin) -> None:
        """A fault in the table that ``origin`` places."""
        if fault.within is None:
            span = origin.span(fault.path, fault.part)
        else:
            span = origin.span_inside(fault.path, *fault.within)
        self.add(fault.message, span, hint=fault.hint)

    def take(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Diagnostics made elsewhere. Raises UserError where there are too many of them to go on."""
        for diagnostic in diagnostics:
            self._found.setdefault((diagnostic.message, diagnostic.span), diagnostic)
            if len(self._found) > MOST:
                last = Diagnostic(f"there are more than {MOST:,} errors; the rest was not looked for")
                raise UserError([*self.sorted(())[:MOST], last])

    def sorted(self, files: Iterable[str]) -> tuple[Diagnostic, ...]:
        """All of them: those with no place first, then by file (in the order of ``files``, others last) and place."""
        order = {file: index for index, file in enumerate(files)}

        def place(diagnostic: Diagnostic) -> tuple[int, str, int, int]:
            span = diagnostic.span
            if span is None:
                return (-1, "", 0, 0)
            return (order.get(span.file, len(order)), span.file, span.line, span.column)

        return tuple(sorted(self._found.values(), key=place))

    def raise_any(self, files: Iterable[str]) -> None:
        """Raise a UserError with all of them, if there are any."""
        if self._found:
            raise UserError(self.sorted(files))
