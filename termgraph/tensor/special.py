"""Softmax and its kin, each stable as one operation."""

__all__: list[str] = []
