"""`beforehand node` (`command`): `stdin_lines` go to the `console` of a node, which `renderers` show."""
