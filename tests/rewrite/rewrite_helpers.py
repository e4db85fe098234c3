"""What the tests of the engine share: random graphs, values for them, and running a graph that overwrites memory."""

import numpy as np
from kanren import run

import termgraph as tg
import termgraph.tensor as tt
from termgraph.graph import Constant, FunctionGraph, evaluate
from termgraph.graph.aliasing import destroy_order
from termgraph.graph.evaluate import perform
from termgraph.rewrite import RuleSet, equilibrate, normalize
from termgraph.terms import build, var

UNARY = [tt.neg, tt.sqr, tt.sqrt, tt.exp, tt.log, tt.log1p, tt.expm1, tt.sigmoid, tt.abs, tt.reciprocal]
BINARY = [tt.add, tt.sub, tt.mul, tt.true_div, tt.maximum, tt.minimum]
VIEWS = [lambda u: u.T, lambda u: u[::-1], lambda u: u[::-1, ::-1].T, lambda u: tt.sin(u.T)]


def random_graph(seed, size=30, nout=3):
    """(inputs, outputs): `size` operations over two vectors, a scalar and the numbers that rules look for. No operation
    has constants only: what it folds to, NaN say, may depend on what was rewritten first."""
    rng = np.random.default_rng(seed)
    inputs = [tt.dvector("a"), tt.dvector("b"), tt.dscalar("c")]
    numbers = [tt.constant(n) for n in (1.0, 2.0, 0.0, -1.0)]
    pool = list(inputs)
    for _ in range(size):
        recent = pool[int(len(pool) * rng.random() ** 0.5)]
        if rng.random() < 0.4:
            pool.append(UNARY[rng.integers(len(UNARY))](recent))
            continue
        other = numbers[rng.integers(4)] if rng.random() < 0.3 else pool[int(len(pool) * rng.random() ** 0.5)]
        arguments = [recent, other] if rng.random() < 0.5 else [other, recent]
        pool.append(BINARY[rng.integers(len(BINARY))](*arguments))
    return inputs, pool[-nout:]


def random_matrix_graph(seed, size=14):
    """(inputs, two outputs): elementwise operations and views (transposes, reversals) of square matrices and a row."""
    rng = np.random.default_rng(seed)
    inputs = [tt.dmatrix("a"), tt.dmatrix("b"), tt.drow("r")]
    pool = list(inputs)
    for _ in range(size):
        u = pool[int(len(pool) * rng.random() ** 0.6)]
        kind = rng.integers(10)
        if kind < 4 and not any(u.type.broadcastable):
            pool.append(VIEWS[kind](u))
        elif kind < 7:
            pool.append([tt.sin, tt.neg, tt.tanh][kind % 3](u))
        else:
            pool.append([tt.add, tt.sub, tt.maximum][kind % 3](u, pool[int(len(pool) * rng.random() ** 0.6)]))
    return inputs, [pool[-1], pool[int(len(pool) * rng.random() ** 0.5)]]


def values_for(inputs, seed=0, length=3):
    """{input: value} between 0.3 and 0.9, a length that is not static being `length`."""
    rng = np.random.default_rng(seed)
    return {i: np.asarray(rng.uniform(0.3, 0.9, [length if s is None else s for s in i.type.shape]), dtype=i.type.dtype)
            for i in inputs}


def assert_same_values(before, after, values, after_values=None):
    """The two lists of variables have the same values, up to rounding, wherever those of the first are finite."""
    with np.errstate(all="ignore"):
        old = evaluate(before, values)
        new = evaluate(after, values if after_values is None else after_values)
    for a, b in zip(old, new, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        if np.isfinite(a).all():
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def as_rules(rules):
    return rules if isinstance(rules, RuleSet) else RuleSet(rules if isinstance(rules, (list, tuple)) else [rules])


def normalized(outputs, rules):
    """(outputs, report) of the bottom-up driver, for one variable or a list."""
    single = not isinstance(outputs, (list, tuple))
    results, report = normalize([outputs] if single else outputs, as_rules(rules))
    return (results[0] if single else results), report


def equilibrated(outputs, rules, protected=()):
    """(outputs, report) of the worklist driver over the same inputs, for one variable or a list; the graph is checked."""
    single = not isinstance(outputs, (list, tuple))
    fgraph = graph_of([outputs] if single else outputs)
    report = equilibrate(fgraph, as_rules(rules), protected=protected)
    fgraph.check_integrity()
    return (fgraph.outputs[0] if single else list(fgraph.outputs)), report


def graph_of(outputs):
    """A FunctionGraph over the inputs of `outputs`, its nodes its own."""
    inputs = [v for v in tg.graph.graph_inputs(list(outputs)) if not isinstance(v, Constant)]
    _, copies = tg.graph.clone(inputs, list(outputs), copy_inputs=False)
    return FunctionGraph(inputs, copies, clone=False)


DRIVERS = {"normalize": normalized, "equilibrate": equilibrated}


def run_overwriting(fgraph, values):
    """The outputs of a graph whose nodes may overwrite memory, in an order that permits it."""
    store = {i: values[i].copy() for i in fgraph.inputs}
    for node in destroy_order(fgraph):
        results = perform(node, [i.data if isinstance(i, Constant) else store[i] for i in node.inputs])
        store.update(zip(node.outputs, results, strict=True))
    return [store[o] for o in fgraph.outputs]


def texts(variables):
    """How variables print, in order."""
    return [tg.pprint(v) for v in variables]


def relational(rule, term):
    """What kanren finds for `after` in `rule(term, after)`, built."""
    after = var("after")
    return [build(answer) for answer in run(0, after, rule(term, after))]


def found(rule, term):
    """What the generated code finds for `term`, printed and sorted; it must be what kanren finds."""
    staged = sorted(set(texts(rule.rewrites(term))))
    assert staged == sorted(set(texts(relational(rule, term))) - {tg.pprint(term)})
    return staged
