"""`beforehand check`, in the order of a call.

`options` are parsed into a `request` (with `parsing` for its values); `warning` estimates the search;
`command` runs it; `counterexample` saves a violation as a trace; `view` prints the verdict.
"""
