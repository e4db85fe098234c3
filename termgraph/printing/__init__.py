"""Graphs for people to read: as a tree (`dprint`) and as one line of mathematics (`pprint`)."""

from termgraph.printing.dprint import debugprint, dprint
from termgraph.printing.pprint import pp, pprint

__all__ = ["debugprint", "dprint", "pp", "pprint"]
