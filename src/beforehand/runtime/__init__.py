"""asyncio lives here: `Node`, and the parts it is made of; docs/security.md tells who is trusted."""
