"""`beforehand demo`: the `folder` of its results, its `steps`, and their `summary`."""
