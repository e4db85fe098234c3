"""Ops whose effects a test can see, written the tutorial way, and random graphs."""

import numpy as np

import termgraph.tensor as tt
from termgraph.graph import Apply, Op
from termgraph.graph.fgraph import FunctionGraph


class Overwrite(Op):
    """x + 1, written over x."""

    __props__ = ()
    destroy_map = {0: [0]}  # noqa: RUF012

    def make_node(self, x, *others):
        return Apply(self, [x, *others], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0][...] += 1
        output_storage[0][0] = inputs[0]


class View(Op):
    """x, by another variable."""

    __props__ = ()
    view_map = {0: [0]}  # noqa: RUF012

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0][...]


class Spy(Op):
    """x * 2; each run appends what `look` returns to `seen`, and raises where `error` is set."""

    __props__ = ("name",)

    def __init__(self, name="spy", look=None):
        self.name, self.seen, self.error, self.look = name, [], None, look or (lambda: None)

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def make_node(self, x):
        x = tt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def do_constant_folding(self, fgraph, node):
        return False

    def perform(self, node, inputs, output_storage):
        self.seen.append(self.look())
        if self.error is not None:
            raise self.error
        output_storage[0][0] = np.asarray(inputs[0] * 2)


overwrite, view = Overwrite(), View()


def random_graph(rng, leaves, size):
    """Variables of rank 1 or 2 built from `leaves` by elementwise functions, transposes, broadcasts and slices, where all
    lengths are 4; also some that are views of leaves."""
    pool = list(leaves)
    for _ in range(size):
        x = pool[rng.integers(len(pool))]
        y = pool[rng.integers(len(pool))]
        kind = rng.integers(6)
        if kind == 0:
            pool.append(tt.tanh(x))
        elif kind == 1:
            pool.append(x + y)
        elif kind == 2:
            pool.append(tt.maximum(x, y))
        elif kind == 3:
            pool.append(x.T if x.ndim == 2 else x.dimshuffle(0))
        elif kind == 4:
            pool.append(x[::-1])
        else:
            pool.append(x.dimshuffle("x", 0)[0] if x.ndim == 1 else x[0])
    return pool


def fgraph_of(inputs, outputs):
    return FunctionGraph(inputs, outputs, clone=False)
