"""Goals that wait until what they ask about is known."""

import pytest
from kanren import conde, eq, lall, run
from kanren.constraints import ConstrainedState

import termgraph.tensor as tt
from termgraph.rewrite.delay import Delayed, Waiting, delayed, in_graph, variables_of, waiting_goals, wake, with_goals
from termgraph.rewrite.goals import apply, choose, compute, in_context, where
from termgraph.terms import OpTerm, var, vars  # noqa: A004


def even(n):
    return n % 2 == 0


def double(n):
    return 2 * n


def states(goal):
    return list(goal({}))


def test_a_test_of_known_arguments_is_decided_at_once():
    asked = []

    def noted(n):
        asked.append(n)
        return n > 1

    assert states(where(noted, 2)) == [{}]
    assert states(where(noted, 1)) == []
    assert asked == [2, 1]


@pytest.mark.parametrize("order", [1, -1])
def test_a_test_waits_for_its_argument_whatever_the_order(order):
    x = var("x")
    for n, answers in ((4, (4,)), (3, ())):
        assert run(0, x, lall(*[where(even, x), eq(x, n)][::order])) == answers


def test_what_waits_is_left_in_the_state():
    x, y = vars("x y")
    (state,) = states(lall(where(even, x), compute(y, double, x)))
    assert [str(g) for g in waiting_goals(state)] == ["even(~x)", "~y = double(~x)"]


def test_branches_do_not_disturb_each_other():
    x, y = vars("x y")
    answers = run(0, (x, y), where(even, x), conde([eq(x, 1), eq(y, "odd")], [eq(x, 2), eq(y, "even")], [eq(y, "open")]))
    assert (2, "even") in answers and (1, "odd") not in answers and any(y == "open" for _, y in answers)
    (odd, other) = states(lall(where(even, x), conde([eq(y, 1)], [eq(y, 2)], [eq(x, 3)])))
    assert len(waiting_goals(odd)) == len(waiting_goals(other)) == 1


def test_copies_of_a_store_are_independent():
    first = Delayed("even", even, (var(),))
    store = Waiting(goals=(first,))
    copy = store.copy()
    copy.goals = ()
    assert store.goals == (first,) and copy.goals == () and store != copy
    assert Waiting(None).goals == ()


def test_with_goals_does_not_change_the_state_given():
    state = with_goals({}, (Delayed("even", even, (var(),)),))
    assert isinstance(state, ConstrainedState)
    assert waiting_goals(with_goals(state, ())) == () and len(waiting_goals(state)) == 1


@pytest.mark.parametrize("order", [1, -1])
def test_computations_wake_each_other(order):
    x, y, z = vars("x y z")
    chain = [compute(y, double, x), compute(z, double, y), eq(x, 5)][::order]
    assert run(0, z, lall(*chain, wake)) == (20,)


def test_a_computation_fails_where_it_gives_none_or_another_value():
    x = var("x")
    assert run(0, x, lall(compute(x, lambda n: None, 1, name="nothing"), wake)) == ()
    assert run(0, x, lall(compute(x, double, 1), eq(x, 3), wake)) == ()
    assert run(0, x, lall(eq(x, 2), compute(x, double, 1), wake)) == (2,)


def test_choices_come_in_their_order():
    x, n, a, b = vars("x n a b")
    assert run(0, x, lall(choose(x, range, n), eq(n, 3), wake)) == (0, 1, 2)
    pairs = lambda n: [(n, n + 1), (n, n + 2)]  # noqa: E731
    assert run(0, (a, b), lall(choose((a, b), pairs, 7), wake)) == ((7, 8), (7, 9))
    assert run(0, x, lall(choose(x, lambda: (), name="none"), wake)) == ()


def test_wake_leaves_what_cannot_be_known():
    x, y = vars("x y")
    (state,) = states(lall(compute(y, double, x), wake))
    assert len(waiting_goals(state)) == 1


def test_a_contextual_goal_waits_for_a_graph():
    ask = in_context(lambda graph, n: graph == n, 3, name="is_graph")
    (state,) = states(lall(ask, wake))
    assert [str(g) for g in waiting_goals(state)] == ["is_graph(3)"]
    with in_graph(3):
        assert len(states(lall(ask, wake))) == 1
    with in_graph(4):
        assert states(ask) == []
        with in_graph(3):
            assert len(states(ask)) == 1
        assert states(ask) == []
    assert len(states(ask)) == 1


def test_arguments_that_are_patterns_are_built_when_they_are_known():
    x, seen = var("x"), []
    v = tt.vector("v")
    goal = lall(where(lambda t: seen.append(t) or True, tt.exp(x), name="see"), eq(x, v))
    assert len(states(goal)) == 1
    (term,) = seen
    assert term.owner.op == tt.exp and term.owner.inputs == [v]


def test_variables_of_a_term_in_order():
    x, y, f, a, xs = vars("x y f a xs")
    assert variables_of(tt.exp(x) + y * x) == [x, y]
    assert variables_of(apply(f, xs)) == [f, xs]
    assert variables_of((OpTerm(tt.Sum, axis=a)(x), 3, tt.vector("v"))) == [a, x]


def test_substitution_puts_in_what_is_known():
    x, y = vars("x y")
    goal = Delayed("double", double, (x,), outs=y).substituted({x: 3})
    assert goal.args == (3,) and goal.outs is y and str(goal) == "~y = double(3)"
    assert len(states(delayed(Delayed("even", even, (x,)).substituted({x: 4})))) == 1
