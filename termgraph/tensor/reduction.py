"""Reductions over axes, and argmax."""

__all__: list[str] = []
