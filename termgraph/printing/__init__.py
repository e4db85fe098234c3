"""Graphs for people to read: as a tree (`dprint`) and as one line of mathematics (`pprint`)."""

from termgraph.printing.dprint import debugprint, dprint
from termgraph.printing.explain import Explanation, explain
from termgraph.printing.pprint import pp, pprint
from termgraph.printing.why_not import WhyNot, why_not

__all__ = ["Explanation", "WhyNot", "debugprint", "dprint", "explain", "pp", "pprint", "why_not"]
