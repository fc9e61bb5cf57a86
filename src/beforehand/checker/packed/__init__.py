"""packed."""
