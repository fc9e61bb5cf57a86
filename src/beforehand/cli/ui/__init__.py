"""What all commands share at the terminal.

`output` prints tables, text and JSON; `progress` shows how far the work is; `failure` reports errors;
`help` lays out the help pages, with the `examples`; `completion` offers values to the shell;
`browser` opens a page that was written.
"""
