"""`beforehand diagram` (`command`): reads `events`, marks wrong deliveries (`judge`), and draws.

`request` does it, for one run or two; `heading` says which protocol it was and whether all was well.
"""
