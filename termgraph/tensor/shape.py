"""The shape of a tensor as a value, and reshaping."""

__all__: list[str] = []
