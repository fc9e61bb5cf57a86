"""From a folder of the pipeline to the contents of a report.

- `everything.py` is the whole; `finding.py` says what a folder holds.
- `studies.py`, `sweeps.py`, `audits.py` and `clusters.py` each read one kind of part.
- `files.py` reads notes and tables. What it cannot read is a `Gap`, which `Register` keeps, so that a
  part that is missing or damaged becomes a sentence in the report, and the others are shown.
"""
