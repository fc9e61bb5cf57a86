"""Building blocks that several protocols share.

`structures.py` (sliding array and map), `windows.py` (the two ends of an ordered stream) and
`numbering.py` (frames that carry a number).
"""
