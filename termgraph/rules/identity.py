"""Neutral and absorbing elements, inverses, and what cancels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from termgraph.rewrite.relation import relation
from termgraph.tensor import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    cos,
    cosh,
    deg2rad,
    exp,
    exp2,
    expm1,
    identity,
    invert,
    log,
    log1p,
    log2,
    rad2deg,
    reciprocal,
    sin,
    sinh,
    sqr,
    sqrt,
    tan,
    tanh,
)

Clauses = Iterator[tuple[Any, ...]]


@relation
def neutral(x: Any) -> Clauses:
    """x - 0 = x * 1 = x / 1 = x ** 1 = x

    Soundness: exact.
    """
    yield x - 0, x
    yield x * 1, x
    yield x / 1, x
    yield x ** 1, x
    yield identity(x), x


@relation
def add_zero(x: Any) -> Clauses:
    """x + 0 = x, but -0.0 + 0 is 0.0

    Soundness: real.
    """
    yield x + 0, x


@relation
def absorbing(x: Any) -> Clauses:
    """x * 0 = 0, 0 / x = 0, x ** 0 = 1

    Soundness: unsafe: x is NaN or infinite, or for 0 / x zero.
    """
    yield x * 0, 0
    yield 0 / x, 0
    yield x ** 0, 1


@relation
def subtract_from_zero(x: Any) -> Clauses:
    """0 - x = -x, and x * -1 = x / -1 = -x

    Soundness: real.
    """
    yield 0 - x, -x
    yield x * -1, -x
    yield x / -1, -x


@relation
def double_negation(x: Any) -> Clauses:
    """-(-x) = x, ~~x = x

    Soundness: exact.
    """
    yield -(-x), x
    yield invert(invert(x)), x


@relation
def negated_terms(x: Any, y: Any) -> Clauses:
    """x + -y = x - y, x - -y = x + y, -(x - y) = y - x, (-x) * (-y) = x * y, (-x) / (-y) = x / y

    Soundness: real.
    """
    yield x + -y, x - y
    yield x - -y, x + y
    yield -(x - y), y - x
    yield (-x) * (-y), x * y
    yield (-x) / (-y), x / y


@relation
def cancel_factor(x: Any, y: Any) -> Clauses:
    """(x * y) / y = x, (x / y) * y = x

    Soundness: unsafe: y is 0, infinite or NaN, or x * y overflows.
    """
    yield x * y / y, x
    yield x / y * y, x


@relation
def cancel_term(x: Any, y: Any) -> Clauses:
    """(x + y) - y = x, (x - y) + y = x, y - (x + y) = -x, x - (x - y) = y

    Soundness: unsafe: y is infinite or NaN, or much larger than x.
    """
    yield x + y - y, x
    yield x - y + y, x
    yield y - (x + y), -x
    yield x - (x - y), y


@relation
def cancel_self(x: Any) -> Clauses:
    """x - x = 0, x / x = 1, x^2 / x = x

    Soundness: unsafe: x is NaN or infinite, or zero for the quotients, or x^2 overflows.
    """
    yield x - x, 0
    yield x / x, 1
    yield sqr(x) / x, x


#: f(g(x)) = x for every real x
INVERSE_EVERYWHERE = [(log, exp), (log2, exp2), (log1p, expm1), (arcsinh, sinh), (sinh, arcsinh), (arctanh, tanh),
                      (rad2deg, deg2rad), (deg2rad, rad2deg)]
#: f(g(x)) = x where g(x) is defined
INVERSE_ON_DOMAIN = [(exp, log), (exp2, log2), (expm1, log1p), (sqr, sqrt), (tanh, arctanh), (cosh, arccosh), (sin, arcsin),
                     (cos, arccos), (tan, arctan), (reciprocal, reciprocal)]


@relation
def inverse(x: Any) -> Clauses:
    """f(g(x)) = x: log(exp(x)) = x and its kin

    Soundness: unsafe: g(x) overflows.
    """
    for f, g in INVERSE_EVERYWHERE:
        yield f(g(x)), x


@relation
def inverse_on_domain(x: Any) -> Clauses:
    """f(g(x)) = x: exp(log(x)) = x and its kin

    Soundness: unsafe: x is outside the domain of g, where g(x) is NaN.
    """
    for f, g in INVERSE_ON_DOMAIN:
        yield f(g(x)), x
