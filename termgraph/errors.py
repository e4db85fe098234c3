"""Every error termgraph raises, each with its own wording.

An error says what was expected, what came, where the user built the thing, and what to do. The classes take facts and
compose the sentence, so that the wording of one mistake lives in one place.
"""

from __future__ import annotations

from collections.abc import Sequence


def _built(where: str | None) -> str:
    return f"\n  built at {where}" if where else ""


class TermgraphError(Exception):
    """Base class of the errors that are termgraph's own."""


class MissingInputError(TermgraphError, ValueError):
    """A graph needs the value of a variable that is not among its inputs."""

    def __init__(self, variable: object, needed_by: object = None, where: str | None = None) -> None:
        self.variable = variable
        need = f", needed by {needed_by}," if needed_by is not None else ""
        super().__init__(
            f"a missing input: {variable}{need} is neither an input of this graph nor a constant nor shared."
            f"{_built(where)}\n  Add it to the inputs, or give it a value with givens=."
        )


class MethodNotDefined(TermgraphError, NotImplementedError):
    """An Op was asked for something it does not define."""

    def __init__(self, op: object, method: str) -> None:
        super().__init__(f"{type(op).__name__} does not define {method}(); define it in the class to use it here.")


class GraphTypeError(TermgraphError, TypeError):
    """A variable or value of the wrong type was given where a graph is built."""


class StaticShapeError(TermgraphError, ValueError):
    """Shapes known before running contradict each other."""

    def __init__(self, what: str, shapes: Sequence[object], expected: str) -> None:
        listed = ", ".join(str(s) for s in shapes)
        super().__init__(f"{what}: expected {expected}, but the static shapes are {listed}.")


class InputValueError(TermgraphError, TypeError):
    """A compiled function was called with a value its input's type refuses."""

    def __init__(self, function: object, position: int, variable: object, expected: object, got: str,
                 hint: str, where: str | None = None) -> None:
        super().__init__(
            f"bad value for input {position} ({variable}) of {function}: expected {expected}, got {got}."
            f"{_built(where)}\n  {hint}"
        )


class InconsistentGraphError(TermgraphError, ValueError):
    """A change would have left a graph wrong; the graph is as it was before."""


class DisconnectedInputError(TermgraphError, ValueError):
    """`grad` was asked for a derivative with respect to something the cost does not depend on."""

    def __init__(self, variable: object, cost: object, where: str | None = None) -> None:
        super().__init__(
            f"the cost {cost} does not depend on {variable} (or only through shapes and indices)."
            f"{_built(where)}\n  Pass disconnected_inputs='ignore' to get zeros instead."
        )


class NullTypeGradError(TermgraphError, TypeError):
    """A derivative passes through something that has none."""

    def __init__(self, variable: object, why: str, where: str | None = None) -> None:
        super().__init__(f"the gradient with respect to {variable} is undefined: {why}.{_built(where)}")


class GradientCheckError(TermgraphError, AssertionError):
    """`verify_grad` found that a derivative disagrees with finite differences."""

    def __init__(self, what: str, index: int, entry: object, expected: float, got: float, tolerance: float) -> None:
        self.index, self.entry, self.expected, self.got = index, entry, expected, got
        super().__init__(
            f"{what} of input {index} is wrong at entry {entry}: expected {expected!r} by finite differences, "
            f"got {got!r} (tolerance {tolerance:g})."
        )


class RuleError(TermgraphError):
    """A rule cannot be used. The message starts with the rule's name and its file and line."""

    def __init__(self, rule: str, where: str, problem: str) -> None:
        self.rule, self.where, self.problem = rule, where, problem
        super().__init__(f"rule {rule} ({where}): {problem}")


class UnboundVariableError(RuleError):
    """The right side of a rule uses a variable that nothing binds."""

    def __init__(self, rule: str, where: str, variables: Sequence[object], before: object, after: object) -> None:
        names = ", ".join(str(v) for v in variables)
        super().__init__(
            rule, where,
            f"the right side {after} uses {names}, which neither the left side {before} nor a goal binds.",
        )


class BareLeftSideError(RuleError):
    """The left side of a rule would match every variable of every graph."""

    def __init__(self, rule: str, where: str, before: object) -> None:
        super().__init__(rule, where, f"the left side {before} matches anything; a left side must have an operator.")


class DuplicateClauseError(RuleError):
    """Two clauses of a rule say the same, or one can never fire because an earlier one covers it."""

    def __init__(self, rule: str, where: str, clause: object, covered_by: object) -> None:
        super().__init__(rule, where, f"the clause {clause} can never fire: {covered_by} comes first and covers it.")


class TypeChangeError(RuleError):
    """A rule's right side has another type than its left side, whatever the types of its variables."""

    def __init__(self, rule: str, where: str, before: object, after: object,
                 before_type: object, after_type: object) -> None:
        super().__init__(
            rule, where,
            f"it changes the type: {before} has type {before_type} but {after} has type {after_type}. "
            "A rewrite must keep dtype, ndim and static shape.",
        )


class RewriteLoopError(RuleError):
    """The rules undo each other: a term came back at the place where it had been before."""

    def __init__(self, cycle: Sequence[tuple[str, str, str]], term: str) -> None:
        self.cycle, self.term = list(cycle), term
        first = cycle[0]
        lines = "\n".join(f"    {rule} ({where}) made {term}" for rule, where, term in cycle)
        super().__init__(first[0], first[1], f"the rules loop; the term that came back is {term}\n{lines}")


class RewriteGrowthError(RuleError):
    """Rewriting did not end within its bound."""

    def __init__(self, rule: str, where: str, term: str, fires: int, bound: int) -> None:
        super().__init__(
            rule, where,
            f"rewriting does not seem to end: {fires} fires (the bound is {bound}), the last one made {term}.",
        )


class RuleExecutionError(RuleError):
    """A goal, computation or constructor of a rule raised."""

    def __init__(self, rule: str, where: str, term: str, built: str | None, error: BaseException) -> None:
        super().__init__(
            rule, where,
            f"{type(error).__name__} while rewriting {term}: {error}{_built(built)}",
        )


class UnusedInputError(TermgraphError, ValueError):
    """`function` was given an input that no output or update depends on."""

    def __init__(self, variable: object, position: int, where: str | None = None) -> None:
        self.variable = variable
        super().__init__(
            f"input {position} ({variable}) is not used by any output or update.{_built(where)}\n"
            "  Remove it from the inputs, or pass on_unused_input='warn' or 'ignore' to function()."
        )


class UpdateError(TermgraphError, TypeError):
    """An update of a shared variable cannot be made."""

    def __init__(self, variable: object, problem: str, hint: str, where: str | None = None) -> None:
        self.variable = variable
        super().__init__(f"cannot update {variable}: {problem}.{_built(where)}\n  {hint}")


class CallArgumentError(TermgraphError, TypeError):
    """A compiled function was called with too many or too few arguments, or with a keyword it does not know."""

    def __init__(self, function: object, problem: str, signature: str) -> None:
        super().__init__(f"{function}: {problem}.\n  It takes ({signature}).")
