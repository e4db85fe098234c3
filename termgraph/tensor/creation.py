"""Alloc, eye, arange and their like: tensors made from lengths and numbers."""

__all__: list[str] = []
