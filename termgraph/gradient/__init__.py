"""Derivatives as graphs, in reverse mode (`grad`, `pullback`) and forward mode (`pushforward`)."""

from termgraph.gradient.bridge import pullback_of, pushforward_of
from termgraph.gradient.grad import grad
from termgraph.gradient.modes import Lop, Rop, hessian, hessian_vector_product, jacobian, pullback, pushforward
from termgraph.gradient.modify import consider_constant, disconnected_grad, grad_clip, grad_scale, zero_grad
from termgraph.gradient.verify import verify_grad
from termgraph.graph.null import DisconnectedType, NullType, grad_not_implemented, grad_undefined

__all__ = [
    "DisconnectedType", "Lop", "NullType", "Rop", "consider_constant", "disconnected_grad", "grad", "grad_clip",
    "grad_not_implemented", "grad_scale", "grad_undefined", "hessian", "hessian_vector_product", "jacobian", "pullback",
    "pullback_of", "pushforward", "pushforward_of", "verify_grad", "zero_grad",
]
