"""overlays."""
