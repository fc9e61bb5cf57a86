"""`beforehand doctor`: what this machine has, what it lacks, what that costs, and what helps.

`diagnosis` is one line of the result; `installation` looks at packages and programs, `system` at the
network, limits and clocks, by really trying; `command` prints what they find.
"""
