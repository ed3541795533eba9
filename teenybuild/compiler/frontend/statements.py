"""Statements: assignments, branches, loops, calls. Helpers are inlined; what runs only at compile time is run.

A run-time ``if`` or ``for`` becomes an operation with a region.  The names it assigns are what it yields: a loop carries every name
that is assigned in its body and has a value before it; an ``if`` yields every name whose value differs between its two ways.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from teenybuild.compiler.frontend.builtins.debugging import device_assert
from teenybuild.compiler.frontend.canonical import (
    is_constexpr_hint,
    parameter_defaults,
    spell_parameters,
    without_docstring,
)
from teenybuild.compiler.frontend.decorators import check_helper
from teenybuild.compiler.frontend.expressions import Expressions, Frame, Poisoned
from teenybuild.compiler.frontend.host import Host
from teenybuild.compiler.frontend.host_values import freeze
from teenybuild.compiler.frontend.reach import runs_at_compile_time
from teenybuild.compiler.frontend.values import (
    POISON,
    BlockPointer,
    Function,
    Poison,
    Range,
    Tensor,
    Undefined,
    describe,
    is_constant,
    is_tuple,
    same_constant,
    tuple_like,
)
from teenybuild.compiler.ir import scf
from teenybuild.compiler.ir.core import Block, Value
from teenybuild.diagnostics import Diagnostic, UserError, did_you_mean

#: Statements read for one kernel, those of unrolled turns and inlined calls each time; past this it is taken never to end.
MOST_STEPS = 200_000
#: And operations that they make: one of them may have many.
MOST_OPERATIONS = 200_000
_DEEPEST_CALL = 64
#: What a call takes, measured in statements.
_STEPS_OF_A_CALL = 4
#: Errors of one kernel that are told: nobody reads more.
_MOST_ERRORS = 100
#: Run-time branches and loops inside each other. A return in a branch nests all that follows it.
_DEEPEST_REGION = 100


@dataclass(frozen=True, slots=True)
class Returned:
    """The statements ran into ``return``; ``value`` is what they gave."""

    value: object


class Reader(Expressions):
    """Reads a kernel's statements into tile IR. Errors are collected: one bad statement does not hide the next."""

    def __init__(self, frame: Frame, node: ast.AST, debug: bool = False) -> None:
        super().__init__(frame, node)
        self.semantics.debug = debug
        self.diagnostics: list[Diagnostic] = []
        self._steps = 0
        self._calls: list[Function] = []
        self._loops = 0
        self._depth = 0
        self.semantics.call = lambda function, values: self.call_function(
            self.builder.location.node, function, values, {}
        )

    # Blocks of statements -------------------------------------------------------------------------------------

    def run(self, statements: Sequence[ast.stmt]) -> Returned | None:
        """Reads statements in order; what they return, or None where they end without ``return``."""
        for i, node in enumerate(statements):
            self._step(node)
            rest = partial(_behind, statements, i)
            try:
                if isinstance(node, ast.If | ast.For):
                    done = self._if(node, rest) if isinstance(node, ast.If) else self._for(node, rest)
                    if not isinstance(done, _FellThrough):
                        return done
                elif isinstance(node, ast.Return):
                    return self._return(node)
                else:
                    self._statement(node)
            except UserError as wrong:
                self._wrong(node, wrong)
                self._poison(node)
            except Poisoned:
                self._poison(node)
        return None

    def _step(self, node: ast.AST, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS or self.builder.made > MOST_OPERATIONS:
            self.at(node)
            raise Endless(
                self.builder.error(
                    f"reading this kernel takes more than {MOST_STEPS:,} steps",
                    "a loop that is unrolled repeats its body, and a return in a branch copies what follows: "
                    "use range, and tl.where",
                )
            )

    def _wrong(self, node: ast.AST, wrong: UserError) -> None:
        """Notes what is wrong with a statement, once: it may be read many times, and be wrong in as many ways."""
        self.diagnostics.extend(d for d in wrong.diagnostics if d not in self.diagnostics)
        if len(self.diagnostics) >= _MOST_ERRORS:
            raise Endless(self.error(node, f"{len(self.diagnostics)} errors, and the rest was not read"))

    def _poison(self, node: ast.stmt) -> None:
        for name in assigned([node]):
            self.frame.locals[name] = POISON

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                value = self.evaluate(node.value)
                for target in node.targets:
                    self._assign(target, value)
            case ast.AugAssign():
                self._augment(node)
            case ast.AnnAssign():
                self._annotated(node)
            case ast.Expr():
                self.evaluate(node.value)
            case _Turn():
                self.frame.locals[node.name] = node.value
            case ast.Pass():
                pass
            case ast.Assert():
                self._assert(node)
            case ast.While():
                self._while(node)
            case ast.Break() | ast.Continue():
                raise self.error(node, f"{type(node).__name__.lower()} is not part of the language")
            case ast.FunctionDef():
                raise self.error(
                    node,
                    "a function inside a kernel is not part of the language",
                    "move it to the module's level",
                )
            case _:
                raise self.error(
                    node, f"{_STATEMENTS.get(type(node), type(node).__name__)} is not part of the language"
                )

    # Assignments ----------------------------------------------------------------------------------------------

    def _assign(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name():
                self._check_constexpr(target, value)
                self.frame.locals[target.id] = value
            case ast.Tuple() | ast.List():
                for inner in target.elts:
                    if isinstance(inner, ast.Starred):
                        raise self.error(inner, "a starred name is not part of the language")
                if not is_tuple(value):
                    raise self.error(target, f"cannot unpack {describe(value)} into {len(target.elts)} names")
                if len(value) != len(target.elts):
                    raise self.error(target, f"{len(value)} values for {len(target.elts)} names")
                for inner, item in zip(target.elts, value, strict=True):
                    self._assign(inner, item)
            case ast.Subscript():
                raise self.error(
                    target,
                    "elements of a tile cannot be assigned",
                    "tl.where gives a changed tile; tl.store writes to memory",
                )
            case _:
                raise self.error(target, "only names can be assigned")

    def _check_constexpr(self, target: ast.Name, value: object) -> None:
        if target.id in self.frame.constexpr and isinstance(value, Tensor):
            raise self.error(target, f"{target.id} is a constexpr and cannot take {describe(value)}")

    def _augment(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "only names can be assigned")
        before = self.evaluate(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        value = self.binary(node, type(node.op), before, self.evaluate(node.value))
        self._assign(node.target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "only names can be assigned")
        if node.value is None:
            return
        value = self.evaluate(node.value)
        if is_constexpr_hint(node.annotation):
            if isinstance(value, Tensor):
                raise self.error(
                    node.value, f"{node.target.id} is declared constexpr, but this is {describe(value)}"
                )
            self.frame.constexpr.add(node.target.id)
        self._assign(node.target, value)

    def _assert(self, node: ast.Assert) -> None:
        test = self.evaluate(node.test)
        message = "" if node.msg is None else self.evaluate(node.msg)
        if not is_constant(message):
            raise self.error(
                node, f"the message of an assertion is known at compile time, got {describe(message)}"
            )
        if isinstance(test, Tensor):
            self.at(node)
            device_assert(self.semantics, test, str(message))
        elif not self.truth(node.test, test):
            raise self.error(
                node, f"assertion failed: {message}" if node.msg is not None else "assertion failed"
            )

    # Return and if --------------------------------------------------------------------------------------------

    def _return(self, node: ast.Return) -> Returned:
        if self._loops:
            raise self.error(node, "return inside a loop is not part of the language")
        value = None if node.value is None else self.evaluate(node.value)
        if value is not None and not self._calls:
            wrong = self.error(node, "a kernel returns nothing", "it gives its results by tl.store")
            self.diagnostics.extend(wrong.diagnostics)
            value = None
        return Returned(value)

    def _if(self, node: ast.If, rest: _Rest) -> Returned | _FellThrough | None:
        test = self.evaluate(node.test)
        if not isinstance(test, Tensor):
            taken = node.body if self.truth(node.test, test) else node.orelse
            if any(returns(statement) for statement in taken):
                # A return under a run-time condition in there takes what follows here along.
                return self.run([*taken, *rest()])
            self.run(taken)
            return _FELL_THROUGH
        self.at(node.test)
        if test.is_tile or test.is_pointer:
            for way in (node.body, node.orelse):
                with self.builder.into(Block()):
                    self.run(way)
            raise self.error(
                node.test,
                f"the condition of if is one value, got {describe(test)}",
                "tl.where chooses element by element",
            )
        condition = self.semantics.truth(test)
        if returns(node):
            return self._branch(node, condition, [*node.body, *rest()], [*node.orelse, *rest()], whole=True)
        self._branch(node, condition, node.body, node.orelse, whole=False)
        return _FELL_THROUGH

    def _branch(
        self,
        node: ast.AST,
        condition: Tensor,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        *,
        whole: bool,
    ) -> Returned | None:
        """Builds ``scf.if``. ``whole``: the two ways include all that follows, so only what is returned comes out."""
        before = dict(self.frame.locals)
        then_block, else_block = Block(), Block()
        with self._nested(node), self.builder.into(then_block):
            then_returned = self.run(body)
            then_locals = self.frame.locals
        self.frame.locals = dict(before)
        with self._nested(node), self.builder.into(else_block):
            else_returned = self.run(orelse)
            else_locals = self.frame.locals
        self.frame.locals = before
        self.at(node)
        merge = _Merge(self, node, then_block, else_block)
        result: Returned | None = None
        if whole:
            a = then_returned.value if then_returned else None
            b = else_returned.value if else_returned else None
            result = Returned(merge.add("what is returned", a, b))
        else:
            for name in dict.fromkeys([*then_locals, *else_locals]):
                a = then_locals.get(name, _MISSING)
                b = else_locals.get(name, _MISSING)
                merged = before[name] = merge.add(name, a, b)
                if name in self.frame.constexpr and isinstance(merged, _Slot):
                    raise self.error(node, f"the constexpr {name} cannot depend on a run-time condition")
        outcome = merge.build(condition)
        if whole:
            assert result is not None
            return Returned(outcome(result.value))
        self.frame.locals = {name: outcome(value) for name, value in before.items()}
        return None

    @contextmanager
    def _nested(self, node: ast.AST) -> Generator[None]:
        """Inside one more run-time branch or loop."""
        if self._depth >= _DEEPEST_REGION:
            wrong = self.error(
                node,
                f"branches and loops are nested more than {_DEEPEST_REGION} deep",
                "a return in a branch nests all that follows it: join conditions that return alike",
            )
            raise Endless(wrong)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def dynamic_conditional(self, node: ast.IfExp, test: Tensor) -> object:
        """``a if test else b``: both sides are built, one runs."""
        if test.is_tile or test.is_pointer:
            raise self.error(
                node.test,
                f"the condition is one value, got {describe(test)}",
                "tl.where chooses element by element",
            )
        self.at(node)
        condition = self.semantics.truth(test)
        then_block, else_block = Block(), Block()
        with self.builder.into(then_block):
            a = self.evaluate(node.body)
        with self.builder.into(else_block):
            b = self.evaluate(node.orelse)
        self.at(node)
        merge = _Merge(self, node, then_block, else_block)
        value = merge.add("the value", a, b)
        return merge.build(condition)(value)

    # Loops ----------------------------------------------------------------------------------------------------

    def _for(self, node: ast.For, rest: _Rest) -> Returned | _FellThrough | None:
        if node.orelse:
            raise self.error(node, "for ... else is not part of the language")
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "the variable of a loop is one name")
        try:
            iterable = self.evaluate(node.iter)
        except (UserError, Poisoned):
            self._read_on(node)
            raise
        values = self.known_items(iterable)
        if values is not None and returns(node):
            # As if the turns were written one after the other: what one returns ends the later ones, and what follows the loop.
            self._step(node, len(values))
            turns = [s for value in values for s in (_Turn(node, node.target.id, value), *node.body)]
            return self.run([*turns, *rest()])
        if values is not None:
            self._unroll(node, node.target, values)
        elif isinstance(iterable, Range):
            self._loop(node, node.target, iterable)
        else:
            raise self.error(
                node.iter, f"a loop runs over range or tl.static_range, got {describe(iterable)}"
            )
        return _FELL_THROUGH

    def _unroll(self, node: ast.For, target: ast.Name, values: Sequence[object]) -> None:
        found = len(self.diagnostics)
        for value in values:
            self._step(node)
            self.frame.locals[target.id] = value
            with self._in_loop():
                self.run(node.body)
            if len(self.diagnostics) > found:
                # The same is wrong with most of the others, and what this turn leaves behind is not known.
                raise Poisoned

    @contextmanager
    def _in_loop(self) -> Generator[None]:
        """Inside the body of a loop, where nothing can be returned."""
        self._loops += 1
        try:
            yield
        finally:
            self._loops -= 1

    def _read_on(self, node: ast.For | ast.While) -> None:
        """Reads the body of a loop that cannot be built, for what else is wrong in it."""
        for name in assigned([node]):
            self.frame.locals[name] = POISON
        with self.builder.into(Block()), self._in_loop():
            self.run(node.body)

    def _loop(self, node: ast.For, target: ast.Name, bounds: Range) -> None:
        if target.id in self.frame.constexpr:
            raise self.error(
                target, f"{target.id} is a constexpr and cannot count a run-time loop", "use tl.static_range"
            )
        self.at(node.iter)
        descending = isinstance(bounds.step, int) and bounds.step < 0
        first, last, step = bounds.start, bounds.stop, bounds.step
        if descending:
            assert isinstance(step, int)
            first, last, step = last, first, -step
        (lower, upper, stride), dtype = self.semantics.range_bounds(first, last, step)  # type: ignore[arg-type]  # checked there
        index = Tensor(Value(lower.value.type), lower.dtype)
        carried = self._carried(node, target.id)
        body = carried.block(index.value)
        with self._turn(node, carried, body, skip=1):
            variable = index
            if descending:
                # range(hi, lo, -s) counts hi, hi - s, …: hi - (i - lo) for i from lo up, as Triton does it.
                variable = self.semantics.add(self.semantics.sub(upper, index), lower)
            self.frame.locals[target.id] = self.semantics.cast(variable, dtype)
            self._body(node, carried)
        self._after(
            node,
            carried,
            scf.For(carried.initial, lower.value, upper.value, stride.value, body, bounds.stages),
        )
        self.frame.locals[target.id] = Undefined("the variable of a loop ends with the loop")

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.error(node, "while ... else is not part of the language")
        carried = self._carried(node, None)
        test, body = carried.block(), carried.block()
        try:
            with self._turn(node.test, carried, test):
                condition = self._condition(node.test, self.evaluate(node.test))
                self.builder.add(scf.Condition(condition.value, tuple(test.args)))
        except (UserError, Poisoned):
            self._read_on(node)
            raise
        with self._turn(node, carried, body):
            self._body(node, carried)
        self._after(node, carried, scf.While(carried.initial, test, body))

    def _condition(self, node: ast.expr, test: object) -> Tensor:
        """The condition of a run-time loop."""
        if not isinstance(test, Tensor):
            if not self.truth(node, test):
                return self.semantics.tensor(False)
            raise self.error(
                node,
                "this loop never ends: its condition does not depend on anything known at run time",
                "what the body changes, or memory, must decide; nothing else leaves a loop",
            )
        self.at(node)
        if test.is_tile or test.is_pointer:
            raise self.error(
                node,
                f"the condition of while is one value, got {describe(test)}",
                "a reduction such as tl.max makes one of many",
            )
        return self.semantics.truth(test)

    def _carried(self, node: ast.For | ast.While, index: str | None) -> _Carried:
        """What a loop carries: every name that is assigned in its body and has a value before it."""
        values = {name: self.frame.locals[name] for name in assigned(node.body) if self._carries(name, index)}
        # What no loop can carry may be assigned in a branch that is never read: looked at when the body has been.
        fixed = {name: v for name, v in values.items() if self._only_known(name, v)}
        return _Carried(
            {name: self._runtime(node, name, v) for name, v in values.items() if name not in fixed}, fixed
        )

    @contextmanager
    def _turn(self, node: ast.AST, carried: _Carried, block: Block, skip: int = 0) -> Generator[None]:
        """Builds one of a loop's blocks, with the names of what is carried standing for its arguments, the first ``skip`` aside."""
        outer = self.frame.locals
        self.frame.locals = {**outer, **carried.standing(block.args[skip:])}
        try:
            with self._nested(node), self.builder.into(block):
                yield
        finally:
            carried.names.update(dict.fromkeys(self.frame.locals))
            self.frame.locals = outer

    def _body(self, node: ast.For | ast.While, carried: _Carried) -> None:
        """The statements of a turn, and what they leave for the next one."""
        found = len(self.diagnostics)
        with self._in_loop():
            self.run(node.body)
        self.at(node)
        carried.failed = len(self.diagnostics) > found or any(
            isinstance(self.frame.locals.get(name), Poison) for name in carried.values
        )
        if not carried.failed:
            for name, value in carried.fixed.items():
                if self.frame.locals.get(name) is not value:
                    self._runtime(node, name, value)  # an error, and which
        yielded = [] if carried.failed else self._yielded(node, carried.values)
        self.builder.add(scf.Yield(tuple(t.value for t in yielded)))

    def _after(self, node: ast.stmt, carried: _Carried, loop: scf.Loop) -> None:
        """Appends a loop; names stand for its results."""
        names = self.frame.locals
        if carried.failed:
            self._poison(node)
            return
        names.update(carried.standing(self.builder.add(loop).results))
        for name in carried.names:
            if name not in names:
                names[name] = Undefined(
                    "it is assigned in a loop, which may not run; give it a value before the loop"
                )

    def _carries(self, name: str, index: str | None) -> bool:
        return (
            name != index
            and name in self.frame.locals
            and not isinstance(self.frame.locals[name], Undefined | Poison)
        )

    def _only_known(self, name: str, value: object) -> bool:
        """Whether a value only exists while the kernel is compiled: constexprs, None, functions, dtypes."""
        if is_tuple(value):
            return any(self._only_known("", v) for v in value)
        return name in self.frame.constexpr or not isinstance(
            value, bool | int | float | BlockPointer | Tensor
        )

    def _runtime(self, node: ast.AST, name: str, value: object) -> object:
        """A value as a loop can carry it; things that only exist at compile time may not change in a loop."""
        if isinstance(value, bool | int | float):
            if name in self.frame.constexpr:
                raise self.error(
                    node, f"the constexpr {name} cannot change in a run-time loop", "use tl.static_range"
                )
            return self.semantics.tensor(value)
        if is_tuple(value):
            return tuple_like(value, (self._runtime(node, name, v) for v in value))
        if isinstance(value, BlockPointer):
            return value
        if not isinstance(value, Tensor):
            raise self.error(
                node,
                f"{name} is {describe(value)} before the loop and is assigned in it; a loop carries numbers and tiles only",
            )
        return value

    def _yielded(self, node: ast.AST, initial: dict[str, object]) -> list[Tensor]:
        """What the body leaves in the carried names, checked to have the types they came with."""
        flat: list[Tensor] = []
        for name, before in initial.items():
            after = self.frame.locals[name]
            if isinstance(after, Undefined):
                raise self.error(node, f"{name} has no value at the end of the loop's body: {after.why}")
            if isinstance(after, bool | int | float) and isinstance(before, Tensor) and not before.is_tile:
                after = self.semantics.number_like(after, before) or after
            after = self._runtime(node, name, after)
            match before, after:
                case BlockPointer(), BlockPointer() if not before.same_array(after):
                    raise self.error(
                        node,
                        f"the loop makes {name} a block pointer of another array, or of other blocks",
                        "in a loop a block pointer is moved, by tl.advance",
                    )
                case _:
                    pass
            first, last = leaves(before), leaves(after)
            if len(first) != len(last) or isinstance(before, BlockPointer) != isinstance(after, BlockPointer):
                raise self.error(
                    node, f"{name} is {describe(before)} before the loop but {describe(after)} after its body"
                )
            for was, now in zip(first, last, strict=True):
                if was.value.type != now.value.type or was.dtype != now.dtype:
                    raise self.error(
                        node,
                        f"the loop changes the type of {name}: {describe(was)} before it, {describe(now)} after its body",
                        f"give {name} its final {'shape' if was.shape != now.shape else 'dtype'} before the loop",
                    )
                flat.append(now)
        return flat

    # Calls ----------------------------------------------------------------------------------------------------

    def call_function(
        self, node: ast.AST, function: Function, positional: Sequence[object], named: dict[str, object]
    ) -> object:
        """Inlines a function of a kernel file: its body is read here, with its arguments' values."""
        here = self.builder.location
        if runs_at_compile_time(function):
            return self._call_host(node, function, positional, named)
        if any(f.node is function.node for f in self._calls):
            raise self.error(node, f"{function.name} calls itself; recursion is not part of the language")
        if len(self._calls) >= _DEEPEST_CALL:
            raise self.error(node, f"calls are nested more than {_DEEPEST_CALL} deep")
        check_helper(function)
        self._step(node, _STEPS_OF_A_CALL)
        frame = Frame(function.module, function.name, here)
        self._bind(node, function, frame, positional, named)
        caller, self.frame = self.frame, frame
        loops, self._loops = self._loops, 0
        self._calls.append(function)
        found = len(self.diagnostics)
        try:
            returned = self.run(without_docstring(function.node.body))
        finally:
            self._calls.pop()
            self._loops = loops
            self.frame = caller
        self.builder.location = here
        if len(self.diagnostics) > found:
            raise Poisoned
        return returned.value if returned is not None else None

    def _call_host(
        self, node: ast.AST, function: Function, positional: Sequence[object], named: dict[str, object]
    ) -> object:
        """A ``constexpr_function``: Python that runs while the kernel is compiled, from constants to a constant."""
        for value in (*positional, *named.values()):
            if not is_constant(value):
                raise self.error(
                    node, f"{function.name} computes with values known at compile time, got {describe(value)}"
                )
        value = freeze(Host(self.frame, node).call_function(node, function, positional, named))
        if not is_constant(value):
            raise self.error(node, f"{function.name} gives {describe(value)}, which is no constant")
        return value

    def _bind(
        self,
        node: ast.AST,
        function: Function,
        frame: Frame,
        positional: Sequence[object],
        named: dict[str, object],
    ) -> None:
        """Gives the parameters of an inlined function their values."""
        args = function.node.args
        if args.vararg or args.kwarg:
            raise self.error(
                node, f"{function.name} takes *args or **kwargs, which is not part of the language"
            )
        parameters = function.parameters
        names = [p.arg for p in parameters]
        form = f"it is {function.name}({spell_parameters(args)})"
        given: dict[str, object] = {}
        by_position = len(args.posonlyargs) + len(args.args)
        if len(positional) > by_position:
            raise self.error(
                node, f"{function.name} takes {by_position} arguments, got {len(positional)}", form
            )
        given.update(zip(names, positional, strict=False))
        for name, value in named.items():
            if name not in names:
                raise self.error(
                    node, f"{function.name} has no parameter {name}", did_you_mean(name, names) or form
                )
            if name in given:
                raise self.error(node, f"{function.name} gets {name} twice", form)
            given[name] = value
        defaults = parameter_defaults(function.node)
        missing = [n for n in names if n not in given and n not in defaults]
        if missing:
            raise self.error(node, f"{function.name} misses {', '.join(missing)}", form)
        for parameter in parameters:
            name = parameter.arg
            if name in given:
                value = given[name]
            else:
                value = function.default(defaults[name])
            # As in Triton, a helper takes run-time values for what it calls constexpr: public kernels give tiles.
            if is_constexpr_hint(parameter.annotation) and not leaves(value):
                frame.constexpr.add(name)
            frame.locals[name] = value


class Endless(Exception):
    """Reading the kernel is given up; carries the last error to report."""

    def __init__(self, error: UserError) -> None:
        super().__init__(error)
        self.error = error


#: The statements that follow one, made where somebody asks: a block may be as long as a loop is unrolled.
_Rest = Callable[[], Sequence[ast.stmt]]


def _behind(statements: Sequence[ast.stmt], index: int) -> Sequence[ast.stmt]:
    return statements[index + 1 :]


#: Statements that the language does not have, in words.
_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.AsyncFor: "async for",
    ast.AsyncFunctionDef: "an async function",
    ast.AsyncWith: "async with",
    ast.ClassDef: "a class inside a kernel",
    ast.Delete: "del",
    ast.Global: "global",
    ast.Import: "an import inside a kernel",
    ast.ImportFrom: "an import inside a kernel",
    ast.Match: "match",
    ast.Nonlocal: "nonlocal",
    ast.Raise: "raise",
    ast.Try: "try",
    ast.TryStar: "try",
    ast.With: "with",
}


@dataclass(slots=True, eq=False)
class _Carried:
    """What a loop carries, by name, as it is before the loop; ``names`` are all that its blocks knew.

    ``fixed`` is what it cannot carry and must leave as it is.
    """

    values: dict[str, object]
    fixed: dict[str, object]
    names: dict[str, None] = field(default_factory=dict[str, None])
    failed: bool = False

    @property
    def initial(self) -> tuple[Value, ...]:
        return tuple(leaf.value for value in self.values.values() for leaf in leaves(value))

    def block(self, *before: Value) -> Block:
        """A block that is given what is carried, after other arguments."""
        return Block(args=[*before, *(Value(v.type) for v in self.initial)])

    def standing(self, values: Sequence[Value]) -> dict[str, object]:
        """The names with these for their run-time values."""
        following = iter(values)
        return {name: rebuild(value, following) for name, value in self.values.items()}


class _Turn(ast.Pass):
    """Begins a turn of an unrolled loop: its variable takes a value."""

    def __init__(self, loop: ast.For, name: str, value: object) -> None:
        super().__init__()
        ast.copy_location(self, loop)
        self.name = name
        self.value = value


class _FellThrough:
    """An ``if`` was read and the statements after it are still to come."""


_FELL_THROUGH = _FellThrough()
_MISSING = Undefined("it is assigned on one way through an if only")


@dataclass(frozen=True, slots=True, eq=False)
class _Slot:
    """Stands for a result of the ``scf.if`` being built."""

    position: int
    like: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class _Moved:
    """A block pointer at merged offsets."""

    pointer: BlockPointer
    offsets: tuple[object, ...]


class _Merge:
    """Brings the values of two branches together into the results of one ``scf.if``."""

    def __init__(self, reader: Reader, node: ast.AST, then: Block, otherwise: Block) -> None:
        self._reader = reader
        self._node = node
        self._then = then
        self._else = otherwise
        self._pairs: list[tuple[Tensor, Tensor]] = []

    def add(self, name: str, a: object, b: object) -> object:
        """The merged value of one name: as it is where both agree, else a slot for what the ``if`` yields."""
        if a is b or same_constant(a, b):
            return a
        if isinstance(a, Poison) or isinstance(b, Poison):
            return POISON
        if isinstance(a, Undefined) or isinstance(b, Undefined):
            return a if isinstance(a, Undefined) else b
        if is_tuple(a) and is_tuple(b) and len(a) == len(b):
            return tuple_like(a, [self.add(name, x, y) for x, y in zip(a, b, strict=True)])
        if isinstance(a, BlockPointer) and isinstance(b, BlockPointer) and a.same_array(b):
            offsets = [self.add(name, x, y) for x, y in zip(a.offsets, b.offsets, strict=True)]
            return _Moved(a, tuple(offsets))
        x, y = self._runtime(a, b, self._then), self._runtime(b, a, self._else)
        if x is None or y is None:
            raise self._reader.error(
                self._node,
                f"{name} differs between the two ways through this if: {describe(a)} and {describe(b)}",
                "values known only at compile time cannot depend on a run-time condition",
            )
        if x.value.type != y.value.type or x.dtype != y.dtype:
            raise self._reader.error(
                self._node,
                f"{name} has two types after this if: {describe(x)} on one way, {describe(y)} on the other",
                "convert one of them with .to(...)"
                if x.shape == y.shape and not (x.is_pointer or y.is_pointer)
                else None,
            )
        self._pairs.append((x, y))
        return _Slot(len(self._pairs) - 1, x)

    def _runtime(self, value: object, other: object, block: Block) -> Tensor | None:
        if isinstance(value, Tensor):
            return value
        if not isinstance(value, bool | int | float):
            return None
        semantics = self._reader.semantics
        with self._reader.builder.into(block):
            if isinstance(other, Tensor) and not other.is_tile:
                return semantics.number_like(value, other) or semantics.tensor(value)
            return semantics.tensor(value)

    def build(self, condition: Tensor) -> _Outcome:
        """Ends both blocks and appends the ``scf.if``; the outcome puts its results in the place of slots."""
        builder = self._reader.builder
        for block, side in ((self._then, 0), (self._else, 1)):
            with builder.into(block):
                builder.add(scf.Yield(tuple(pair[side].value for pair in self._pairs)))
        types = tuple(a.value.type for a, _ in self._pairs)
        op = builder.add(scf.If(condition.value, self._then, self._else, types))
        return _Outcome(op.results)


@dataclass(frozen=True, slots=True)
class _Outcome:
    results: tuple[Value, ...]

    def __call__(self, value: object) -> object:
        if isinstance(value, _Slot):
            return Tensor(self.results[value.position], value.like.dtype)
        if is_tuple(value):
            return tuple_like(value, map(self, value))
        if isinstance(value, _Moved):
            return value.pointer.at(tuple(cast(Tensor, self(v)) for v in value.offsets))
        return value


# Helpers on syntax --------------------------------------------------------------------------------------------


def assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Names that the statements may assign, in order of first appearance."""
    found: dict[str, None] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return list(found)


def returns(node: ast.AST) -> bool:
    """Whether there is a ``return`` inside."""
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))


def leaves(value: object) -> list[Tensor]:
    """The run-time values of a value or (nested) tuple that may change, in order: of a block pointer, where it is."""
    if is_tuple(value):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, BlockPointer):
        return list(value.offsets)
    return [value] if isinstance(value, Tensor) else []


def rebuild(like: object, values: Iterator[Value]) -> object:
    """``like`` with its run-time values replaced by the next ones of an iterator."""
    if is_tuple(like):
        return tuple_like(like, [rebuild(item, values) for item in like])
    if isinstance(like, BlockPointer):
        return like.at(tuple(Tensor(next(values), offset.dtype) for offset in like.offsets))
    if isinstance(like, Tensor):
        return Tensor(next(values), like.dtype)
    return like
