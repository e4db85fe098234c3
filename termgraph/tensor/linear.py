"""Matrix products."""

__all__: list[str] = []
