"""diagram."""
