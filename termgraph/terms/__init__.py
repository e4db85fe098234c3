"""Terms: Variables as terms of cons, unification and etuples, and the pattern terms of rules."""

from termgraph.terms import dispatch as _dispatch  # registers the dispatches; must come before anything is unified
from termgraph.terms.build import build
from termgraph.terms.dispatch import equals_literal, same_term
from termgraph.terms.etuple import etuplize, from_etuple
from termgraph.terms.operators import Operators, PatternOperators, bind_operators
from termgraph.terms.term import LogicVar, OpTerm, Term, var, vars  # noqa: A004 - the name kanren uses

del _dispatch

__all__ = ["LogicVar", "OpTerm", "Operators", "PatternOperators", "Term", "bind_operators", "build", "equals_literal",
           "etuplize", "from_etuple", "same_term", "var", "vars"]
