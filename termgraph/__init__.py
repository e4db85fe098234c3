"""termgraph: a symbolic tensor-graph library whose optimiser is a book of logic rules.

>>> import termgraph as tg, termgraph.tensor as tt
>>> x, y = tt.vectors("x", "y")
>>> f = tg.function([x, y], x * y / y)
>>> f([1.0, 2.0], [3.0, 4.0])
array([1., 2.])
"""

from termgraph import gradient, graph, rules, sparse, tensor
from termgraph.checking import check_rules
from termgraph.compile import In, Mode, Out, Phase, function, get_mode, ifelse, shared
from termgraph.config import config
from termgraph.gradient import *  # noqa: F403
from termgraph.graph import clone_replace, equal_computations, graph_replace
from termgraph.printing import debugprint, dprint, explain, pp, pprint, why_not
from termgraph.rewrite import KanrenRelation, Report, Rule, RuleSet, relation, rewrite_graph
from termgraph.terms import etuplize, from_etuple, var, vars  # noqa: A004 - the name kanren uses

__version__ = "0.1.0"
