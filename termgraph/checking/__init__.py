"""Checks: of rules by their own definition, on terms generated from them, and of rules against each other."""

from termgraph.checking.check_rules import check_rules
from termgraph.checking.finding import Finding, RuleCheck
from termgraph.checking.generate import Generator
from termgraph.checking.rules import Agreement, Disagreement, ValueCheck, agreement, check_values

__all__ = ["Agreement", "Disagreement", "Finding", "Generator", "RuleCheck", "ValueCheck", "agreement", "check_rules",
           "check_values"]
