"""Building blocks that several protocols share.

`structures.py` (sliding array and maps), `windows.py` (the two ends of an ordered stream),
`numbering.py` (frames that carry a number) and `broadcast.py` (cores that only broadcast).
"""
