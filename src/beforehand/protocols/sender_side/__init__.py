"""sender_side."""
