"""What all commands share at the terminal.

`output` prints tables, text and JSON; `progress` shows how far the work is. `failure` turns errors into
a sentence and one of the `exit_codes`; `usage` does that for wrong arguments, `interrupts` for Ctrl-C.
`help` lays out the help pages, with the `examples`; `completion` offers values to the shell;
`browser` opens a page that was written.
"""
