"""Basic slicing, advanced indexing, and their assignments."""

__all__: list[str] = []
