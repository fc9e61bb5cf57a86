"""From a folder of the pipeline to the contents of a report.

- `discover.py` finds the outputs in a folder, `read.py` has each of them read.
- `studies.py`, `sweeps.py`, `audits.py` and `clusters.py` each read one kind of part.
- `files.py` reads notes and tables. What it cannot read is a `Gap`, which `Register` keeps, so that a
  part that is missing or damaged becomes a sentence in the report, and the others are shown.
"""
