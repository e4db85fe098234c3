import numpy as np

import termgraph.tensor as tt
from termgraph.compile import In, Out, get_mode, shared
from termgraph.compile.pipeline import FunctionMaker, Ingredients, leaves_of, rewrite_graph_for
from termgraph.graph import evaluate, toposort


def test_rewriting_works_on_a_copy():
    x, s = tt.vector("x"), shared([1.0])
    y = tt.exp(x) * s
    [again], _ = rewrite_graph_for([x], [y], get_mode("NO_REWRITES"))
    assert again is not y
    assert again.owner.inputs[1] is s
    assert again.owner.inputs[0].owner is not y.owner.inputs[0].owner
    np.testing.assert_allclose(evaluate([again], {x: np.ones(1)})[0], [np.e])


def test_leaves_and_their_first_readers():
    x, y = tt.vectors("x", "y")
    z = tt.exp(x) + x
    leaves = leaves_of(toposort([z]), [z, y], [])
    assert leaves == {x: z.owner.inputs[0].owner, y: None}


def test_outputs_then_updates():
    x, n, s = tt.scalar("x"), tt.scalar("n"), shared(1.0)
    ingredients = Ingredients([In(x), In(n, value=0.0, update=n + 1)], [Out(x * n)], "single", [(s, s + x)],
                              get_mode("NO_REWRITES"))
    maker = FunctionMaker(ingredients)
    assert maker.fgraph.inputs == [x, n, s]
    assert maker.fgraph.update_mapping == {1: 2, 2: 1}
    assert len(maker.fgraph.outputs) == 3
    assert maker.make_vm().storage_map[s] is s.container.storage
