"""A rewriter written by hand for exactly the rules in `algebra`: what rewriting costs in plain Python.

For each operation one function tries its rules in order and otherwise makes the node, once: `normal` holds the normal form
of everything made so far. It knows no types, keeps no record of what it did, and a new rule means editing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from algebra import folded

LEAF, NUMBER = "leaf", "number"
NEG, EXP, LOG, SQRT, ABS = "neg", "exp", "log", "sqrt", "abs"
ADD, SUB, MUL, DIV, POW = "add", "sub", "mul", "div", "pow"


class Node:
    """An operation on one or two nodes, a leaf or a number; `value` is the number, None for all others."""

    __slots__ = ("a", "b", "op", "value")

    def __init__(self, op: str, a: Any = None, b: Any = None, value: Any = None) -> None:
        self.op, self.a, self.b, self.value = op, a, b, value


def rewriter() -> Callable[[Sequence[Node]], list[Node]]:
    """A function that gives the normal forms of nodes."""
    numbers: dict[float, Node] = {}
    normals: dict[str, dict[Any, Node]] = {op: {} for op in (NEG, EXP, LOG, SQRT, ABS, ADD, SUB, MUL, DIV, POW)}
    negs, exps, logs, sqrts, abses, adds, subs, muls, divs, pows = normals.values()

    def number(value: float) -> Node:
        found = numbers.get(value)
        if found is None:
            found = numbers[value] = Node(NUMBER, value=value)
        return found

    zero, one, two = number(0.0), number(1.0), number(2.0)

    def neg(x: Node) -> Node:
        found = negs.get(x)
        if found is None:
            op = x.op
            if op is NUMBER:
                found = number(folded(NEG, x.value))
            elif op is NEG:
                found = x.a
            else:
                found = Node(NEG, x)
            negs[x] = found
        return found

    def exp(x: Node) -> Node:
        found = exps.get(x)
        if found is None:
            if x.op is NUMBER:
                found = number(folded(EXP, x.value))
            elif x.op is LOG:
                found = x.a
            else:
                found = Node(EXP, x)
            exps[x] = found
        return found

    def log(x: Node) -> Node:
        found = logs.get(x)
        if found is None:
            if x.op is NUMBER:
                found = number(folded(LOG, x.value))
            elif x.op is EXP:
                found = x.a
            else:
                found = Node(LOG, x)
            logs[x] = found
        return found

    def sqrt(x: Node) -> Node:
        found = sqrts.get(x)
        if found is None:
            if x.op is NUMBER:
                found = number(folded(SQRT, x.value))
            elif x.op is MUL and x.a is x.b:
                found = abs_(x.a)
            else:
                found = Node(SQRT, x)
            sqrts[x] = found
        return found

    def abs_(x: Node) -> Node:
        found = abses.get(x)
        if found is None:
            op = x.op
            if op is NUMBER:
                found = number(folded(ABS, x.value))
            elif op is ABS or op is EXP:
                found = x
            elif op is NEG:
                found = abs_(x.a)
            else:
                found = Node(ABS, x)
            abses[x] = found
        return found

    def add(x: Node, y: Node) -> Node:
        found = adds.get((x, y))
        if found is None:
            found = adds[x, y] = added(x, y)
        return found

    def added(x: Node, y: Node) -> Node:
        p, q = x.op, y.op
        if p is NUMBER or q is NUMBER:
            if p is q:
                return number(folded(ADD, x.value, y.value))
            if y.value == 0:
                return x
            if x.value == 0:
                return y
        if x is y:
            return mul(x, two)
        if p is SUB and x.b is y:
            return x.a  # type: ignore[no-any-return]
        if q is SUB and y.b is x:
            return y.a  # type: ignore[no-any-return]
        if q is NEG:
            return sub(x, y.a)
        if p is NEG:
            return sub(y, x.a)
        if p is q:
            if p is LOG:
                return log(mul(x.a, y.a))
            if p is MUL:
                a, b, c, d = x.a, x.b, y.a, y.b
                if a is c:
                    return mul(a, add(b, d))
                if a is d:
                    return mul(a, add(b, c))
                if b is c:
                    return mul(b, add(d, a))
                if b is d:
                    return mul(b, add(a, c))
        return Node(ADD, x, y)

    def sub(x: Node, y: Node) -> Node:
        found = subs.get((x, y))
        if found is None:
            found = subs[x, y] = subtracted(x, y)
        return found

    def subtracted(x: Node, y: Node) -> Node:
        p, q = x.op, y.op
        if p is NUMBER or q is NUMBER:
            if p is q:
                return number(folded(SUB, x.value, y.value))
            if y.value == 0:
                return x
            if x.value == 0:
                return neg(y)
        if x is y:
            return zero
        if p is ADD:
            if x.b is y:
                return x.a  # type: ignore[no-any-return]
            if x.a is y:
                return x.b  # type: ignore[no-any-return]
        if q is NEG:
            return add(x, y.a)
        if p is MUL and q is MUL:
            a, b, c, d = x.a, x.b, y.a, y.b
            if a is c:
                return mul(a, sub(b, d))
            if a is d:
                return mul(a, sub(b, c))
            if b is c:
                return mul(b, sub(a, d))
            if b is d:
                return mul(b, sub(a, c))
        return Node(SUB, x, y)

    def mul(x: Node, y: Node) -> Node:
        found = muls.get((x, y))
        if found is None:
            found = muls[x, y] = multiplied(x, y)
        return found

    def multiplied(x: Node, y: Node) -> Node:
        p, q = x.op, y.op
        if p is NUMBER or q is NUMBER:
            if p is q:
                return number(folded(MUL, x.value, y.value))
            other, value = (x, y.value) if q is NUMBER else (y, x.value)
            if value == 1:
                return other
            if value == 0:
                return zero
            if value == -1:
                return neg(other)
        if p is DIV and x.b is y:
            return x.a  # type: ignore[no-any-return]
        if q is DIV and y.b is x:
            return y.a  # type: ignore[no-any-return]
        if p is q:
            if p is NEG:
                return mul(x.a, y.a)
            if p is SQRT and x is y:
                return x.a  # type: ignore[no-any-return]
            if p is EXP:
                return exp(add(x.a, y.a))
        return Node(MUL, x, y)

    def div(x: Node, y: Node) -> Node:
        found = divs.get((x, y))
        if found is None:
            found = divs[x, y] = divided(x, y)
        return found

    def divided(x: Node, y: Node) -> Node:
        p, q = x.op, y.op
        if p is NUMBER or q is NUMBER:
            if p is q:
                return number(folded(DIV, x.value, y.value))
            if y.value == 1:
                return x
            if y.value == -1:
                return neg(x)
            if x.value == 0:
                return zero
        if x is y:
            return one
        if p is MUL:
            if x.b is y:
                return x.a  # type: ignore[no-any-return]
            if x.a is y:
                return x.b  # type: ignore[no-any-return]
        if p is NEG and q is NEG:
            return div(x.a, y.a)
        return Node(DIV, x, y)

    def power(x: Node, y: Node) -> Node:
        found = pows.get((x, y))
        if found is None:
            value = y.value
            if value is None:
                found = Node(POW, x, y)
            elif x.op is NUMBER:
                found = number(folded(POW, x.value, value))
            elif value == 0:
                found = one
            elif value == 1:
                found = x
            elif value == 2:
                found = mul(x, x)
            else:
                found = Node(POW, x, y)
            pows[x, y] = found
        return found

    unary = {NEG: neg, EXP: exp, LOG: log, SQRT: sqrt, ABS: abs_}
    binary = {ADD: add, SUB: sub, MUL: mul, DIV: div, POW: power}

    def rewrite(roots: Sequence[Node]) -> list[Node]:
        normal: dict[Node, Node] = {}
        for root in roots:
            stack = [root]
            while stack:
                node = stack[-1]
                a, b = node.a, node.b
                if a is None:
                    normal[node] = node if node.value is None else number(node.value)
                elif a not in normal:
                    stack.append(a)
                    continue
                elif b is None:
                    normal[node] = unary[node.op](normal[a])
                elif b not in normal:
                    stack.append(b)
                    continue
                else:
                    normal[node] = binary[node.op](normal[a], normal[b])
                stack.pop()
        return [normal[root] for root in roots]
    return rewrite
