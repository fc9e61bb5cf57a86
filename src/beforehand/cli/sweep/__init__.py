"""`beforehand sweep`, in the order of a call.

`options` become a `grid`; `command` runs it, with the `command_line` of each run for the notes; `view`
prints the results.
"""
