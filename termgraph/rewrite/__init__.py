"""The engine: a relation is staged once, compiled, and driven to equilibrium.

relation -> clauses -> staged skeletons -> generated matchers -> index by head -> driver -> report
"""

from termgraph.rewrite.driver import rewrite_graph
from termgraph.rewrite.equilibrium import equilibrate
from termgraph.rewrite.fact_table import facts
from termgraph.rewrite.kanren_relation import KanrenRelation
from termgraph.rewrite.matcher import Matchers
from termgraph.rewrite.normalize import normalize
from termgraph.rewrite.phases import declare_phase, phase_order
from termgraph.rewrite.relation import Rule, relation
from termgraph.rewrite.report import Report, RuleStats, Step
from termgraph.rewrite.ruleset import RuleSet
from termgraph.rewrite.skeleton import Skeleton

__all__ = ["KanrenRelation", "Matchers", "Report", "Rule", "RuleSet", "RuleStats", "Skeleton", "Step", "declare_phase",
           "equilibrate", "facts", "normalize", "phase_order", "relation", "rewrite_graph"]
