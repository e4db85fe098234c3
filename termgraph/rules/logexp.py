"""Logarithms and exponentials as softmax and logistic losses need them: without overflow, without loss of digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from termgraph.rewrite.goals import an, compute, positive
from termgraph.rewrite.relation import relation
from termgraph.tensor import (
    DimShuffle,
    LogSoftmax,
    LogSumExp,
    Softmax,
    Sum,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    logaddexp,
    reciprocal,
    sigmoid,
    softplus,
    sqr,
)

Clauses = Iterator[tuple[Any, ...]]


@relation
def log_of_power(x: Any, y: Any) -> Clauses:
    """log(x * exp(y)) = log(x) + y, log(x / exp(y)) = log(x) - y, log(x^2) = 2 log(x) for positive x; log(1 / x) = -log(x)

    Soundness: real.
    """
    yield log(x * exp(y)), log(x) + y, positive(x)
    yield log(x / exp(y)), log(x) - y, positive(x)
    yield log(reciprocal(x)), -log(x)
    yield log(sqr(x)), log(x) * 2, positive(x)


@relation
def small_arguments(x: Any) -> Clauses:
    """log(1 + x) = log1p(x), log(1 - x) = log1p(-x), exp(x) - 1 = expm1(x): no digits lost near x = 0

    Soundness: real.
    """
    yield log(1 + x), log1p(x)
    yield log(1 - x), log1p(-x)
    yield exp(x) - 1, expm1(x)
    yield 1 - exp(x), -expm1(x)


@relation
def logistic(x: Any) -> Clauses:
    """1 / (1 + exp(-x)) = exp(x) / (1 + exp(x)) = sigmoid(x), 1 / (1 + exp(x)) = 1 - sigmoid(x) = sigmoid(-x)

    Soundness: real.
    """
    yield 1 / (1 + exp(-x)), sigmoid(x)
    yield reciprocal(1 + exp(-x)), sigmoid(x)
    yield exp(x) / (1 + exp(x)), sigmoid(x)
    yield reciprocal(1 + exp(x)), sigmoid(-x)
    yield 1 - sigmoid(x), sigmoid(-x)


@relation
def softplus_of(x: Any, y: Any) -> Clauses:
    """log(1 + exp(x)) = softplus(x), log(sigmoid(x)) = -softplus(-x), log(1 - exp(x)) = log1mexp(x)

    Soundness: real.
    """
    yield log1p(exp(x)), softplus(x)
    yield log(1 + exp(x)), softplus(x)
    yield log(sigmoid(x)), -softplus(-x)
    yield log1p(-sigmoid(x)), -softplus(x)
    yield log1p(-exp(x)), log1mexp(x)
    yield log(-expm1(x)), log1mexp(x)
    yield log(exp(x) + exp(y)), logaddexp(x, y)


@relation
def exp_of_log1p(x: Any) -> Clauses:
    """exp(log1p(x)) = 1 + x, which is what becomes of exp(log(1 + x))

    Soundness: unsafe: x < -1, where log1p(x) is NaN.
    """
    yield exp(log1p(x)), 1 + x


@relation
def log_sum_exp(x: Any, a: Any, n: Any, o: Any) -> Clauses:
    """log(sum(exp(x))) = logsumexp(x), which shifts by the maximum, also where the dimensions are kept

    Soundness: real.
    """
    kept = an(DimShuffle, input_ndim=n, new_order=o)
    yield log(an(Sum, axis=a)(exp(x))), an(LogSumExp, axis=a)(x)
    yield log(kept(an(Sum, axis=a)(exp(x)))), kept(an(LogSumExp, axis=a)(x))


def softmax_axis(axes: tuple[int, ...] | None, ndim: int, order: tuple[Any, ...]) -> tuple[int | None] | None:
    """In a tuple, the axis of the softmax whose sum over `axes` was spread again by a DimShuffle of `order`; None where it was
    not spread over those axes."""
    if axes is None:
        return (None,) if order and set(order) == {"x"} else None
    if len(axes) != 1:
        return None
    (axis,) = axes
    spread = tuple("x" if d == axis else d - (d > axis) for d in range(ndim + 1))
    return (axis,) if spread == order else None


@relation
def softmax_form(x: Any, a: Any, b: Any, n: Any, o: Any) -> Clauses:
    """exp(x) / sum(exp(x), keepdims) = softmax(x)

    Soundness: real.
    """
    total = an(DimShuffle, input_ndim=n, new_order=o)(an(Sum, axis=a)(exp(x)))
    yield exp(x) / total, an(Softmax, axis=b)(x), compute((b,), softmax_axis, a, n, o)


@relation
def log_softmax_form(x: Any, a: Any, b: Any, n: Any, o: Any) -> Clauses:
    """log(softmax(x)) = x - logsumexp(x, keepdims) = log_softmax(x)

    Soundness: real.
    """
    total = an(DimShuffle, input_ndim=n, new_order=o)(an(LogSumExp, axis=a)(x))
    yield log(an(Softmax, axis=a)(x)), an(LogSoftmax, axis=a)(x)
    yield x - total, an(LogSoftmax, axis=b)(x), compute((b,), softmax_axis, a, n, o)
