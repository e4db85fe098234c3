"""Random terms for testing rules: instances of a rule's own skeletons, near misses of them, and values to run them on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as scipy_sparse
from unification import Var

from termgraph.graph.op import Op
from termgraph.graph.type import Type, sample_types
from termgraph.graph.variable import Constant, Variable
from termgraph.rewrite.delay import variables_of
from termgraph.rewrite.nodes import NodeTable
from termgraph.rewrite.skeleton import Skeleton, is_node, split_pattern
from termgraph.sparse import SparseTensorType
from termgraph.tensor import DimShuffle, Elemwise, LogSoftmax, LogSumExp, Softmax, Sum, TensorType, constant
from termgraph.tensor.elementwise import rows
from termgraph.terms.term import OpTerm

#: What the parameters of Ops are drawn from when a pattern leaves them open.
PARAMETERS: dict[tuple[type, str], list[Any]] = {
    (Sum, "axis"): [None, (0,), (1,), (0, 1)],
    (LogSumExp, "axis"): [None, (0,), (1,)],
    (Softmax, "axis"): [None, 0, 1],
    (LogSoftmax, "axis"): [None, 0, 1],
    (DimShuffle, "input_ndim"): [0, 1, 2],
    (DimShuffle, "new_order"): [("x",), (0, "x"), ("x", 0), (0,), ("x", "x"), (1, 0)],
}
NUMBERS = [0.0, 1.0, 2.0, -1.0, 0.5, 3.0]
#: What an Op may raise on arguments that do not fit it: the generator then tries others.
MISFIT = (TypeError, ValueError, IndexError, AttributeError, NotImplementedError)


def leaf_types() -> list[Type]:
    """The types leaves are drawn from: the samples of every class of Types, and broadcasting ones."""
    return [*sample_types(), TensorType("float64", (None, 1)), TensorType("float64", (3,)), TensorType("float32", (None, None))]


class Generator:
    """Draws terms with one random generator; equal seeds draw equal terms. All terms are interned in `table`."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.table = NodeTable()
        self.types = leaf_types()
        self._leaves: dict[tuple[Type, int], Variable] = {}
        self._names = itertools.count()
        self.ops = [Elemwise(r) for r in rows()]

    def pick(self, items: Sequence[Any]) -> Any:
        """One of `items`."""
        return items[int(self.rng.integers(len(items)))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < probability)

    # --- leaves -------------------------------------------------------------------------------------------------------

    def leaf(self, kind: Type) -> Variable:
        """One of three variables of a type."""
        key = (kind, int(self.rng.integers(3)))
        if key not in self._leaves:
            self._leaves[key] = kind(f"v{next(self._names)}")
        return self._leaves[key]

    def argument(self, kind: Type, prefer_constant: bool = False) -> Any:
        """A leaf, a constant or a small term."""
        if isinstance(kind, TensorType) and self.chance(0.75 if prefer_constant else 0.2):
            number = self.pick([n for n in NUMBERS if n > 0] if prefer_constant and self.chance(0.7) else NUMBERS)
            dtype = kind.dtype if kind.dtype != "bool" else "float64"
            return self.table.leaf(constant(number, dtype=dtype))
        variable = self.leaf(kind)
        if isinstance(kind, TensorType) and kind.dtype.startswith("float") and self.chance(0.3):
            op = self.pick([o for o in self.ops if o.scalar_op.nin == 1])
            return self.table.make(op, [variable])
        if isinstance(kind, TensorType) and self.chance(0.25):
            op = self.pick([o for o in self.ops if o.name in ("add", "mul")])
            return self.table.make(op, [self.argument(kind), self.leaf(kind)])
        return variable

    # --- instances ----------------------------------------------------------------------------------------------------

    def instance(self, skeleton: Skeleton, attempts: int = 60) -> Variable | None:
        """A term that the pattern of `skeleton` matches; None where no drawn arguments fit its operators."""
        asked = [g for g in skeleton.residue if g.name in ("constant", "positive", "nonzero")]
        wants_constant = {v for g in asked for v in variables_of(g.args)}
        for _ in range(attempts):
            kind = self.pick(self.types)
            kin = [t for t in self.types if t.ndim == kind.ndim and t.dtype == kind.dtype]  # type: ignore[attr-defined]
            bound: dict[Var, Any] = {}
            try:
                for variable in variables_of(skeleton.before):
                    own = kind if self.chance(0.6) else self.pick(kin) if self.chance(0.7) else self.pick(self.types)
                    bound[variable] = self.argument(own, variable in wants_constant)
                return self.made(skeleton.before, bound, kind)
            except MISFIT:
                continue
        return None

    def made(self, pattern: Any, bound: dict[Var, Any], kind: Type) -> Any:
        """The pattern with its variables as `bound`; open heads and parameters are drawn. Patterns are small: recursive."""
        if isinstance(pattern, Var):
            return bound[pattern]
        if not is_node(pattern):
            return pattern
        head, args, rest = split_pattern(pattern)
        inputs = [self.made(a, bound, kind) for a in args]
        if isinstance(head, Var):
            head = self.pick(self.ops)
            fold = self.chance(0.5)
            inputs += [self.argument(kind, fold) for _ in range(head.scalar_op.nin - len(inputs))]
        elif rest is not None:
            inputs += [self.argument(kind) for _ in range(int(self.rng.integers(3)))]
        if isinstance(head, OpTerm):
            head = self.op_of(head, bound)
        return self.table.make(head, inputs)

    def op_of(self, term: OpTerm, bound: dict[Var, Any]) -> Op:
        """An Op that an OpTerm stands for; a parameter used twice is the same in both places."""
        params = {}
        for name, value in term.params:
            if isinstance(value, Var):
                drawn = self.pick(PARAMETERS[term.op_class, name])
                if not isinstance(bound.get(value), _Parameter):
                    bound[value] = _Parameter(drawn)
                value = bound[value].value
            params[name] = value
        return term.op_class(**params)

    # --- near misses --------------------------------------------------------------------------------------------------

    def near_miss(self, term: Variable, attempts: int = 20) -> Variable | None:
        """`term` with one thing changed: an argument exchanged, an op replaced, arguments swapped, a number altered."""
        for _ in range(attempts):
            places = list(self.places(term))
            place = self.pick(places)
            try:
                changed = self.changed(term, place)
            except MISFIT:
                continue
            if changed is not term and changed.owner is not None:
                return changed
        return None

    def places(self, term: Variable, depth: int = 4) -> Iterator[tuple[int, ...]]:
        """The paths of subterms down to `depth`."""
        yield ()
        if term.owner is not None and depth:
            for i, argument in enumerate(term.owner.inputs):
                for path in self.places(argument, depth - 1):
                    yield (i, *path)

    def changed(self, term: Variable, path: tuple[int, ...]) -> Variable:
        """`term` with a random change at a path."""
        node = term.owner
        if path:
            inputs = list(node.inputs)  # type: ignore[union-attr]
            inputs[path[0]] = self.changed(inputs[path[0]], path[1:])
            return self.table.make(term.head, inputs)  # type: ignore[no-any-return]
        if node is None or self.chance(0.3):
            return self.argument(term.type)  # type: ignore[no-any-return]
        parameters = [name for name in node.op.__props__ if (type(node.op), name) in PARAMETERS]
        if parameters and self.chance(0.7):
            return self.table.make(self.with_another(node.op, self.pick(parameters)), node.inputs)  # type: ignore[no-any-return]
        if self.chance(0.5) and len(node.inputs) > 1:
            return self.table.make(term.head, list(reversed(node.inputs)))  # type: ignore[no-any-return]
        same = [o for o in self.ops if o.scalar_op.nin == len(node.inputs)]
        return self.table.make(self.pick(same), node.inputs) if same else term  # type: ignore[no-any-return]

    def with_another(self, op: Op, parameter: str) -> Op:
        """`op` with another value of a parameter, or the same by chance."""
        params = {name: getattr(op, name) for name in op.__props__}
        return type(op)(**{**params, parameter: self.pick(PARAMETERS[type(op), parameter])})

    def terms(self, skeletons: Sequence[Skeleton], count: int) -> list[Variable]:
        """`count` terms, of which about half are instances of the skeletons and half near misses."""
        found: list[Variable] = []
        for skeleton in itertools.islice(itertools.cycle(skeletons), 20 * count):
            term = self.instance(skeleton)
            if term is None or term.owner is None:
                continue
            found.append(term)
            miss = self.near_miss(term)
            if miss is not None:
                found.append(miss)
            if len(found) >= count:
                break
        return found[:count]

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, kind: Type, low: float = 0.3, high: float = 0.9, length: int = 3) -> Any:
        """A value of a type: numbers between `low` and `high`, away from zeros and poles, every free length `length`."""
        if isinstance(kind, SparseTensorType):
            dense = self.rng.uniform(low, high, (length, length)) * (self.rng.random((length, length)) < 0.6)
            make = scipy_sparse.csr_matrix if kind.format == "csr" else scipy_sparse.csc_matrix
            return kind.filter(make(dense.astype(kind.dtype)))
        if not isinstance(kind, TensorType):
            raise TypeError(f"no values are drawn for {kind}.")
        shape = tuple(length if s is None else s for s in kind.shape)
        if kind.dtype == "bool":
            return self.rng.random(shape) < 0.5
        if "int" in kind.dtype:
            return np.asarray(self.rng.integers(1, 4, shape), dtype=kind.dtype)
        return np.asarray(self.rng.uniform(low, high, shape), dtype=kind.dtype)

    def values(self, variables: Sequence[Variable], **limits: Any) -> dict[Variable, Any]:
        """Values for the inputs among `variables`."""
        return {v: self.value(v.type, **limits) for v in variables if not isinstance(v, Constant)}


class _Parameter:
    def __init__(self, value: Any) -> None:
        self.value = value
