"""The book of rules: relations only, by theme. `ALL` holds every rule shipped, in the order in which they are tried."""

from termgraph.rewrite.ruleset import RuleSet
from termgraph.rules import facts as _facts  # registers what is known of the values of terms
from termgraph.rules.algebra import factor, gather_constants, idempotent, magnitudes, powers, quotients
from termgraph.rules.collect import cancel_in_product, cancel_in_sum, gather_terms
from termgraph.rules.constant import fold
from termgraph.rules.identity import (
    absorbing,
    add_zero,
    cancel_factor,
    cancel_self,
    cancel_term,
    double_negation,
    inverse,
    inverse_on_domain,
    negated_terms,
    neutral,
    subtract_from_zero,
)
from termgraph.rules.inplace import reuse_input
from termgraph.rules.logexp import (
    exp_of_log1p,
    log_of_power,
    log_softmax_form,
    log_sum_exp,
    logistic,
    small_arguments,
    softmax_form,
    softplus_of,
)
from termgraph.rules.merge import merge
from termgraph.rules.sparse import add_product

ALL = RuleSet([
    merge, fold,
    neutral, add_zero, absorbing, subtract_from_zero, double_negation, cancel_factor, cancel_term, cancel_self,
    softplus_of, logistic, softmax_form, log_softmax_form, log_sum_exp, small_arguments, log_of_power,
    exp_of_log1p, inverse, inverse_on_domain, negated_terms, quotients, powers, magnitudes, idempotent,
    factor, gather_constants, cancel_in_product, cancel_in_sum, gather_terms,
    add_product,
    reuse_input,
])
