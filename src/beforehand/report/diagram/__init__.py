"""Space-time diagrams: what happened between processes, drawn."""
