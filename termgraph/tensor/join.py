"""Join, stack and split: tensors put together and taken apart along a dimension."""

__all__: list[str] = []
