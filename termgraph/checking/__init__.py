"""Checks: of rules by their own definition, on terms generated from them."""

from termgraph.checking.generate import Generator
from termgraph.checking.rules import Agreement, Disagreement, ValueCheck, agreement, check_values

__all__ = ["Agreement", "Disagreement", "Generator", "ValueCheck", "agreement", "check_values"]
