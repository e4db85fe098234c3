"""verify_grad: derivatives against central finite differences, computed by the plain interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from termgraph.errors import GradientCheckError, GraphTypeError
from termgraph.gradient.bridge import has_pushforward
from termgraph.gradient.modes import pullback, pushforward
from termgraph.gradient.reverse import active_nodes
from termgraph.graph.evaluate import evaluate
from termgraph.tensor.elementwise import cast
from termgraph.tensor.type import FLOATING, TensorType
from termgraph.tensor.variable import constant

#: The precision of the least precise dtype in the graph -> (absolute, relative) tolerance. A central difference with the
#: best step, the cube root of the precision, is right to its square; there are two digits to spare.
_TOLERANCES = {"float16": (1e-1, 1e-1), "float32": (1e-2, 1e-2), "float64": (1e-6, 1e-6)}


def verify_grad(fun: Callable[..., Any], pt: Sequence[Any], n_tests: int = 2, rng: np.random.Generator | None = None,
                eps: float | None = None, out_type: str | None = None, abs_tol: float | None = None,
                rel_tol: float | None = None, mode: object = None, no_debug_ref: bool = True) -> None:
    """Check both derivative modes of `fun` at the float arrays `pt`, with `n_tests` random projections of its output.

    `fun` takes one variable for each array and returns a variable or a list. Reverse mode is checked in each entry of each
    input; forward mode in a random direction of each input, if every Op on the way defines it. `eps` is the step of the
    differences; by default it and the tolerances follow from the least precise dtype. `out_type` converts the output
    first. `mode` and `no_debug_ref` are accepted and make no difference: nothing is compiled here.

    Raises GradientCheckError that names the input, the entry, and what was expected and what came; GraphTypeError for
    points that are not floats.

    >>> import termgraph.tensor as tt
    >>> verify_grad(tt.tanh, [np.array([0.3, -0.5])])
    """
    rng = np.random.default_rng(0) if rng is None else rng
    points = [np.array(p) for p in pt]
    for index, point in enumerate(points):
        if str(point.dtype) not in FLOATING:
            raise GraphTypeError(f"verify_grad() needs points of float dtype, got {point.dtype} for input {index}.")
    inputs = [TensorType(p.dtype, tuple(1 if n == 1 else None for n in p.shape))(f"input {i}") for i, p in enumerate(points)]
    made = fun(*inputs)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    if out_type is not None:
        outputs = [cast(o, out_type) for o in outputs]
    check = _Check(inputs, points, outputs, rng, eps, abs_tol, rel_tol)
    for _ in range(n_tests):
        check.reverse()
        check.forward()


class _Check:
    def __init__(self, inputs: list[Any], points: list[Any], outputs: list[Any], rng: np.random.Generator, eps: float | None,
                 abs_tol: float | None, rel_tol: float | None) -> None:
        self.inputs, self.points, self.outputs, self.rng = inputs, points, outputs, rng
        worst = min((v.type.dtype for v in (*inputs, *outputs) if v.type.dtype in FLOATING), key=lambda d: np.finfo(d).bits)
        self.step = float(np.finfo(worst).eps) ** (1 / 3) if eps is None else eps
        absolute, relative = _TOLERANCES[worst]
        self.abs_tol = absolute if abs_tol is None else abs_tol
        self.rel_tol = relative if rel_tol is None else rel_tol
        self.values = self._at(points)

    def _at(self, points: Sequence[Any]) -> list[Any]:
        return [v.astype("float64") for v in self._evaluate(self.outputs, points)]

    def _evaluate(self, outputs: Sequence[Any], points: Sequence[Any]) -> list[Any]:
        # Each evaluation has copies: an Op under test might overwrite what it is given.
        return evaluate(outputs, {v: p.copy() for v, p in zip(self.inputs, points, strict=True)})

    def _difference(self, index: int, direction: Any) -> list[Any]:
        """The derivative of each output along `direction` of input `index`."""
        point = self.points[index]
        ends = [(point + sign * self.step * direction).astype(point.dtype) for sign in (1, -1)]
        above, below = (self._at([*self.points[:index], end, *self.points[index + 1:]]) for end in ends)
        return [(a - b) / (2 * self.step) for a, b in zip(above, below, strict=True)]

    def reverse(self) -> None:
        """J^T w of a random w, entry by entry."""
        weights = [np.asarray(self.rng.uniform(0.5, 1.5, v.shape) * self.rng.choice([-1, 1], v.shape)) for v in self.values]
        cotangents = [constant(w.astype(o.type.dtype)) if o.type.dtype in FLOATING else None
                      for o, w in zip(self.outputs, weights, strict=True)]
        gradients = pullback(self.outputs, self.inputs, cotangents, disconnected_inputs="ignore")
        for index, got in enumerate(self._evaluate(gradients, self.points)):
            point = self.points[index]
            if got.shape != point.shape:
                raise GraphTypeError(f"the pullback of input {index} has shape {got.shape}, expected {point.shape}.")
            for entry in np.ndindex(point.shape):
                direction = np.zeros(point.shape)
                direction[entry] = 1
                moved = self._difference(index, direction)
                expected = sum(float((w * m).sum()) for w, m in zip(weights, moved, strict=True))
                self._compare("the pullback", index, entry, expected, float(got[entry]))

    def forward(self) -> None:
        """J v of a random v in one input after the other; the entry named is that of the output."""
        active, _ = active_nodes(self.outputs, self.inputs)
        if not all(has_pushforward(node.op) for node, _ in active):
            return
        for index, point in enumerate(self.points):
            direction = np.asarray(self.rng.uniform(-1, 1, point.shape))
            tangents = [constant(direction.astype(point.dtype)) if i == index else None for i in range(len(self.points))]
            pushed = pushforward(self.outputs, self.inputs, tangents, disconnected_outputs="ignore")
            expected = self._difference(index, direction)
            for got, wanted in zip(self._evaluate(pushed, self.points), expected, strict=True):
                if got.shape != wanted.shape:
                    raise GraphTypeError(f"the pushforward of input {index} has shape {got.shape}, expected {wanted.shape}.")
                for entry in np.ndindex(wanted.shape):
                    self._compare("the pushforward", index, entry, float(wanted[entry]), float(got[entry]))

    def _compare(self, what: str, index: int, entry: Any, expected: float, got: float) -> None:
        tolerance = self.abs_tol + self.rel_tol * max(abs(expected), abs(got))
        if not abs(expected - got) <= tolerance:
            raise GradientCheckError(what, index, entry, expected, got, tolerance)
