"""`beforehand node`: `stdin_lines` go to the `console` of a node, `renderers` show what it does."""
